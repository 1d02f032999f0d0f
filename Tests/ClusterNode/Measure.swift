import EventLog
import Foundation
import PostgresStorage
import Synchronization

/// Appends records of a file as a leader, and says how long it took: one line of JSON, latencies in
/// microseconds.
///
/// callers N   N callers that each wait; what comes meanwhile is one commit
/// groups N    N records a commit, one after the other
/// lag N       a commit each N milliseconds, and how much later a second node has it
struct Measure {
    private let place: String
    private let schema: JournalSchema
    private let records: [[UInt8]]
    private let own = MemoryLog()
    private let leader: LeaderLog
    private let journal: PostgresJournal

    /// `records`: a file of them, each behind its length (u32, little-endian).
    init(_ place: String, _ schema: JournalSchema, records path: String) throws {
        self.place = place
        self.schema = schema
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        var (records, offset) = ([[UInt8]](), 0)
        while offset + 4 <= bytes.count {
            let count = (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
            records.append(Array(bytes[offset + 4..<offset + 4 + count]))
            offset += 4 + count
        }
        self.records = records
        journal = PostgresJournal(place, schema: schema)
        var randomness = RandomSource.system
        let outcome = journal.take(
            over: try journal.row().lease,
            as: LeaderID(using: &randomness),
            node: "m",
            address: ""
        )
        guard case .committed(let end, let leadership) = outcome else {
            fatalError("\(outcome)")
        }
        leader = try LeaderLog(
            journal,
            over: own,
            as: leadership,
            from: end,
            randomness: .system
        )
    }

    func run(_ what: String, _ number: Int) throws {
        switch what {
        case "callers": try callers(number)
        case "groups": try groups(number)
        default: try lag(UInt32(number))
        }
    }

    private func append(_ records: some Sequence<[UInt8]>) throws {
        var batch = LogBatch(after: own.end())
        for record in records {
            batch.records.append(record)
            batch.leaves.append(TreeHash.leaf(record.span))
        }
        batch.lastRecordedAt = max(0, batch.lastRecordedAt) + 1
        _ = try leader.append(batch)
    }

    private func groups(_ size: Int) throws {
        let began = ContinuousClock.now
        var latencies: [Int64] = []
        for first in stride(from: 0, to: records.count, by: size) {
            let start = ContinuousClock.now
            try append(records[first..<min(first + size, records.count)])
            latencies.append(start.microseconds)
        }
        report(began.microseconds, latencies)
    }

    private func callers(_ count: Int) throws {
        let group = CallerGroup()
        let next = Atomic(0)
        let all = Mutex<[Int64]>([])
        let records = records
        let began = ContinuousClock.now
        for _ in 0..<count {
            Thread {
                var latencies: [Int64] = []
                while true {
                    let place = next.add(1, ordering: .relaxed).oldValue
                    guard place < records.count else { break }
                    let start = ContinuousClock.now
                    let call = Call("", records: [records[place]])
                    group.hand(in: call)
                    _ = call.wait()
                    latencies.append(start.microseconds)
                }
                all.withLock { $0 += latencies }
            }.start()
        }
        while own.end().size < records.count {
            let calls = group.next()
            guard !calls.isEmpty else { continue }
            try append(calls.lazy.map { $0.records[0] })
            calls.forEach { $0.end(.acknowledged(0)) }
        }
        let took = began.microseconds
        while all.withLock(\.count) < records.count { usleep(100) }
        report(took, all.withLock { $0 })
    }

    /// Appends beside a follower of the same process, which has connections of its own.
    private func lag(_ milliseconds: UInt32) throws {
        let arrivals = Mutex<[UInt64: ContinuousClock.Instant]>([:])
        let (place, schema) = (place, schema)
        Thread {
            let journal = PostgresJournal(place, schema: schema)
            let copy = MemoryLog()
            let follower = LogFollower(journal, into: copy, vaultPosition: 0)
            while true {
                // Whoever follows looks again soon.
                if let told = try? journal.awaitChange(milliseconds: 20) { follower.note(told) }
                let before = copy.end().size
                _ = try? follower.catchUp()
                let (now, size) = (ContinuousClock.now, copy.end().size)
                arrivals.withLock { arrived in
                    for sequence in before..<max(before, size) { arrived[sequence] = now }
                }
            }
        }.start()
        usleep(200_000)
        let began = ContinuousClock.now
        var ends: [ContinuousClock.Instant] = []
        for record in records {
            try append([record])
            ends.append(.now)
            try journal.announce(leader.announcement)
            usleep(milliseconds * 1000)
        }
        let took = began.microseconds
        while arrivals.withLock(\.count) < records.count { usleep(1000) }
        let had = arrivals.withLock { $0 }
        report(
            took,
            ends.enumerated().map { place, end in
                max(0, end.duration(to: had[UInt64(place)] ?? .now).microseconds)
            }
        )
    }

    private func report(_ microseconds: Int64, _ latencies: [Int64]) {
        let ordered = latencies.sorted()
        let (middle, last) = (ordered[ordered.count / 2], ordered[ordered.count * 99 / 100])
        let seconds = Double(microseconds) / 1e6
        say(#"{"count":\#(records.count),"seconds":\#(seconds),"p50":\#(middle),"p99":\#(last)}"#)
    }
}

extension Duration {
    fileprivate var microseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}

extension ContinuousClock.Instant {
    /// Since then.
    fileprivate var microseconds: Int64 { duration(to: .now).microseconds }
}
