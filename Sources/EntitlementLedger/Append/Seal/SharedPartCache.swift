import EventLog
import Synchronization

/// Knows which shared parts of evidence the log holds, so that each is handed in once.
final class SharedPartCache: Sendable {
    private let log: any LogReader
    /// Parts that were seen in the log, which never loses one.
    private let known = Mutex<Set<Digest>>([])

    /// Digests that are remembered; there is one for each certificate chain.
    private static let knownLimit = 4096

    init(log: any LogReader) { self.log = log }

    /// Those of some parts that the log does not hold, as they are to be kept.
    ///
    /// Another writer of the same group may hand in the same: the storage keeps one.
    func missing(
        _ parts: [(digest: Digest, content: [UInt8])]
    ) throws -> [(digest: Digest, bytes: [UInt8])] {
        var missing: [(digest: Digest, bytes: [UInt8])] = []
        for part in parts where !known.withLock({ $0.contains(part.digest) }) {
            if try log.sharedPart(part.digest) == nil {
                missing.append((part.digest, SharedPart.bytes(of: part.content)))
            } else {
                remember(part.digest)
            }
        }
        return missing
    }

    private func remember(_ digest: Digest) {
        known.withLock { known in
            if known.count >= Self.knownLimit { known.removeAll() }
            known.insert(digest)
        }
    }
}
