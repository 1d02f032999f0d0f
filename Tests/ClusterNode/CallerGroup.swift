import Dispatch
import EventLog
import Foundation
import Synchronization

/// What somebody hands in, and waits for.
final class Call: Sendable {
    let id: String
    let records: [[UInt8]]
    private let outcome = Mutex<Outcome?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    /// What became of it.
    enum Outcome: Sendable {
        case acknowledged(UInt64), refused, open
    }

    init(_ id: String, records: [[UInt8]]) {
        self.id = id
        self.records = records
    }

    /// Tells who waits; the first word counts.
    func end(_ outcome: Outcome) {
        let isFirst = self.outcome.withLock { known in
            defer { known = known ?? outcome }
            return known == nil
        }
        if isFirst { isDone.signal() }
    }

    func wait() -> Outcome {
        isDone.wait()
        return outcome.withLock { $0 } ?? .open
    }
}

/// What callers hand in meanwhile is one commit.
final class CallerGroup: Sendable {
    private let state = Mutex<(waiting: [Call], isClosed: Bool)>(([], false))
    private let arrived = DispatchSemaphore(value: 0)

    func hand(in call: Call) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.waiting.append(call) }
            return state.isClosed
        }
        if isClosed { call.end(.refused) } else { arrived.signal() }
    }

    /// All that wait; none where nobody came for a moment.
    func next() -> [Call] {
        _ = arrived.wait(timeout: .now() + .milliseconds(20))
        return state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    /// What was never sent does not stand.
    func close() {
        let left = state.withLock { state in
            defer { state = ([], true) }
            return state.waiting
        }
        left.forEach { $0.end(.refused) }
    }

    var isClosed: Bool { state.withLock(\.isClosed) }
}

/// Somebody who hands in one after the other, one to three records that begin with the same id.
struct Caller: Sendable {
    let name: String
    let group: CallerGroup

    func start() {
        let thread = Thread { run() }
        thread.start()
    }

    private func run() {
        var number = 0
        while !group.isClosed {
            number += 1
            let id = "\(name)-\(number)"
            let records = (0..<Int.random(in: 1...3)).map { Array("\(id) \($0)".utf8) }
            let call = Call(id, records: records)
            say("sent \(id)")
            group.hand(in: call)
            switch call.wait() {
            case .acknowledged(let place): say("acked \(id) \(place)")
            case .refused: say("refused \(id)")
            case .open: say("open \(id)")
            }
            usleep(2000)
        }
    }
}

extension LogBatch {
    /// A commit of calls in their order, each with a stream of its own that bears its id.
    init(_ calls: [Call], after end: LogEnd) {
        self.init(after: end)
        for call in calls {
            for bytes in call.records {
                records.append(bytes)
                leaves.append(TreeHash.leaf(bytes.span))
            }
            highestCounter += 1
            newStreams.append(
                NewStream(
                    stream: StreamNumber.number(counter: highestCounter, shard: 1),
                    bytes: Array(call.id.utf8)
                )
            )
        }
        lastRecordedAt = max(0, end.lastRecordedAt) + 1
    }
}
