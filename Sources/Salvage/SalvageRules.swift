package import EventLog

/// What a salvage has to know of the events' bytes, which are another layer's.
package struct SalvageRules: Sendable {
    /// The SHA-256 of what a shared part of evidence contains; nil where the bytes are none.
    package var sharedPartDigest: @Sendable ([UInt8]) -> Digest?
    /// The streams that a record names: its subject's and those in its facts.
    package var namedStreams: @Sendable ([UInt8]) -> [UInt64]
    /// The streams that a record erases; most erase none.
    package var erasedStreams: @Sendable ([UInt8]) -> [UInt64]
    /// The records whose evidence a record says to be deleted.
    package var deletedEvidence: @Sendable ([UInt8]) -> [UInt64]

    /// Makes rules.
    package init(
        sharedPartDigest: @escaping @Sendable ([UInt8]) -> Digest?,
        namedStreams: @escaping @Sendable ([UInt8]) -> [UInt64],
        erasedStreams: @escaping @Sendable ([UInt8]) -> [UInt64],
        deletedEvidence: @escaping @Sendable ([UInt8]) -> [UInt64]
    ) {
        self.sharedPartDigest = sharedPartDigest
        self.namedStreams = namedStreams
        self.erasedStreams = erasedStreams
        self.deletedEvidence = deletedEvidence
    }
}
