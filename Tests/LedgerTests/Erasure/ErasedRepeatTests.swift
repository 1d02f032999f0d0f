import EntitlementLedger
import Entitlements
import LedgerAPI
import Stores
import Testing

/// What is told again once somebody whom it names was erased (C6).
struct `A repeat` {
    // E1: what names somebody and is about somebody else is the same as before.
    @Test(arguments: [false, true]) func `is the same where it names somebody who is gone`(
        _ isErased: Bool
    ) async throws {
        try await ScratchLedger.with { scratch in
            func link(_ id: String, _ customer: String, _ alias: String) -> String {
                Sample.line(
                    id,
                    "customer.linked",
                    "customer/" + customer,
                    data: #"{"alias":"\#(alias)"}"#
                )
            }
            func record(_ lines: String...) throws -> [Receipt] {
                try scratch.ledger.appender.record(Sample.submissions(lines))
            }
            // The second one takes the name, and it goes with whose it is by then.
            _ = try record(link("l1", "ann", "anonymous"), link("l2", "bob", "anonymous"))
            if isErased {
                _ = try scratch.ledger.eraser.erase(
                    ["bob"],
                    Request(id: "erase", source: Source.support, environment: .production),
                    reading: StoredEvidenceNames()
                )
            }
            let repeated = try record(link("l1", "ann", "anonymous"))
            guard case .duplicate = repeated[0] else {
                Issue.record("\(repeated)")
                return
            }
            // The control: other content is a conflict as long as anybody can tell.
            let other = try record(link("l1", "ann", "nameless"))
            var isRefused = false
            if case .refused = other[0] { isRefused = true }
            #expect(isRefused != isErased, "\(other)")
        }
    }
}
