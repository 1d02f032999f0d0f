package import Encodings
package import Entitlements
import EventLog
import PostingIndex

extension Questions {
    /// The evidence of an event, opened and put together again: the bytes as they were received.
    ///
    /// - Returns: nil if it has none, a stream that it names is erased, or a salvage could not bring it back.
    /// - Throws: `LogStorageFault.damaged` if it, or a part that it shares, is not what was recorded.
    public func evidence(of sequence: UInt64) throws -> [UInt8]? {
        guard let header = try header(at: sequence), header.attached == .evidence,
            try !isKnownToBeLost(header)
        else { return nil }
        return try recordedEvidence(header)
    }

    /// Whether a salvage said that evidence was lost, and this is: no damage that is new.
    private func isKnownToBeLost(_ header: RecordHeader) throws -> Bool {
        guard let knownLoss, knownLoss.attached > 0 else { return false }
        guard let attached = try log.attached(at: header.attachedAt) else { return true }
        return try SealedEvidence.sharedParts(of: attached.span)
            .contains { try log.sharedPart($0) == nil }
    }

    /// The header of an event; nil: a gap stands in its place.
    private func header(at sequence: UInt64) throws -> RecordHeader? {
        var header: RecordHeader?
        try log.readRecords([sequence]) { _, record in
            if !LostRecord.isOne(record) { header = try RecordHeader(checking: record) }
        }
        return header
    }

    /// What an event with evidence was read from; nil: a stream that it names is erased.
    ///
    /// - Throws: as `evidence(of:)`, also for what a salvage could not bring back.
    func recordedEvidence(_ header: RecordHeader) throws -> [UInt8]? {
        let sequence = header.sequence
        guard let attached = try log.attached(at: header.attachedAt),
            header.attachedDigest == AttachedBytes.digest(of: attached.span)
        else { throw LogStorageFault(.damaged, "the evidence of \(sequence) differs") }
        guard
            let (sealed, encoding, digests) = try SealedEvidence.open(
                attached.span,
                keys: { try vault.keys(of: $0) }
            )
        else { return nil }
        let content =
            encoding.isCompressed
            ? Zstandard.decompress(sealed, limit: EvidenceList.contentLimit) : sealed
        guard let content else {
            throw LogStorageFault(.damaged, "the evidence of \(sequence) does not decompress")
        }
        guard encoding.isInParts else { return content }
        return try EvidenceList.parts(of: content) { place in
            guard digests.indices.contains(place) else {
                throw LogStorageFault(.damaged, "the evidence of \(sequence) names no such part")
            }
            return try sharedPart(digests[place])
        }
        .flattened
    }

    /// An event with the payload that it was read from, as text: null where it has none.
    ///
    /// - Throws: as `evidence(of:)`.
    package func withEvidence(_ event: JSONValue, of sequence: UInt64) throws -> JSONValue {
        guard case .object(var members) = event else { return event }
        let text = try evidence(of: sequence).map { String(decoding: $0, as: UTF8.self) }
        members.append(JSONMember("evidence", .optional(text)))
        return .object(members)
    }

    /// The first event that was read from the evidence of an event; nil: it has none, or is erased.
    package func firstEvent(ofEvidenceAt sequence: UInt64) throws -> RecordedEvent? {
        guard let header = try header(at: sequence), header.attached == .evidence else {
            return nil
        }
        return try event(at: header.attachedAt)
    }

    /// The earlier event of the same signal in an event's stream, for which the fold passes the event over
    /// (E1); nil: it counts.
    ///
    /// Cost: the records of its stream's earlier events of its kind.
    ///
    /// - Throws: `DecodingFault` where one of them is damaged: it may be the one.
    package func earlierEvent(ofSignalAt sequence: UInt64) throws -> UInt64? {
        guard let header = try header(at: sequence) else { return nil }
        if views.end <= sequence { try views.catchUp() }
        let earlier = try views.entries(of: header.stream, below: sequence)
            .filter { $0.kind == header.kind }.map(\.sequence)
        var found: UInt64?
        try log.readRecords(earlier) { sequence, record in
            guard found == nil, !LostRecord.isOne(record) else { return }
            let other = try RecordHeader(checking: record)
            guard other.stream == header.stream, other.signal == header.signal else { return }
            found = sequence
        }
        return found
    }

    /// The content of a shared part of evidence.
    ///
    /// - Throws: `LogStorageFault` where it is missing or altered.
    func sharedPart(_ digest: Digest) throws -> [UInt8] {
        guard let part = try log.sharedPart(digest) else {
            throw LogStorageFault(.damaged, "the shared part \(digest.hex) of evidence is missing")
        }
        do {
            return try SharedPart.content(part, digest: digest)
        } catch {
            throw LogStorageFault(
                error.isNewer ? .newerFormat : .damaged,
                "the shared part \(digest.hex) of evidence is not what was recorded"
            )
        }
    }
}
