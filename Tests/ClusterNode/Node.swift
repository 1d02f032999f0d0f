import EventLog
import Foundation
import PostgresStorage
import Synchronization

/// How a node behaves.
struct NodeOptions: Sendable {
    /// A control: it says so before it knows.
    var acknowledgesEarly = false
    /// A control: it takes a connection that broke for a no.
    var guesses = false
    /// A control: it sends again what it did not hear of.
    var repeats = false
    /// How many wait for their own at a time.
    var callers = 4
    /// Bytes of one large commit in each term; 0: none.
    var large = 0
    /// Milliseconds; shorter than the product's, so that a run is.
    var lease: Int64 = 1500
    /// Milliseconds until a call is given up.
    var patience: Int64 = 3000

    /// `early`, `guessing`, `repeating`, and `callers=`, `large=`, `lease=`, `patience=` with a number.
    init(_ words: some Sequence<String>) {
        for word in words {
            let parts = word.split(separator: "=").map(String.init)
            let number = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
            switch parts[0] {
            case "early": acknowledgesEarly = true
            case "guessing": guesses = true
            case "repeating": repeats = true
            case "callers": callers = number
            case "large": large = number
            case "lease": lease = Int64(number)
            case "patience": patience = Int64(number)
            default: fatalError("no option \(word)")
            }
        }
    }

    var limits: PostgresJournal.Limits {
        var limits = PostgresJournal.Limits()
        limits.changeMilliseconds = patience
        limits.readMilliseconds = patience
        return limits
    }
}

/// Follows, leads, and has callers who wait for what they hand in.
struct Node {
    let journal: PostgresJournal
    let name: String
    let options: NodeOptions
    let own = MemoryLog()
    let follower: LogFollower
    static let began = ContinuousClock.now

    init(_ journal: PostgresJournal, _ name: String, _ options: NodeOptions) {
        self.journal = journal
        self.name = name
        self.options = options
        follower = LogFollower(journal, into: own, vaultPosition: 0)
    }

    /// Milliseconds of a clock that nobody sets, and that goes on while the machine sleeps.
    static func onClock() -> Int64 {
        let time = began.duration(to: .now).components
        return time.seconds * 1000 + time.attoseconds / 1_000_000_000_000_000
    }

    func run() throws {
        var watch = LeaseWatch(duration: options.lease)
        var told = UInt64(0)
        while true {
            do {
                let readAt = Self.onClock()
                let row = try follower.catchUp()
                let seenAt = Self.onClock()
                let confirmed = follower.confirmed
                if confirmed.size > told {
                    say("read \(confirmed.size) \(confirmed.root.bytes.hexadecimal)")
                    told = confirmed.size
                }
                if watch.note(row.lease, readAt: readAt, seenAt: seenAt) {
                    try lead(after: row.lease)
                }
                if let announced = try journal.awaitChange(milliseconds: 20) {
                    follower.note(announced)
                }
            } catch is JournalFault {
                // What was copied is read all the same.
                if own.end().size > 0 { try own.readRecords([own.end().size - 1]) { _, _ in } }
                say("away \(own.end().size)")
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
        let group = CallerGroup()
        for caller in 0..<options.callers {
            Caller(name: "\(name)-\(leadership.term)-\(caller)", group: group).start()
        }
        var isLargeDone = options.large == 0
        while leader.isLeading {
            if !isLargeDone, own.end().size > 10 {
                isLargeDone = true
                appendLarge("\(name)-\(leadership.term)-large", leader)
            }
            append(group.next(), leader)
            follower.note(confirmed: leader.confirmed)
            follower.note(vaultPosition: leader.confirmed.vaultPosition)
            // Who follows looks by itself soon, whether it is woken or not.
            try? journal.announce(leader.announcement)
        }
        group.close()
        say("lost")
    }

    /// One commit of all that wait.
    private func append(_ calls: [Call], _ leader: LeaderLog) {
        guard !calls.isEmpty else { return }
        let first = own.end().size
        let batch = LogBatch(calls, after: own.end())
        if options.acknowledgesEarly {
            end(calls, from: first)
            usleep(20_000)
        }
        do {
            _ = try leader.append(batch)
        } catch let fault as LogStorageFault where fault.code == .outcomeUnknown {
            for call in calls {
                if options.guesses { call.end(.refused) } else { say("unknown \(call.id)") }
            }
            let isSettled = settle(leader)
            if options.repeats, isSettled {
                _ = try? leader.append(LogBatch(calls, after: own.end()))
            }
            if !isSettled { return calls.forEach { $0.end(.open) } }
        } catch {
            usleep(20_000)
        }
        if own.end().size > first {
            end(calls, from: first)
        } else {
            calls.forEach { $0.end(.refused) }
        }
    }

    private func end(_ calls: [Call], from first: UInt64) {
        var place = first
        for call in calls {
            call.end(.acknowledged(place))
            place += UInt64(call.records.count)
        }
    }

    /// - Returns: whether it was found out what became of a commit.
    private func settle(_ leader: LeaderLog) -> Bool {
        while leader.isLeading {
            do {
                try leader.reopen()
                return true
            } catch {
                usleep(50_000)
            }
        }
        return false
    }

    /// One record, and evidence of many bytes.
    private func appendLarge(_ id: String, _ leader: LeaderLog) {
        let call = Call(id, records: [Array("\(id) 0".utf8)])
        var batch = LogBatch([call], after: own.end())
        batch.attached = [(batch.first, [UInt8](repeating: 7, count: options.large))]
        let (first, began) = (batch.first, Self.onClock())
        say("sent \(id)")
        do {
            _ = try leader.append(batch)
            say("large \(Self.onClock() - began)")
            say("acked \(id) \(first)")
        } catch {
            say("unknown \(id)")
            say(settle(leader) && own.end().size > first ? "acked \(id) \(first)" : "open \(id)")
        }
    }
}
