import Dispatch
import EntitlementLedger
import EventLog
import Glibc
import LMDBStorage
import StoreSimulator
import Synchronization

/// Proofs out of a log, and what its archive costs (row Z4).
struct ProofBench {
    let plan: BenchPlan

    private static let groupSize = 1000
    /// How long an archiver waits before it looks for more.
    fileprivate static let pauseMicroseconds: UInt32 = 100_000

    // MARK: Proofs

    /// Proofs of random events, and from random older sizes, by a checkpoint of the whole log.
    func proofs() throws -> [BenchRow] {
        let bench = try BenchLedger(making: plan.fresh("ledger"))
        _ = try bench.record(
            all: BenchEvents(about: plan.events, steps: 10),
            groupsOf: Self.groupSize
        )
        let size = try bench.ledger.questions.size()
        _ = try bench.ledger.prover.checkpoint()
        let operations = plan.isQuick ? 500 : 5000
        let headings = [
            "proof-inclusion", "proof-inclusion-p99", "proof-consistency", "proof-consistency-p99",
        ].map { BenchHeading($0, unit: $0.hasSuffix("99") ? "µs p99" : "µs p50", against: nil) }
        let rows = try plan.rows(headings) { run in
            var random = SeededWords(seed: UInt64(run))
            var (inclusion, consistency) = (Samples(), Samples())
            var standing: [InclusionProofFile] = []
            var extending: [ConsistencyProofFile] = []
            standing.reserveCapacity(operations)
            extending.reserveCapacity(operations)
            for _ in 0..<operations {
                let place = UInt64.random(in: 0..<size, using: &random)
                inclusion.add(
                    try Stopwatch.nanoseconds {
                        standing.append(try bench.ledger.prover.proof(of: place))
                    }
                )
                consistency.add(
                    try Stopwatch.nanoseconds {
                        extending.append(try bench.ledger.prover.consistencyProof(from: place + 1))
                    }
                )
            }
            try Self.requireHold(standing, extending, of: bench)
            return [inclusion, consistency].flatMap { samples in
                [0.5, 0.99].map { BenchRun(value: samples.percentile($0) / 1000) }
            }
        }
        try bench.discard()
        return rows
    }

    /// Verifies proofs as whoever gets them does; throws where one does not hold.
    private static func requireHold(
        _ standing: [InclusionProofFile],
        _ extending: [ConsistencyProofFile],
        of bench: BenchLedger
    ) throws {
        let keys = try [bench.ledger.prover.verifierKey]
        for proof in standing {
            let record = proof.record ?? []
            _ = try proof.verified(leafHash: TreeHash.leaf(record.span), by: keys)
        }
        for file in extending {
            let checkpoint = try file.checkpoint.checkpoint(by: keys)
            let proof = ConsistencyProof(
                from: file.oldSize,
                to: checkpoint.size,
                hashes: file.hashes
            )
            let oldRoot = try bench.root(size: file.oldSize)
            try requireRight(
                proof.holds(oldRoot: oldRoot, newRoot: checkpoint.root),
                "the log extends what it was"
            )
        }
    }

    // MARK: The archive

    /// Groups of 1 000 while an archive follows behind, each run beside one without; and how fast a
    /// log that stands is archived.
    func archive() throws -> [BenchRow] {
        let events = BenchEvents(about: plan.events, steps: 10)
        let headings = [
            BenchHeading(
                "archive-append",
                unit: "events/s",
                against: "the same groups without an archive"
            ),
            BenchHeading("archive", unit: "events/s", against: nil),
        ]
        return try plan.rows(headings) { _ in
            let alone = try appendRate(events, behind: false)
            let followed = try appendRate(events, behind: true)
            return [
                BenchRun(value: followed.rate, reference: alone.rate),
                BenchRun(value: alone.archiveRate),
            ]
        }
    }

    /// Events a second; and, of the whole log at once, archived events a second.
    private func appendRate(
        _ events: BenchEvents,
        behind: Bool
    ) throws -> (rate: Double, archiveRate: Double) {
        let bench = try BenchLedger(making: plan.fresh("ledger"))
        let place = plan.fresh("archive")
        let follower = behind ? Follower(bench, place) : nil
        let seconds = try bench.record(all: events, groupsOf: Self.groupSize)
            .reduce(0) { $0 + $1.seconds }
        try follower?.stop()
        let rest = try Stopwatch.seconds { try Self.archive(bench, place) }
        try bench.discard()
        return (Double(events.count) / seconds, Double(events.count) / rest)
    }

    fileprivate static func archive(_ bench: BenchLedger, _ place: String) throws {
        _ = try bench.ledger.prover.checkpoint()
        let result = try bench.ledger.archiver.archive(
            to: ArchiveDirectory(at: place, forWriting: true),
            manifest: LedgerDirectory.manifestBytes(at: bench.path)
        )
        try requireRight(result.archived > 0, "the log is archived")
    }

    /// Archives what is new, time and again, as a server does.
    private final class Follower: Sendable {
        private let isStopped = Atomic(false)
        private let outcome = Mutex<Result<Void, any Error>>(.success(()))
        private let group = DispatchGroup()

        init(_ bench: BenchLedger, _ place: String) {
            DispatchQueue.global(qos: .utility).async(group: group) { [self] in
                while !isStopped.load(ordering: .relaxed) {
                    usleep(ProofBench.pauseMicroseconds)
                    let result = Result { try ProofBench.archive(bench, place) }
                    if case .failure = result { return outcome.withLock { $0 = result } }
                }
            }
        }

        func stop() throws {
            isStopped.store(true, ordering: .relaxed)
            group.wait()
            try outcome.withLock { try $0.get() }
        }
    }
}
