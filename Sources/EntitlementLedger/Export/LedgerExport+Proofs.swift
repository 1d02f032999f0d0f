import Encodings
import Entitlements
import EventLog
import LedgerAPI

extension LedgerExport {
    /// A record as it stands, and how it belongs to the checkpoint's tree.
    func proof(_ sequence: UInt64, _ record: Span<UInt8>) throws -> JSONValue {
        var members = [
            JSONMember("sequence", .string(RecordedEvent.padded(sequence))),
            JSONMember("record", .string(Base64.encode(record))),
        ]
        if plan.customer != nil {
            let proof = try TreeReader(LogTiles(questions.log)).inclusionProof(
                leaf: sequence,
                size: checkpoint.size
            )
            members.append(JSONMember("proof", .digests(proof.hashes)))
        }
        return .object(members)
    }

    /// How a range of records belongs to the checkpoint's tree: what is before it as the edge of
    /// that tree, what is behind it as a consistency proof.
    ///
    /// The records' hashes added to the edge make the root at the range's end.
    func rangeProof() throws -> JSONValue {
        guard case .range(let range) = plan.scope else { return .null }
        let tree = TreeReader(LogTiles(questions.log))
        return .members([
            "from": .string(RecordedEvent.padded(range.lowerBound)),
            "to": .string(RecordedEvent.padded(range.upperBound)),
            "edge": .digests(try tree.edge(size: range.lowerBound).hashes),
            "consistency": .digests(
                try tree.consistencyProof(from: range.upperBound, to: checkpoint.size).hashes
            ),
        ])
    }

    /// What a signal's events were read from, as far as it may be shown.
    func evidence(_ sequence: UInt64) throws -> JSONValue {
        var digest: EventLog.Digest?
        try questions.log.readRecords([sequence]) {
            digest = try RecordHeader(reading: $1).companionDigest
        }
        let content =
            plan.redaction == .all ? nil : try questions.evidence(of: sequence)
        return .members([
            "sequence": .string(RecordedEvent.padded(sequence)),
            // Of the sealed bytes: what the record binds.
            "digest": .optional(digest?.hex),
            "content": content.map {
                EvidenceMask(plan.redaction, impersonal: impersonalMembers).content($0)
            } ?? .null,
        ])
    }
}

extension JSONValue {
    /// Hashes as standard base64.
    static func digests(_ digests: [EventLog.Digest]) -> JSONValue {
        .strings(digests.map(\.base64))
    }
}
