import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import ModelSupport
import Testing

/// A whole ledger over each storage.
struct `Conformance of a ledger over its storage` {
    private static let historyCount: UInt64 = 12
    private static let questionCount = 20

    // law 4, T4
    @Test func `the same submissions give the same answers over every storage`() async throws {
        let firstSeed = UInt64.random(in: 0 ... .max)
        for offset in 0..<Self.historyCount {
            let seed = firstSeed &+ offset
            let history = RandomHistory(seed: seed, questions: Self.questionCount)
            var transcripts: [[String]] = []
            for backend in StorageBackend.ofLedgers {
                transcripts.append(try await play(history, over: backend))
            }
            for (backend, lines) in zip(StorageBackend.ofLedgers, transcripts).dropFirst() {
                #expect(transcripts[0].count == lines.count, "seed \(seed), \(backend)")
                for (index, pair) in zip(transcripts[0], lines).enumerated() {
                    #expect(pair.0 == pair.1, "seed \(seed), \(backend), line \(index)")
                }
            }
        }
    }

    /// Receipts and answers, one a line: while it fills, after, and opened again.
    private func play(
        _ history: RandomHistory,
        over backend: StorageBackend
    ) async throws
        -> [String]
    {
        try await ScratchStorage.with(backend) { storage in
            // C6: `customer.erased` is not recorded so.
            let events = history.log.filter { $0.kind != .customerErased }
            let clock = TestClock(events.first?.recordedAt ?? Sample.newYear)
            var random = SplitMix64(seed: history.seed)
            var lines: [String] = []
            var ledger = try open(storage, clock)
            var next = 0
            while next < events.count {
                let batch = events[next...].prefix(random.pick([1, 1, 2, 10, 300]))
                next += batch.count
                clock.now = max(clock.now, batch.last?.recordedAt ?? clock.now)
                let receipts = try ledger.appender.record(batch.map { Submission(event: $0.event) })
                lines += receipts.map { "\($0)" }
                if random.chance(20) { lines += try answers(history, ledger, size: 0) }
            }
            let size = try ledger.questions.size()
            lines += try answers(history, ledger, size: size)
            #expect(try ledger.auditor.audit().faults.isEmpty, "seed \(history.seed), \(backend)")
            try ledger.close()
            try storage.reopen()
            ledger = try open(storage, clock)
            let again = try answers(history, ledger, size: size)
            #expect(lines.suffix(again.count) == again[...], "seed \(history.seed), \(backend)")
            try ledger.close()
            return lines
        }
    }

    private func answers(
        _ history: RandomHistory,
        _ ledger: Ledger,
        size: UInt64
    ) throws
        -> [String]
    {
        try history.questions.flatMap { question in
            let prefix = min(UInt64(question.prefix), size)
            return try [BitemporalPoint.Known.everything, .sequence(prefix)].map { known in
                try ledger.questions.show(
                    CustomerQuestion(
                        customer: question.customer,
                        environment: question.environment,
                        point: BitemporalPoint(at: question.at, knownAt: known)
                    )
                ).json.withoutToken.description
            }
        }
    }

    private func open(_ storage: ScratchStorage, _ clock: TestClock) throws -> Ledger {
        let views = storage.folder + "/views"
        try FileManager.default.createDirectory(atPath: views, withIntermediateDirectories: true)
        return try Ledger(
            identity: LedgerIdentity(
                id: (0..<16).map { UInt8($0) },
                origin: "ledger.test/log"
            ),
            log: storage.log,
            vault: storage.vault,
            options: Ledger.Options(
                viewsPath: views,
                bootID: "test",
                isReadOnly: false,
                clock: { clock.now }
            )
        )
    }
}

extension JSONValue {
    /// An answer without its token, which says of which log it is: what is sealed differs from ledger to ledger.
    fileprivate var withoutToken: JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { Name($0.name) != "token" })
    }
}
