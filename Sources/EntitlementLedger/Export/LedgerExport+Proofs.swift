import Encodings
import Entitlements
import EventLog
import LedgerAPI

extension LedgerExport {
    /// A record as it stands, and how it belongs to the checkpoint's tree.
    func proof(_ sequence: UInt64, _ record: Span<UInt8>) throws -> ExportedProof {
        let proof =
            plan.customer == nil
            ? nil
            : try TreeReader(LogTiles(questions.log)).inclusionProof(
                leaf: sequence,
                size: checkpoint.size
            )
        return ExportedProof(
            sequence: sequence,
            record: Base64.encode(record),
            proof: proof?.hashes.map(\.base64)
        )
    }

    /// How a range of records belongs to the checkpoint's tree: what is before it as the edge of
    /// that tree, what is behind it as a consistency proof.
    ///
    /// The records' hashes added to the edge make the root at the range's end.
    func rangeProof(_ range: Range<UInt64>) throws -> ExportedRange {
        let tree = TreeReader(LogTiles(questions.log))
        return ExportedRange(
            start: range.lowerBound,
            end: range.upperBound,
            edge: try tree.edge(size: range.lowerBound).hashes.map(\.base64),
            consistency: try tree.consistencyProof(from: range.upperBound, to: checkpoint.size)
                .hashes.map(\.base64)
        )
    }

    /// What a signal's events were read from, as far as it may be shown.
    func evidence(_ sequence: UInt64) throws -> ExportedEvidence {
        var digest: EventLog.Digest?
        try questions.log.readRecords([sequence]) { _, record in
            if !LostRecord.isOne(record) {
                digest = try RecordHeader(reading: record).attachedDigest
            }
        }
        let content =
            plan.redaction == .all ? nil : try questions.evidence(of: sequence)
        return ExportedEvidence(
            sequence: sequence,
            // Of the sealed bytes: what the record binds.
            digest: digest?.hex,
            content: content.map {
                EvidenceMask(plan.redaction, impersonal: impersonalMembers).content($0)
            } ?? .null
        )
    }
}
