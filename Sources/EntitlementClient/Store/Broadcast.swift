import Synchronization

/// Tells several listeners the same, each by a stream of its own.
final class Broadcast<Element: Sendable>: Sendable {
    private let listeners = Mutex<Listeners>(Listeners())
    private let policy: AsyncStream<Element>.Continuation.BufferingPolicy

    private struct Listeners {
        var next = 0
        var continuations: [Int: AsyncStream<Element>.Continuation] = [:]
    }

    /// `policy`: what is kept for whoever does not listen just now.
    init(_ policy: AsyncStream<Element>.Continuation.BufferingPolicy) { self.policy = policy }

    /// A stream of what is told from now on; it ends when this goes.
    ///
    /// `first`: reads what stands already; nothing is told between its reading and what comes behind it.
    func stream(first: () -> Element? = { nil }) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self,
            bufferingPolicy: policy
        )
        let id = listeners.withLock { listeners in
            listeners.next += 1
            listeners.continuations[listeners.next] = continuation
            if let first = first() { continuation.yield(first) }
            return listeners.next
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.listeners.withLock { $0.continuations.removeValue(forKey: id) }
        }
        return stream
    }

    /// Tells everybody.
    func send(_ element: Element) {
        listeners.withLock { listeners in
            for continuation in listeners.continuations.values { continuation.yield(element) }
        }
    }

    deinit {
        let continuations = listeners.withLock { Array($0.continuations.values) }
        for continuation in continuations { continuation.finish() }
    }
}
