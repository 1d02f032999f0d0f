import Encodings
import Entitlements
import EventLog

/// Reads records back as events: unseals ids and looks up names.
struct EventOpener {
    let vault: any VaultReader
    let log: any LogReader

    /// The event of a record; ids and names of erased streams are absent (C6).
    ///
    /// - Throws: `DecodingFault`, `LogStorageFault.damaged`, or what the vault throws.
    func open(_ record: Span<UInt8>) throws -> OpenedEvent {
        let header = try RecordHeader(checking: record)
        let kind = try header.eventKind()
        var opened = OpenedEvent(header: header, kind: kind)
        try opened.read(record, header.facts) { try vault.name(of: $0)?.subject }
        if header.stream == StreamNumber.catalog {
            opened.subject = Subject.catalog.description
            opened.document = try document(of: header)
            return opened
        }
        opened.subject = try vault.name(of: header.stream)?.subject
        if let keys = try vault.keys(of: header.stream) {
            let identity = try identity(of: record, header, keys)
            try opened.read(identity.span, 0..<identity.count) { _ in nil }
        }
        return opened
    }

    /// The catalog that a record attaches, checked against the record's hash.
    func document(of header: RecordHeader) throws -> JSONValue? {
        guard header.attached == .attachment else { return nil }
        guard let attached = try log.attached(at: header.attachedAt),
            header.attachedDigest == TreeHash.attached(attached.span)
        else { throw LogStorageFault(.damaged, "the attachment of \(header.sequence) differs") }
        return try Attachment.document(attached)
    }

    private func identity(
        of record: Span<UInt8>,
        _ header: RecordHeader,
        _ keys: StreamKeys
    ) throws -> [UInt8] {
        guard let identity = header.identity(of: record, keys: keys) else {
            throw LogStorageFault(
                .damaged,
                "the sealed part of record \(header.sequence) does not open"
            )
        }
        return identity
    }

    /// A record's transaction, grant or use id, unsealed; nil if it is erased or has none.
    func id(_ field: Field, of record: Span<UInt8>, _ header: RecordHeader) throws -> String? {
        guard let keys = try vault.keys(of: header.stream) else { return nil }
        let identity = try identity(of: record, header, keys)
        var opened = OpenedEvent(header: header, kind: try header.eventKind())
        try opened.read(identity.span, 0..<identity.count) { _ in nil }
        guard case .text(let id)? = opened.values[field] else { return nil }
        return id
    }
}

/// A record's event with what is still known of it.
struct OpenedEvent {
    var header: RecordHeader
    var kind: EventKind
    var id: String?
    var source: String?
    /// The subject's text form; nil: erased.
    var subject: String?
    var values: [Field: FieldValue] = [:]
    /// Stream fields whose name is erased, and tagged or sealed fields that do not open.
    var erased: Set<Field> = []
    var document: JSONValue?

    init(header: RecordHeader, kind: EventKind) {
        self.header = header
        self.kind = kind
        source = SourceCode.name(of: header.source)
    }

    /// Reads facts, or the sealed part after them, which replaces tags by ids.
    mutating func read(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        name: (UInt64) throws -> String?
    ) throws {
        var reader = FactsReader(range)
        let isFacts = range.lowerBound > 0
        while !reader.isAtEnd {
            let mark = try reader.mark(bytes)
            switch mark {
            case RecordMark.store: _ = try reader.text(bytes)
            case RecordMark.id: id = try reader.text(bytes)
            case RecordMark.source: source = try reader.text(bytes)
            default:
                let field = try FactsReader.field(mark)
                switch field.placement {
                case .stream:
                    var streams: [UInt64] = []
                    try reader.appendStreams(bytes, to: &streams)
                    let names = try streams.map { try Self.bare(name($0), $0) }
                    values[field] =
                        field == .from || field == .erased
                        ? .texts(names) : .text(names.first ?? "")
                case .tagged where isFacts:
                    _ = try reader.number(bytes)
                    erased.insert(field)
                default:
                    values[field] = try reader.value(of: field, bytes)
                    erased.remove(field)
                }
            }
        }
    }

    /// A name without its kind of subject; `erased/NUMBER` for one that is erased (C6).
    private static func bare(_ subject: String?, _ stream: UInt64) -> String {
        guard let subject else { return "erased/\(stream)" }
        guard let slash = subject.utf8.firstIndex(of: UInt8(ascii: "/")) else { return subject }
        return String(subject[subject.utf8.index(after: slash)...])
    }

    /// The event, if nothing of it is erased.
    var recorded: RecordedEvent? {
        guard let id, let source, let subject = subject.flatMap(Subject.init),
            let environment = StoreEnvironment(rawValue: header.environment)
        else { return nil }
        let entries = values.map { EventData.Entry(field: $0.key, value: $0.value) }
        return RecordedEvent(
            sequence: header.sequence,
            recordedAt: Instant(milliseconds: header.recordedAt),
            event: Event(
                id: id,
                source: source,
                subject: subject,
                time: Instant(milliseconds: header.time),
                observedAt: Instant(milliseconds: header.observedAt),
                environment: environment,
                data: EventData(recorded: kind, entries: entries, document: document)
            )
        )
    }
}
