package import Encodings

/// An id that stands whole in the sealed part of a stream's records.
package struct HeldIdentifier: Hashable, Sendable {
    /// The stream.
    package var stream: UInt64
    /// The id; ids are bytes (Model, "Events").
    @Bytewise package var text: String

    /// Makes one.
    package init(stream: UInt64, text: String) {
        self.stream = stream
        self.text = text
    }
}

/// Finds streams by the ids that stand sealed in their records.
///
/// It is derived from the log and follows behind it: what it lacks is read from there.
package protocol IdentifierReader: Sendable {
    /// How many of the log's first records it was filled from.
    func identifiersEnd() throws -> UInt64

    /// The streams in whose records an id may stand, of those records, ascending; none that is erased.
    ///
    /// They are found by some bits of its digest: whether it stands there, the records say.
    ///
    /// Cost: a digest and a look-up for each shard.
    func streams(holding identifier: String) throws -> [UInt64]

    /// Shards whose ids went with the key that they were found by, ascending: an erasure took somebody
    /// who shared it. Those of the streams that stayed are to be read again.
    func outdatedShards() throws -> [Int]

    /// The streams of an outdated shard, none that is erased.
    func streams(ofShard shard: Int) throws -> [UInt64]

    /// Bytes that it takes on a disk; nil: it stands on none.
    func identifiersByteCount() throws -> Int?

    /// Checks that what it was filled with is there and whole.
    ///
    /// - Throws: `LogStorageFault.damaged`. Cost: one pass over it.
    func checkIdentifiers() throws
}

extension IdentifierReader {
    /// None, where an erasure leaves all others in their place.
    package func outdatedShards() throws -> [Int] { [] }

    /// None: no shard is outdated.
    package func streams(ofShard shard: Int) throws -> [UInt64] { [] }

    /// None, for a table in memory.
    package func identifiersByteCount() throws -> Int? { nil }
}

/// Keeps them.
package protocol IdentifierKeeper: IdentifierReader {
    /// Adds the ids of the records from where it ends, durably; those of streams that are erased are
    /// passed over.
    ///
    /// - Returns: false where it ends elsewhere by now: nothing was added.
    @discardableResult
    func add(
        _ identifiers: some Collection<HeldIdentifier>,
        from start: UInt64,
        upTo end: UInt64
    ) throws -> Bool

    /// Adds all ids of an outdated shard, of the records that it was filled from, durably; it is
    /// outdated no more.
    func add(_ identifiers: some Collection<HeldIdentifier>, ofOutdated shard: Int) throws

    /// Removes all of them, to be filled anew.
    func removeIdentifiers() throws
}

extension IdentifierKeeper {
    /// Adds none: no shard is outdated.
    package func add(_ identifiers: some Collection<HeldIdentifier>, ofOutdated shard: Int) {}
}
