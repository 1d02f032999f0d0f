import EntitlementLedger
import Entitlements
import Foundation
import LedgerOperations
import Testing

/// Healing changes nothing for good that nobody called sound (row Z5).
struct `Healing without an audit` {
    private struct Unaudited: Error {}

    @Test func `is undone, and says why there was none`() async throws {
        try await ScratchLedger.with { scratch in
            let lines = (0..<20).flatMap { Sample.ownedPurchase("u\($0)", "app_store/\($0)") }
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            try scratch.close()
            try `A salvage`.damage(scratch.path) { data in
                data.resetBytes(in: MetaPages.range(of: 1 - MetaPages.newest(data)))
            }
            let file = URL(filePath: scratch.path + "/log/data.mdb")
            let damaged = try Data(contentsOf: file)
            let options = ScratchLedger.options(scratch.clock)
            let healing = LedgerHealing(of: scratch.path, options: options) {
                // The control: a page was copied.
                #expect(try Data(contentsOf: file) != damaged)
                throw Unaudited()
            }
            #expect(throws: Unaudited.self) { _ = try healing.run() }
            #expect(try Data(contentsOf: file) == damaged)
        }
    }
}
