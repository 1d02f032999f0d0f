import Encodings
import Entitlements
import EventLog
import LedgerAPI

/// Checks an export's records: each whole, in the checkpoint's tree, and as its event says.
struct ExportedRecordsCheck {
    /// What is wrong, at most as many as a report lists.
    private(set) var faults: [ExportCheckAnswer.Fault] = []
    /// Records whose place in the tree was proven.
    private(set) var provenCount: UInt64 = 0
    private let manifest: ExportManifestAnswer
    private let checkpoint: Checkpoint
    /// The tree up to the record in hand; of a range only.
    private var edge: TreeEdge?
    /// The range's end and its proof.
    private var range: (end: UInt64, consistency: [Digest])?
    private var count: UInt64 = 0
    private var lastSequence: UInt64?
    /// The events beside the records, where the export has them.
    private var events: (any ExportLines)?

    init(_ manifest: ExportManifestAnswer, _ checkpoint: Checkpoint) {
        self.manifest = manifest
        self.checkpoint = checkpoint
    }

    mutating func run(_ source: some ExportSource) throws {
        guard try manifest.scope != .range || readRange(source) else { return }
        guard let lines = try source.lines(ExportFile.proofs) else {
            note(.file, ExportFile.proofs, nil, "there are no records")
            return
        }
        events = try source.lines(ExportFile.events)
        while let line = try lines.next() { try readRecord(line) }
        if try events?.next() != nil {
            note(.event, ExportFile.events, nil, "there are more events than records")
        }
        if count != manifest.records {
            note(
                .record,
                ExportFile.proofs,
                nil,
                "it holds \(count) records, the manifest says \(manifest.records)"
            )
        }
        if manifest.scope == .range { finishRange() }
    }

    private mutating func note(
        _ kind: ExportCheckAnswer.Kind,
        _ file: String,
        _ sequence: UInt64?,
        _ detail: String
    ) {
        guard faults.count < ExportCheckAnswer.faultLimit else { return }
        faults.append(
            ExportCheckAnswer.Fault(kind: kind, file: file, sequence: sequence, detail: detail)
        )
    }

    /// Reads a line from outside, with no more values than usual texts of its length have; nil: it is none.
    private static func read(_ line: [UInt8]) -> JSONValue? {
        try? JSONValue(parsing: line, placeLimit: JSONText.placeLimit(of: line))
    }

    private mutating func readRange(_ source: some ExportSource) throws -> Bool {
        let line = try source.lines(ExportFile.range)?.next().flatMap { Self.read($0) }
        guard let from = line?.sequence("from"), let to = line?.sequence("to"),
            from < to, to <= checkpoint.size, let hashes = line?.digests("edge"),
            let consistency = line?.digests("consistency"),
            let edge = TreeEdge(size: from, checking: hashes)
        else {
            note(.proof, ExportFile.range, nil, "the range's proof cannot be read")
            return false
        }
        self.edge = edge
        range = (to, consistency)
        lastSequence = from == 0 ? nil : from - 1
        return true
    }

    private mutating func readRecord(_ bytes: [UInt8]) throws {
        count += 1
        let file = ExportFile.proofs
        guard let line = Self.read(bytes),
            let sequence = line.sequence("sequence"),
            let record = line["record"]?.string.flatMap({ Base64.decode($0) })
        else {
            note(.record, file, nil, "line \(count) is no record")
            edge = nil
            _ = try events?.next()
            return
        }
        let isNext =
            manifest.scope == .range
            ? sequence == (lastSequence.map { $0 &+ 1 } ?? 0)
            : lastSequence.map { sequence > $0 } ?? true
        if !isNext { note(.record, file, sequence, "it is not the next record") }
        lastSequence = sequence
        if LostRecord(record.span) != nil {
            // Said each time: whoever would hide an event could put a gap in its place.
            note(.record, file, sequence, "the record was lost before: a gap stands there")
        } else {
            try check(record, at: sequence)
        }
        let leaf = TreeHash.leaf(ofEntry: record.span)
        if manifest.scope == .range {
            let isInside = edge.map { $0.size < range?.end ?? 0 } ?? false
            if isNext && isInside { edge?.append(leaf) } else { edge = nil }
            return
        }
        let proof = line.digests("proof").map {
            InclusionProof(leaf: sequence, size: checkpoint.size, hashes: $0)
        }
        if let proof, proof.holds(leafHash: leaf, root: checkpoint.root) {
            provenCount += 1
        } else {
            note(.proof, file, sequence, "the record is not in the checkpoint's tree")
        }
    }

