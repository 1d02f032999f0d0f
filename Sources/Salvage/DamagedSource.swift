package import EventLog

/// Where parts of a log may still be had: what is left of its file, an archive, another copy.
///
/// Nothing of it is believed: a record counts where its hash is that of the tree.
package protocol DamagedSource: Sendable {
    /// Lends what may be records of a bundle, in any order and each any number of times.
    ///
    /// `location`: where the record stands, in the source that is salvaged; nil in any other.
    func records(
        ofBundle bundle: UInt64,
        _ body: (_ record: Span<UInt8>, _ location: RecordLocation?) throws -> Void
    ) throws

    /// Values that may be a tile, the best first.
    func tiles(_ key: TileKey) throws -> [[UInt8]]

    /// What may be the evidence or attachment with this SHA-256, of a record of a bundle.
    func attached(_ digest: Digest, ofBundle bundle: UInt64) throws -> [UInt8]?

    /// Lends what may be shared parts of evidence.
    func sharedParts(_ body: ([UInt8]) throws -> Void) throws

    /// Texts that may be checkpoints.
    func notes() throws -> [String]

    /// Ends of the log as the source states them, each with the tree's edge.
    func ends() throws -> [LogEnd]
}

/// What is left of the log that is salvaged: it alone tells what was in use, and what stands in a
/// record's place now.
package protocol DamagedOriginal: DamagedSource {
    /// What tells of the log's end beside ``DamagedSource/ends()``, which are those in use.
    var endClues: EndClues { get }

    /// Behind the last record that stands anywhere, among those below a size.
    func recordEnd(upTo limit: UInt64) -> UInt64

    /// The leaf hashes of a full bundle, from a tile that has lost its name.
    ///
    /// `leaf`: a hash that the tile holds at a place of the bundle.
    func unnamedTile(holding leaf: Digest, at place: Int) throws -> [Digest]?

    /// What became of a record of which no source has anything.
    ///
    /// `found`: where other records of its bundle stand, by their sequences.
    func trace(
        of sequence: UInt64,
        among found: [UInt64: Range<UInt64>]
    ) throws -> GapTrace
}

/// Where a record stands in the log that is salvaged.
package struct RecordLocation: Sendable {
    /// Its bytes there, from the beginning of the file.
    package var bytes: Range<UInt64>
    /// Whether they are in use, as far as anything tells: others were superseded, or never committed.
    package var isLive: Bool

    /// Names a place.
    package init(bytes: Range<UInt64>, isLive: Bool) {
        self.bytes = bytes
        self.isLive = isLive
    }
}

/// What a damaged log tells of its end, beside the ends in use.
package struct EndClues: Sendable {
    /// Whether everything is there that leads to the ends in use.
    package var isComplete: Bool
    /// How many records there are at least, as what is in use says.
    package var leastSize: UInt64
    /// Ends that are in use no more, or never were.
    package var otherEnds: [LogEnd]
    /// Bytes that are left: no log is longer than its bytes.
    package var byteCount: UInt64
    /// Whether the file ends before something that is in use.
    package var isCut: Bool

    /// Puts clues together.
    package init(
        isComplete: Bool,
        leastSize: UInt64,
        otherEnds: [LogEnd],
        byteCount: UInt64,
        isCut: Bool
    ) {
        self.isComplete = isComplete
        self.leastSize = leastSize
        self.otherEnds = otherEnds
        self.byteCount = byteCount
        self.isCut = isCut
    }
}

/// What became of a record that is lost.
package struct GapTrace: Sendable {
    /// As far as the bytes around it tell.
    package var cause: LostRecord.Cause
    /// The pages where it stood; nil where that is not known.
    package var pages: ClosedRange<UInt64>?

    /// Tells of a record.
    package init(_ cause: LostRecord.Cause, pages: ClosedRange<UInt64>?) {
        self.cause = cause
        self.pages = pages
    }
}
