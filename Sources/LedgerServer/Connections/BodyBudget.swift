import Synchronization

/// What the bodies of all requests may hold together, from their first byte to their answer.
///
/// Where there is no more room, the body that has been arriving for longest gives way: it is the
/// one of a client that sends slowly or not at all, and its connection is closed.
final class BodyBudget: Sendable {
    private let limit: Int
    private let state = Mutex(State())

    private struct State {
        var byteCount = 0
        var arriving = OldestFirst<Body>()
        /// Bytes that were let go since the beginning.
        var released: UInt64 = 0

        mutating func release(_ count: Int) {
            byteCount -= count
            released &+= UInt64(count)
        }
    }

    private struct Body {
        let giveWay: @Sendable () -> Void
        var byteCount = 0
    }

    init(limit: Int) { self.limit = limit }

    /// Bytes that are held now.
    var byteCount: Int { state.withLock { $0.byteCount } }
    /// Bytes that were let go since the beginning.
    var released: UInt64 { state.withLock { $0.released } }

    /// The room of one body; to be ended when its request is answered.
    final class Room: Sendable {
        private let budget: BodyBudget
        private let ticket: UInt64
        /// Bytes of a body that is there; nil: it still arrives.
        private let arrived = Mutex<Int?>(nil)

        fileprivate init(_ budget: BodyBudget, _ ticket: UInt64) {
            self.budget = budget
            self.ticket = ticket
        }

        /// Asks for so many bytes more; false: there is no room, or it was given to others.
        func take(_ count: Int) -> Bool { budget.take(count, ticket) }

        /// The body is all there: it gives way to nobody any more; false: it gave way before.
        func settle() -> Bool {
            guard let count = budget.settle(ticket) else { return false }
            arrived.withLock { $0 = count }
            return true
        }

        /// Gives the room back.
        func end() { budget.end(ticket, arrived: arrived.withLock { $0.take() }) }
    }

    /// Begins a body that arrives; `giveWay` ends its arrival.
    func room(giveWay: @escaping @Sendable () -> Void) -> Room {
        Room(self, state.withLock { $0.arriving.insert(Body(giveWay: giveWay)) })
    }

    private func take(_ count: Int, _ ticket: UInt64) -> Bool {
        let (hasRoom, evicted) = state.withLock { state -> (Bool, [Body]) in
            guard var body = state.arriving[ticket] else { return (false, []) }
            var evicted: [Body] = []
            while state.byteCount + count > limit {
                guard let oldest = state.arriving.removeOldest(but: ticket) else {
                    return (false, evicted)
                }
                state.release(oldest.byteCount)
                evicted.append(oldest)
            }
            state.byteCount += count
            body.byteCount += count
            state.arriving.update(body, at: ticket)
            return (true, evicted)
        }
        for body in evicted { body.giveWay() }
        return hasRoom
    }

    private func settle(_ ticket: UInt64) -> Int? {
        state.withLock { $0.arriving.remove(ticket)?.byteCount }
    }

    private func end(_ ticket: UInt64, arrived: Int?) {
        state.withLock { state in
            state.release(arrived ?? state.arriving.remove(ticket)?.byteCount ?? 0)
        }
    }
}