    /// Holds a record against its place and the event beside it.
    private mutating func check(_ record: [UInt8], at sequence: UInt64) throws {
        let file = ExportFile.proofs
        let event = try events?.next()
        do throws(DecodingFault) {
            let header = try RecordHeader(checking: record.span)
            if header.sequence != sequence {
                note(.record, file, sequence, "the record is another")
            }
            if events != nil { try compare(event, record, header) }
        } catch {
            note(.record, file, sequence, "the record is not whole: \(error.what)")
        }
    }

    /// The records after what was before them make the tree that the checkpoint's begins with.
    private mutating func finishRange() {
        guard let range else { return }
        let proof = ConsistencyProof(
            from: range.end,
            to: checkpoint.size,
            hashes: range.consistency
        )
        guard let edge, edge.size == range.end,
            proof.holds(oldRoot: edge.root, newRoot: checkpoint.root)
        else {
            return note(
                .proof,
                ExportFile.range,
                nil,
                "the records are not those of the checkpoint's tree"
            )
        }
        provenCount = count
    }

    /// Holds an event against what its record says in clear.
    private mutating func compare(
        _ line: [UInt8]?,
        _ record: [UInt8],
        _ header: RecordHeader
    ) throws(DecodingFault) {
        guard let event = line.flatMap({ Self.read($0) }) else {
            return note(.event, ExportFile.events, header.sequence, "there is no event")
        }
        for member in try header.differing(event, record) {
            note(
                .event,
                ExportFile.events,
                header.sequence,
                "\(member) is not as the record says"
            )
        }
    }
}

extension RecordHeader {
    /// The members of an event in which it says otherwise than its record.
    fileprivate func differing(
        _ event: JSONValue,
        _ record: [UInt8]
    ) throws(DecodingFault) -> [String] {
        let kind = try eventKind()
        var opened = OpenedEvent(header: self, kind: kind)
        do {
            try opened.read(record.span, facts) { _ in nil }
        } catch let fault as DecodingFault {
            throw fault
        } catch {
            throw DecodingFault(what: "its facts cannot be read", offset: facts.lowerBound)
        }
        var expected = [
            ("sequence", JSONValue.string(RecordedEvent.padded(sequence))),
            ("type", .string(kind.name)),
            ("time", .instant(Instant(milliseconds: time))),
            ("recordedtime", .instant(Instant(milliseconds: recordedAt))),
            ("environment", .optional(StoreEnvironment(rawValue: environment)?.name)),
        ]
        .filter { event[$0.0] != $0.1 }.map(\.0)
        for (field, value) in opened.values.sorted(by: { $0.key < $1.key })
        where field.placement == .clear && event["data"]?[field.name] != value.json {
            expected.append("data." + field.name)
        }
        return expected
    }
}

extension JSONValue {
    /// A sequence written in decimal.
    fileprivate func sequence(_ name: String) -> UInt64? {
        self[name]?.string.flatMap { UInt64($0) }
    }

    /// Hashes written in base64; nil unless all are.
    fileprivate func digests(_ name: String) -> [EventLog.Digest]? {
        guard let texts = self[name]?.array else { return nil }
        var digests: [EventLog.Digest] = []
        for text in texts {
            guard let digest = text.string.flatMap({ EventLog.Digest(base64: $0) }) else {
                return nil
            }
            digests.append(digest)
        }
        return digests
    }
}
