import EventLog
import Synchronization

/// Finds new streams by the digests of their names, for who only reads beside a writer.
///
/// Each look is at a snapshot of its own, no older than what the caller read of the log before. A stream
/// that the vault has taken over since is found still; what it leads to is the vault's then.
final class NewStreamNames: Sendable {
    private let log: LMDBLog
    private let seen = Mutex(Seen())

    private struct Seen {
        var numbers: [SignalDigest: UInt64] = [:]
        /// The last stream that was looked at.
        var last: UInt64 = 0
    }

    /// Digests that are remembered at most; then it is begun anew.
    private static let limit = 2 * NewStream.waitingLimit

    init(_ log: LMDBLog) { self.log = log }

    /// The stream of a digest; nil where none is new under it.
    ///
    /// Cost: a read of what came since the last look.
    func stream(of digest: SignalDigest) throws -> UInt64? {
        try seen.withLock { seen in
            if seen.numbers.count > Self.limit { seen = Seen() }
            for new in try log.newStreams(from: seen.last &+ 1) {
                seen.last = new.stream
                // What is damaged is an audit's affair; its name is not found.
                let found = try? VaultEntry.checkedDigest(of: new.bytes.span, stream: new.stream)
                if let digest = found.flatMap(\.self) { seen.numbers[digest] = new.stream }
            }
            return seen.numbers[digest]
        }
    }
}
