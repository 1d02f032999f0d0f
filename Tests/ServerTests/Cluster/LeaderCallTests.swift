import HTTPTypes
import LedgerAPI
import NIOCore
import Testing

@testable import LedgerServer

/// Several machines: what is done where the cluster is led.
struct `Calls of a cluster` {
    /// Calls that change nothing of a ledger though they are not asked by GET, and those that change what is one
    /// machine's alone.
    private static let local: Set<String> = [
        "askWhatIf", "compareCatalogs", "compareCustomers", "evaluateFlag", "evaluateFlags",
        "makeConsoleLink", "makePageLinks", "rebuildViews", "replayLedger", "tellConsumption",
    ]

    @Test func `are passed on where they change the ledger, and nowhere else`() {
        let changing = RouteTable.routes.filter { $0.method != .get }
        let stays = Set(changing.filter { !$0.isChange }.map(\.operation))
        #expect(stays == Self.local)
        // Whom a ledger tells stands at one machine.
        let asked = RouteTable.routes.filter { $0.method == .get && $0.isChange }
        #expect(
            asked.map(\.operation) == ["listWebhooks", "readWebhook", "listWebhookDeliveries"]
        )
    }

    // They ask stores about everybody, or go over all that a log has.
    @Test func `are waited for where they may take hours`() {
        let long = RouteTable.routes.filter { LeaderCall.timeout(of: $0) == .hours(24) }
        #expect(
            Set(long.map(\.operation)) == [
                "eraseCustomer", "eraseCustomers", "importLines", "loadProducts", "syncEverybody",
            ]
        )
        // What this machine does by itself is passed on to nobody.
        #expect(long.allSatisfy { $0.isChange })
    }

    /// Forms of pages that change nothing of a ledger.
    private static let localForms: Set<String> = [
        "auditFromPage", "beginSession", "createKeyFromPage", "leaveAccount", "revokeKeyFromPage",
        "signIn", "signOut", "tryCatalogFromPage",
    ]

    @Test func `are forms, too, that change the ledger`() {
        let forms = PageTable.routes.filter { $0.method == .post }
        #expect(Set(forms.filter { !$0.isChange }.map(\.operation)) == Self.localForms)
        #expect(forms.contains { $0.operation == "sendGrantForm" && $0.isChange })
        // Pages are made of the machine's own files; who looked is noted behind them.
        #expect(PageTable.routes.filter { $0.method == .get && $0.isChange }.isEmpty)
    }
}
