package import Encodings
import Entitlements
import EventLog

extension Questions {
    /// The evidence of an event, opened and put together again: the bytes as they were received.
    ///
    /// - Returns: nil if it has none or a stream that it names is erased.
    /// - Throws: `LogStorageFault.damaged` if it, or a part that it shares, is not what was recorded.
    public func evidence(of sequence: UInt64) throws -> [UInt8]? {
        var header: RecordHeader?
        try log.readRecords([sequence]) { header = try RecordHeader(checking: $1) }
        guard let header, header.attached == .evidence else { return nil }
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
