import ServiceLifecycle
import Synchronization

/// Tells those who follow the log that it has grown: one look at it serves all of them.
final class LogGrowth: Service {
    /// The log's size; it may have been written to by another process.
    private let size: @Sendable () throws -> UInt64
    private let followers = Mutex(Followers())

    private struct Followers {
        var streams: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var count: UInt64 = 0
        /// Whether the server stops: nobody follows any more.
        var isOver = false
    }

    /// How often it is looked.
    private static let interval = Duration.milliseconds(20)
    /// Looks after which followers are told, whether it has grown or not: they may have something to say by
    /// themselves.
    private static let looksPerBeat = 50

    init(_ size: @escaping @Sendable () throws -> UInt64) { self.size = size }

    /// Tells each time that the log has grown, and now and then that it may not have.
    ///
    /// It ends when the server stops. Who has not taken what was told is told once.
    func follow() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let number = followers.withLock { followers -> UInt64? in
            guard !followers.isOver else { return nil }
            followers.count += 1
            followers.streams[followers.count] = continuation
            return followers.count
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.followers.withLock { _ = $0.streams.removeValue(forKey: number) }
        }
        return stream
    }

    /// Those who follow now.
    var followerCount: Int { followers.withLock { $0.streams.count } }

    func run() async throws {
        var (known, looks) = (UInt64(0), 0)
        while await Self.interval.passes() {
            let streams = followers.withLock { Array($0.streams.values) }
            guard !streams.isEmpty else { continue }
            looks += 1
            // What cannot be read is told of by those who read more of it.
            let found = (try? size()) ?? known
            guard found != known || looks % Self.looksPerBeat == 0 else { continue }
            known = found
            for stream in streams { stream.yield() }
        }
        let streams = followers.withLock { followers in
            followers.isOver = true
            return Array(followers.streams.values)
        }
        for stream in streams { stream.finish() }
    }
}
