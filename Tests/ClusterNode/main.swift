import EventLog
import Foundation
import PostgresStorage

// A node without a ledger, for tools/cluster: follows, takes the lease when it stands still, appends
// records that name themselves, and says on its output what it was told. It may be killed at any time.
//
// cluster-node create POSTGRES SCHEMA [asynchronous]
// cluster-node run POSTGRES SCHEMA NAME [early]
//
// Says, a line each: `led TERM`, `sent ID`, `acked ID SEQUENCE`, `unknown ID`, `refused ID`, `lost`,
// `read SIZE ROOT` (confirmed), `away`, `diverged`.

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 3, let schema = JournalSchema(words[2]) else {
    say("usage: cluster-node create|run POSTGRES SCHEMA …")
    exit(64)
}
if words[0] == "create" {
    try JournalMaker(words[1], schema: schema).finish(
        manifest: "{}",
        end: .empty,
        keys: [],
        generation: 0,
        allowsAsynchronous: words.contains("asynchronous")
    )
} else {
    var limits = PostgresJournal.Limits()
    limits.changeMilliseconds = 3000
    limits.readMilliseconds = 3000
    try Node(
        PostgresJournal(words[1], schema: schema, limits: limits),
        name: words[3],
        acknowledgesEarly: words.contains("early")
    ).run()
}

/// Tells whoever started it, whole or not at all.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Milliseconds of a clock that nobody sets, and that goes on while the machine sleeps.
func onClock() -> Int64 {
    let time = Node.began.duration(to: .now).components
    return time.seconds * 1000 + time.attoseconds / 1_000_000_000_000_000
}

struct Node {
    let journal: PostgresJournal
    let name: String
    /// The control: it says so before it knows.
    let acknowledgesEarly: Bool
    let own = MemoryLog()
    let follower: LogFollower
    static let began = ContinuousClock.now
    /// Shorter than the product's, so that a run is.
    private static let lease: Int64 = 1500

    init(_ journal: PostgresJournal, name: String, acknowledgesEarly: Bool) {
        self.journal = journal
        self.name = name
        self.acknowledgesEarly = acknowledgesEarly
        follower = LogFollower(journal, into: own, vaultPosition: 0)
    }

    func run() throws {
        var watch = LeaseWatch(duration: Self.lease)
        var told = UInt64(0)
        while true {
            do {
                let readAt = onClock()
                let row = try follower.catchUp()
                let confirmed = follower.confirmed
                if confirmed.size > told {
                    say("read \(confirmed.size) \(confirmed.root.bytes.hexadecimal)")
                    told = confirmed.size
                }
                if watch.note(row.lease, readAt: readAt) { try lead(after: row.lease) }
                if let announced = try journal.awaitChange(milliseconds: 20) {
                    follower.note(announced)
                }
            } catch is JournalFault {
                say("away")
                usleep(50_000)
            } catch {
                // A node's copy is disposable: whoever started it starts it anew, and it fills again.
                say("diverged")
                exit(3)
            }
        }
    }

    private func lead(after lease: JournalLease) throws {
        var randomness = RandomSource.system
        let outcome = journal.take(
            over: lease,
            as: LeaderID(using: &randomness),
            node: name,
            address: ""
        )
        guard case .committed(let end, let leadership) = outcome else { return }
        follower.note(confirmed: end)
        _ = try follower.catchUp()
        let leader = try LeaderLog(
            journal,
            over: own,
            as: leadership,
            from: end,
            randomness: .system
        )
        say("led \(leadership.term)")
        var number = 0
        while leader.isLeading {
            number += 1
            append("\(name)-\(leadership.term)-\(number)", leader)
            follower.note(confirmed: leader.confirmed)
            follower.note(vaultPosition: leader.confirmed.vaultPosition)
            // Who follows looks by itself soon, whether it is woken or not.
            try? journal.announce(leader.announcement)
            usleep(2000)
        }
        say("lost")
    }

    private func append(_ id: String, _ leader: LeaderLog) {
        let first = own.end().size
        say("sent \(id)")
        if acknowledgesEarly {
            say("acked \(id) \(first)")
            usleep(20_000)
        }
        do {
            do {
                _ = try leader.append(batch(id, after: own.end()))
            } catch let fault as LogStorageFault where fault.code == .outcomeUnknown {
                say("unknown \(id)")
                while leader.isLeading, (try? leader.reopen()) == nil { usleep(50_000) }
            }
        } catch {
            usleep(20_000)
        }
        if own.end().size > first {
            if !acknowledgesEarly { say("acked \(id) \(first)") }
        } else {
            say("refused \(id)")
        }
    }

    /// One to three records that begin with the same id.
    private func batch(_ id: String, after end: LogEnd) -> LogBatch {
        var batch = LogBatch(after: end)
        for place in 0..<Int.random(in: 1...3) {
            let bytes = Array("\(id) \(place)".utf8)
            batch.records.append(bytes)
            batch.leaves.append(TreeHash.leaf(bytes.span))
        }
        batch.lastRecordedAt = max(0, end.lastRecordedAt) + 1
        batch.highestCounter = end.highestCounter + 1
        batch.newStreams = [
            NewStream(
                stream: StreamNumber.number(counter: batch.highestCounter, shard: 1),
                bytes: Array(id.utf8)
            )
        ]
        return batch
    }
}

extension [UInt8] {
    var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
