import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage
import LedgerAPI
import Stores
import Testing

/// What is noted of an erasure before the log says it (C6).
struct `The note of an erasure` {
    private static func request(_ id: String) -> Request {
        Request(id: id, source: Source.support, environment: .production)
    }

    private static func stream(
        of customer: String,
        in scratch: ScratchLedger
    ) throws -> UInt64? {
        try scratch.directory.vault.stream(
            of: StreamName(
                environment: StoreEnvironment.production.rawValue,
                subject: "customer/" + customer
            )
        )
    }

    // Of a machine that was deposed it comes late, and may name more than was recorded under its id (E1).
    @Test func `is believed as far as the log goes`() async throws {
        try await ScratchLedger.with { scratch in
            let appender = try scratch.ledger.appender
            _ = try appender.link("phone", to: "ann", Self.request("l1"))
            _ = try appender.link("tablet", to: "bob", Self.request("l2"))
            let other = try #require(try Self.stream(of: "bob", in: scratch))
            let outcome = try scratch.ledger.eraser.erase(
                ["ann"],
                Self.request("e"),
                reading: StoredEvidenceNames()
            )
            guard case .erased(let receipt) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            let vault = scratch.directory.vault
            let signal = vault.digestSecret.signal(
                environment: StoreEnvironment.production.rawValue,
                source: Source.support,
                id: "e"
            )
            // The control: what the log says is finished once more, and takes nobody else.
            for streams in [receipt.streams, receipt.streams + [other]] {
                try scratch.directory.vault.prepare(
                    VaultErasure(streams: streams, signal: signal)
                )
                try scratch.reopen()
                #expect(scratch.directory.vault.preparedErasure == nil)
                #expect(try !scratch.directory.vault.isErased(other))
                #expect(try Self.stream(of: "bob", in: scratch) == other)
            }
            #expect(try scratch.ledger.auditor.audit().isOK)
        }
    }
}
