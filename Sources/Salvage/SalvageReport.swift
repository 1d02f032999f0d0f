package import EventLog

/// What a salvage found, kept and lost.
package struct SalvageReport: Sendable {
    /// How many records the log had, as far as anything tells.
    package var size: UInt64 = 0
    /// Records that were kept, each at its sequence.
    package var records: UInt64 = 0
    /// Kept records whose hash is the tree's.
    package var confirmed: UInt64 = 0
    /// Kept records that came from a second copy.
    package var refilled: UInt64 = 0
    /// Places of the log whose record is lost.
    package var lost: UInt64 = 0
    /// Lost records with a gap in their place: others were behind the log's end.
    package var lostWithin: UInt64 = 0
    /// The gaps, ascending; the first of them where they are many.
    package var gaps: [Gap] = []
    /// Ranges of records that were kept and that no hash confirms.
    package var unconfirmed: [Range<UInt64>] = []
    /// Records of which the evidence or attachment is lost, or a part that evidences share.
    package var lostAttached: [UInt64] = []
    /// Evidences and attachments that were kept.
    package var attached: UInt64 = 0
    /// Whether the tree of what was kept is the one that was signed: proofs and checkpoints hold.
    package var isProven = true
    /// Signed checkpoints that were kept.
    package var checkpoints = 0
    /// What became of names and keys.
    package var vault = VaultReport()
    /// Bytes that the disk did not give.
    package var unreadableBytes: UInt64 = 0
    /// Other files of the ledger that could not be read, by their path below its directory.
    package var notCopied: [String] = []

    /// Gaps, and ranges, that are listed.
    package static let listLimit = 10_000

    /// Neighbouring records that are lost in the same way.
    package struct Gap: Sendable, Equatable {
        /// Their sequences.
        package var sequences: Range<UInt64>
        /// What became of them.
        package var cause: LostRecord.Cause
        /// The pages of the damaged file where they stood, where that is known.
        package var pages: ClosedRange<UInt64>?
    }

    /// What became of the vault.
    package struct VaultReport: Sendable, Equatable {
        /// Streams with their key.
        package var streams: UInt64 = 0
        /// Streams that were erased before.
        package var erased: UInt64 = 0
        /// Numbers of streams whose name and key are lost.
        package var lost: [UInt64] = []
        /// How many these are.
        package var lostCount: UInt64 = 0

        /// Nothing was found, and nothing is missed.
        package init() {}
    }

    /// Whether nothing at all is lost.
    package var isWhole: Bool {
        lost == 0 && isProven && lostAttached.isEmpty && vault.lostCount == 0
            && notCopied.isEmpty
    }

    mutating func note(
        gapAt sequence: UInt64,
        _ cause: LostRecord.Cause,
        pages: ClosedRange<UInt64>?
    ) {
        note(gap: sequence..<sequence + 1, cause, pages: pages)
    }

    mutating func note(
        gap sequences: Range<UInt64>,
        _ cause: LostRecord.Cause,
        pages: ClosedRange<UInt64>?
    ) {
        lost += UInt64(sequences.count)
        if let last = gaps.indices.last, gaps[last].cause == cause,
            gaps[last].sequences.upperBound == sequences.lowerBound,
            (gaps[last].pages == nil) == (pages == nil)
        {
            gaps[last].sequences = gaps[last].sequences.lowerBound..<sequences.upperBound
            if let pages, let known = gaps[last].pages {
                gaps[last].pages =
                    min(
                        known.lowerBound,
                        pages.lowerBound
                    )...max(known.upperBound, pages.upperBound)
            }
        } else if gaps.count < Self.listLimit {
            gaps.append(Gap(sequences: sequences, cause: cause, pages: pages))
        }
    }

    /// Takes back a gap of one place at the log's end.
    mutating func dropGap(atEnd sequence: UInt64) {
        lost -= 1
        lostWithin -= 1
        // Where there are many it is not among those that are listed.
        guard let last = gaps.indices.last, gaps[last].sequences.last == sequence else { return }
        gaps[last].sequences = gaps[last].sequences.lowerBound..<sequence
        if gaps[last].sequences.isEmpty { gaps.removeLast() }
    }

    /// Counts everything as confirmed that a signed tree of a size covers.
    mutating func confirm(upTo size: UInt64) {
        let ranges = unconfirmed
        unconfirmed = []
        for range in ranges {
            let rest = max(range.lowerBound, size)..<max(range.upperBound, size)
            confirmed += UInt64(range.count - rest.count)
            if !rest.isEmpty { unconfirmed.append(rest) }
        }
        if size >= self.size { isProven = true }
    }

    mutating func note(unconfirmed sequence: UInt64) {
        if let last = unconfirmed.indices.last, unconfirmed[last].upperBound == sequence {
            unconfirmed[last] = unconfirmed[last].lowerBound..<sequence + 1
        } else if unconfirmed.count < Self.listLimit {
            unconfirmed.append(sequence..<sequence + 1)
        }
    }
}
