public import Encodings
public import Entitlements
public import EventLog

/// What proves an erasure and names nobody.
///
/// It says which streams are gone, where the log says so, and which copies still hold them; signed by
/// the key of checkpoints.
public struct ErasureReceipt: Sendable, Equatable {
    /// The log's name.
    public var origin: String
    /// The first event of the erasure.
    public var sequence: UInt64
    /// How many events it has.
    public var events: Int
    /// When it was recorded (T3).
    public var recordedAt: Instant
    /// Numbers of the streams that are gone, ascending.
    public var streams: [UInt64]
    /// Carriers of the evidence that was deleted, since its keys are others', ascending.
    public var evidence: [UInt64]
    /// The log's size with the erasure as its end.
    public var treeSize: UInt64
    /// The log's root at that size.
    public var root: Digest
    /// The backups, as they were when the receipt was made.
    public var copies: ErasedCopies
    /// The receipt as a C2SP signed note: its text, an empty line, the signature.
    public var note: String

    /// The first line of the text: no checkpoint begins so.
    private static let title = "entitlement-ledger erasure v1"
}

extension ErasureReceipt {
    /// The text that is signed: a line for each thing said.
    static func text(_ receipt: ErasureReceipt) -> String {
        var lines = [
            title, "origin \(receipt.origin)", "sequence \(receipt.sequence)",
            "events \(receipt.events)", "recorded \(receipt.recordedAt)",
            "tree \(receipt.treeSize) \(receipt.root.base64)",
            "generation \(receipt.copies.generation)",
        ]
        lines += receipt.streams.map { "erased \($0)" }
        lines += receipt.evidence.map { "evidence \($0)" }
        lines += receipt.copies.missed.map {
            "backup \(Instant(milliseconds: $0.until)) \($0.path.withoutControlCharacters)"
        }
        lines += receipt.copies.exports.map { "export \($0.withoutControlCharacters)" }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The receipt as JSON (schemas/erasure.schema.json).
    public var json: JSONValue {
        .members([
            "origin": .string(origin), "sequence": .integer(sequence),
            "events": .integer(events), "recordedAt": .instant(recordedAt),
            "streams": .strings(streams.map { "erased/\($0)" }),
            "evidence": .array(evidence.map { .integer($0) }),
            "treeSize": .integer(treeSize), "rootHash": .string(root.base64),
            "generation": .integer(copies.generation),
            "backups": .members([
                "reached": .strings(copies.reached),
                "missed": .array(
                    copies.missed.map {
                        .members([
                            "path": .string($0.path),
                            "until": .instant(Instant(milliseconds: $0.until)),
                        ])
                    }
                ),
            ]),
            "exports": .strings(copies.exports), "note": .string(note),
        ])
    }
}

extension String {
    /// Notes have no control characters but newlines.
    fileprivate var withoutControlCharacters: String {
        String(
            String.UnicodeScalarView(unicodeScalars.map { $0.value < 0x20 ? "\u{FFFD}" : $0 })
        )
    }
}

extension Ledger {
    /// The receipt of the erasure whose first event stands at a sequence; nil if none does.
    ///
    /// Cost: a read for each of its events, and the root of the tree at that size.
    public func erasureReceipt(at sequence: UInt64) throws -> ErasureReceipt? {
        let end = try log.end().size
        guard sequence < end else { return nil }
        var left: UInt64 = 1
        var recordedAt: Int64?
        var streams: Set<UInt64> = []
        var evidence: Set<UInt64> = []
        var next = sequence
        while left > 0, next < end {
            try log.readRecords([next]) { _, record in
                let header = try RecordHeader(checking: record)
                left = try header.erasureEventsLeft(record)
                guard left > 0 else { return }
                recordedAt = header.recordedAt
                streams.formUnion(try header.indexEntry(record).streams)
                evidence.formUnion(try header.deletedEvidence(record))
            }
            guard left > 0 else { break }
            next += 1
            left -= 1
        }
        guard let recordedAt else { return nil }
        var receipt = ErasureReceipt(
            origin: identity.origin,
            sequence: sequence,
            events: Int(next - sequence),
            recordedAt: Instant(milliseconds: recordedAt),
            streams: streams.sorted(),
            evidence: evidence.sorted(),
            treeSize: next,
            root: try TreeReader(LogTiles(log)).root(size: next),
            copies: try wholeVault.erasedCopies(of: streams.sorted()),
            note: ""
        )
        receipt.note = try signer.sign(ErasureReceipt.text(receipt)).description
        return receipt
    }
}

extension RecordHeader {
    /// Carriers of the evidence that an erasure's event says to be deleted; none in other events.
    func deletedEvidence(_ record: Span<UInt8>) throws(DecodingFault) -> [UInt64] {
        guard try eventKind() == .customerErased else { return [] }
        var reader = FactsReader(facts)
        while !reader.isAtEnd {
            let field = try FactsReader.field(try reader.mark(record))
            if field == .evidence, case .texts(let texts) = try reader.value(of: field, record) {
                return texts.compactMap { UInt64($0) }
            }
            try reader.skip(field, record)
        }
        return []
    }

    /// How many events an erasure has from this one on; 0 for another event.
    fileprivate func erasureEventsLeft(
        _ record: Span<UInt8>
    ) throws(DecodingFault) -> UInt64 {
        guard try eventKind() == .customerErased else { return 0 }
        var reader = FactsReader(facts)
        while !reader.isAtEnd {
            let field = try FactsReader.field(try reader.mark(record))
            if field == .found { return try reader.number(record) }
            try reader.skip(field, record)
        }
        return 0
    }
}
