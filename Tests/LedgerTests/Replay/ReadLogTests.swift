import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import Testing

/// Reading needs no more than a log that can be read, and no directory.
struct `A ledger over a log that is only read` {
    private static func reading(_ viewed: ViewedLedger) throws -> Ledger {
        try Ledger(
            identity: LedgerIdentity(id: Array(repeating: 1, count: 16), origin: "x/log"),
            reading: viewed.log,
            vault: viewed.vault,
            options: Ledger.Options(
                viewsPath: nil,
                isReadOnly: true,
                clock: { Sample.day(40) }
            )
        )
    }

    private static func filled(_ body: (ViewedLedger) throws -> Void) async throws {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            try viewed.fill(customers: 0..<20, publishing: true)
            try body(viewed)
        }
    }

    @Test func `answers as the one that wrote it`() async throws {
        try await Self.filled { viewed in
            let other = try viewed.open(isReadOnly: true)
            let reader = try Self.reading(viewed)
            let answers = try Answers(reader, customers: 0..<21)
            #expect(try answers == Answers(other, customers: 0..<21))
            #expect(try reader.auditor.audit().isOK)
            try reader.close()
            try other.close()
        }
    }

    @Test func `records and signs nothing`() async throws {
        try await Self.filled { viewed in
            let reader = try Self.reading(viewed)
            let size = try reader.questions.size()
            let lines = Sample.ownedPurchase("late", "app_store/late")
            let record = #expect(throws: LedgerFault.self) {
                try reader.appender.record(Sample.submissions(lines))
            }
            #expect(record?.code == .readOnly)
            let signed = #expect(throws: LedgerFault.self) { try reader.prover.checkpoint() }
            #expect(signed?.code == .readOnly)
            #expect(try reader.questions.size() == size)
            #expect(viewed.log.checkpoints().isEmpty)
            // The control: what may be written is.
            let writer = try viewed.open()
            _ = try writer.appender.record(Sample.submissions(lines))
            _ = try writer.prover.checkpoint()
            #expect(viewed.log.checkpoints().count == 1)
            try writer.close()
        }
    }

    @Test func `and a writer without a directory has its views in memory`() throws {
        let ledger = try Ledger(
            identity: LedgerIdentity(id: Array(repeating: 1, count: 16), origin: "x/log"),
            log: MemoryLog(),
            vault: MemoryVault(randomness: .system),
            options: Ledger.Options(
                viewsPath: nil,
                isReadOnly: false,
                clock: { Sample.day(40) }
            )
        )
        _ = try ledger.appender.record(
            Sample.submissions(Sample.ownedPurchase("u0", "app_store/0"))
        )
        let before = try Answers(ledger, customers: 0..<1)
        _ = try ledger.auditor.rebuild { _, _ in }
        #expect(try Answers(ledger, customers: 0..<1) == before)
        #expect(before.texts.contains { $0.contains("app_store/0") })
        try ledger.close()
    }
}
