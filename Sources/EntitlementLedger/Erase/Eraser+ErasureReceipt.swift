import Crypto
import Encodings
import Entitlements
import EventLog
public import LedgerAPI

extension ErasureReceipt {
    /// Bytes of a text up to which each thing has a line: a signed note has fewer than a million, and its
    /// signature takes some.
    private static let textByteLimit = 900_000

    /// The text that is signed: a line for each thing said.
    ///
    /// Where a note does not hold so many, a list stands as one line: how long it is, and the SHA-256 of its
    /// own lines. Keys are destroyed by then, and a receipt there is to be.
    static func text(_ receipt: ErasureReceipt) -> String {
        let head = [
            title, "origin \(receipt.origin)", "sequence \(receipt.sequence)",
            "events \(receipt.events)", "recorded \(receipt.recordedAt)",
            "tree \(receipt.treeSize) \(receipt.rootHash)",
            "generation \(receipt.generation)",
        ]
        let said: [(String, [String])] = [
            ("erased", receipt.streams.map { "\($0)" }),
            ("evidence", receipt.evidence.map { "\($0)" }),
            ("backup", receipt.backups.missed.map { "\($0.until) \($0.path)" }),
            ("export", receipt.exports), ("machine", receipt.machines),
            ("database", receipt.database),
        ]
        let lists = said.map { word, values in
            (word: word, lines: values.map { "\(word) \($0.withoutControlCharacters)\n" })
        }
        let whole = head.map { $0 + "\n" }.joined() + lists.flatMap { $0.lines }.joined()
        guard whole.utf8.count > textByteLimit else { return whole }
        let sums = lists.filter { !$0.lines.isEmpty }.map { word, lines in
            let digest = SHA256.hash(data: Array(lines.joined().utf8))
            return "\(word) all \(lines.count) sha256 \(Hexadecimal.encode(digest))"
        }
        return (head + sums).joined(separator: "\n") + "\n"
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

extension Eraser {
    /// The receipt of the erasure whose first event stands at a sequence; nil if none does.
    ///
    /// Cost: a read for each of its events, and the root of the tree at that size.
    public func erasureReceipt(at sequence: UInt64) throws -> ErasureReceipt? {
        guard let recorded = try recordedErasure(at: sequence) else { return nil }
        let streams = recorded.streams.sorted()
        let copies = try opened.whole.erasedCopies(of: streams)
        var receipt = ErasureReceipt(
            origin: prover.identity.origin,
            sequence: sequence,
            events: Int(recorded.end - sequence),
            recordedAt: Instant(milliseconds: recorded.recordedAt),
            streams: streams,
            evidence: recorded.evidence.sorted(),
            treeSize: recorded.end,
            rootHash: try TreeReader(LogTiles(questions.log)).root(size: recorded.end).base64,
            generation: copies.generation,
            backups: ErasureReceipt.Backups(
                reached: copies.reached,
                missed: copies.missed.map {
                    ErasureReceipt.Missed(
                        path: $0.path,
                        until: Instant(milliseconds: $0.until)
                    )
                }
            ),
            exports: copies.exports,
            machines: copies.machines,
            database: copies.database,
            note: ""
        )
        receipt.note = try prover.signer.sign(ErasureReceipt.text(receipt)).description
        return receipt
    }

    /// What the events of an erasure say, the first of which stands at a sequence; nil if none does.
    ///
    /// Cost: a read for each of its events.
    func recordedErasure(at sequence: UInt64) throws -> RecordedErasure? {
        let log = questions.log
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
        return recordedAt.map {
            RecordedErasure(recordedAt: $0, end: next, streams: streams, evidence: evidence)
        }
    }
}

/// What the log says of an erasure.
struct RecordedErasure {
    /// Of its last event, in milliseconds since 1970.
    var recordedAt: Int64
    /// Behind its last event.
    var end: UInt64
    /// Numbers of those that go.
    var streams: Set<UInt64>
    /// Records whose evidence is deleted.
    var evidence: Set<UInt64>
}

extension RecordHeader {
    /// The records whose evidence an erasure's event says to be deleted; none in other events.
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
