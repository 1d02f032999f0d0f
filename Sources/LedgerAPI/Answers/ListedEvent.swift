package import Encodings
public import Entitlements

/// An event as answers list it: its CloudEvents form (schemas/event.schema.json).
public struct ListedEvent: Described {
    /// Its id; nil: erased or hidden.
    public var id: String?
    /// Who told it; nil: erased or hidden.
    public var source: String?
    /// Its `type`.
    public var type: String
    /// Whom or what it is about; `erased/NUMBER` or `masked/NUMBER` where nobody is named.
    public var subject: String
    /// When it holds (T1).
    public var time: Instant
    /// Its environment; nil: a later version's.
    public var environment: StoreEnvironment?
    /// Its place in the log.
    public var sequence: UInt64
    /// When it was recorded (T3).
    public var recordedAt: Instant
    /// What it says: the fields of its type, or the document of a catalog.
    package var data: JSONValue

    /// Lists an event.
    package init(
        id: String?,
        source: String?,
        type: String,
        subject: String,
        time: Instant,
        environment: StoreEnvironment?,
        sequence: UInt64,
        recordedAt: Instant,
        data: JSONValue
    ) {
        self.id = id
        self.source = source
        self.type = type
        self.subject = subject
        self.time = time
        self.environment = environment
        self.sequence = sequence
        self.recordedAt = recordedAt
        self.data = data
    }

    /// Its attributes, in the order in which they are written (`EventAttribute`).
    package static let fields = Fields(
        "Event",
        "A CloudEvent",
        { _, id, source, type, subject, time, environment, sequence, recordedAt, data in
            Self(
                id: id,
                source: source,
                type: type,
                subject: subject,
                time: time,
                environment: environment,
                sequence: sequence,
                recordedAt: recordedAt,
                data: data
            )
        }
    ) {
        Field("specversion", \.version, .words([EventAttribute.specificationVersion]))
        Field("id", \.id, .orNull(.identifier))
        Field("source", \.source, .orNull(.identifier))
        Field("type", \.type, .text)
        Field("subject", \.subject, .text)
        Field("time", \.time, .instant)
        Field("environment", \.environment, .orNull(.environment))
        Field("sequence", \.sequence, .padded)
        Field("recordedtime", \.recordedAt, .instant)
        Field("data", \.data, .anything)
    }

    private var version: String { EventAttribute.specificationVersion }

    /// What the ledger learned of well after it held; nil: it came in time.
    package var late: LateFact? {
        LateFact(sequence: sequence, time: time, recordedAt: recordedAt)
    }
}

extension Form<ListedEvent> {
    /// The form that the schema of events describes.
    static var event: Self {
        let object = Self.object
        return Form(.file("event", "A CloudEvent"), write: object.write, reading: object.read)
    }
}

extension Form<UInt64> {
    /// A sequence as text that sorts, as events have it.
    static var padded: Self {
        Form(
            .pattern("^[0-9]{20}$"),
            expected: "20 digits",
            write: { $1.string(RecordedEvent.padded($0)) },
            read: { $0.string.flatMap { UInt64($0) } }
        )
    }
}

extension ListedEvent {
    /// The name of the note by which a customer asks to be erased.
    package static let erasureRequestName = "erasure_requested"

    /// Whether a customer asks by it to be erased (row 9.5).
    package var isErasureRequest: Bool {
        type == EventKind.signalNoted.name && data["name"]?.string == Self.erasureRequestName
    }
}
