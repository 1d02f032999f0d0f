import Encodings
import Entitlements
import LedgerAPI
import Testing

@testable import EntitlementLedger

/// What is left of a message that others wrote.
struct `Evidence that is masked` {
    // law 6; Stores, rule 6
    @Test func `shows its known members beside half a character`() {
        let body = Array(#"{"type":"TEST","app_user_id":"\ud800","\udc00":"ann"}"#.utf8)
        let shown = EvidenceMask(.names, impersonal: ["type"]).content(body)
        #expect(shown["type"]?.string == "TEST")
        #expect(shown["app_user_id"] == nil && !shown.description.contains("ann"))
        let whole = EvidenceMask(.signatures, impersonal: []).content(body)
        #expect(whole["type"]?.string == "TEST" && whole["app_user_id"] == .null)
        // The control: what is no JSON is not shown.
        #expect(EvidenceMask(.names, impersonal: ["type"]).content(body + [0x7D]) == .null)
    }
}
