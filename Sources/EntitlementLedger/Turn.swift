import Synchronization

/// What is held by one after the other, each from what it reads to what it writes.
final class Turn: Sendable {
    private let held = Mutex<Void>(())

    func take<Outcome: Sendable>(_ body: () throws -> Outcome) rethrows -> Outcome {
        try held.withLock { _ in try body() }
    }
}
