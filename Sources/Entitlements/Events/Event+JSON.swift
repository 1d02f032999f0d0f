public import Encodings

extension Event {
    /// Reads the CloudEvents 1.0 form and checks it against the tables (Model, "Events").
    ///
    /// `sequence` and `recordedtime` are allowed and passed over: the ledger sets them.
    /// - Throws: `InputFault` with the field's path.
    public init(validating json: JSONValue) throws(InputFault) {
        guard case .object(let members) = json else {
            throw InputFault(.malformed, "", "expected a JSON object")
        }
        for member in members where !Self.isAttribute(member.name) {
            throw InputFault(.unknownField, member.name, "not an attribute of an event")
        }
        guard json["specversion"]?.string == "1.0" else {
            throw InputFault(.invalidValue, "specversion", "expected \"1.0\"")
        }
        let kind = try Self.kind(json)
        let subject = try Self.subject(json, of: kind)
        let stated = try Self.required("time", json)
        let id = try Self.identifier("id", json)
        let source = try Self.identifier("source", json)
        let time = try Instant.event(stated, path: "time")
        let environment = try Self.environment(json)
        let (data, observedAt) = try Self.data(json, kind, subject.kind, time: time)
        self.init(
            id: id,
            source: source,
            subject: subject,
            time: time,
            observedAt: observedAt,
            environment: environment,
            data: data
        )
    }

    private static func isAttribute(_ name: String) -> Bool {
        switch name {
        case "specversion", "id", "source", "type", "subject", "time", "data", "environment",
            "sequence", "recordedtime", "datacontenttype":
            true
        default: false
        }
    }

    private static func required(_ name: String, _ json: JSONValue) throws(InputFault) -> JSONValue
    {
        guard let value = json[name] else {
            throw InputFault(.missingField, name, "required")
        }
        return value
    }

    private static func identifier(_ name: String, _ json: JSONValue) throws(InputFault) -> String {
        guard let text = try required(name, json).string, Identifier.isValid(text) else {
            throw InputFault(
                .invalidValue,
                name,
                "expected 1 to \(Identifier.byteLimit) bytes of text without control characters"
            )
        }
        return text
    }

    private static func kind(_ json: JSONValue) throws(InputFault) -> EventKind {
        guard let name = try required("type", json).string, let kind = EventKind(name: name) else {
            throw InputFault(.unknownType, "type", "not a type that this version knows")
        }
        return kind
    }

    private static func subject(
        _ json: JSONValue,
        of kind: EventKind
    ) throws(InputFault) -> Subject {
        guard let text = try required("subject", json).string, let subject = Subject(text) else {
            throw InputFault(
                .invalidValue,
                "subject",
                "expected purchase/STORE/ID, customer/ID, store/STORE or catalog"
            )
        }
        guard kind.shape.subjects.contains(subject.kind) else {
            let expected = kind.shape.subjects.map(\.rawValue).joined(separator: " or ")
            throw InputFault(.wrongSubject, "subject", "\(kind.name) speaks about a \(expected)")
        }
        return subject
    }

    private static func environment(_ json: JSONValue) throws(InputFault) -> StoreEnvironment {
        guard let value = json["environment"] else { return .production }
        guard let name = value.string, let environment = StoreEnvironment(name: name) else {
            throw InputFault(
                .invalidValue,
                "environment",
                "expected production, sandbox or local"
            )
        }
        return environment
    }

    fileprivate static func data(
        _ json: JSONValue,
        _ kind: EventKind,
        _ subject: Subject.Kind,
        time: Instant
    ) throws(InputFault) -> (EventData, observedAt: Instant) {
        let value = json["data"] ?? .object([])
        guard case .object(let members) = value else {
            throw InputFault(.invalidValue, "data", "expected an object")
        }
        let observedAt = try value["observedAt"].map { json throws(InputFault) in
            try Instant.event(json, path: "data.observedAt")
        }
        if kind == .catalogPublished {
            let document = JSONValue.object(members.filter { $0.name != "observedAt" })
            return (EventData(kind: kind, entries: [], document: document), observedAt ?? time)
        }
        let shape = kind.shape
        var entries: [EventData.Entry] = []
        for member in members where member.name != "observedAt" {
            guard let field = Field(name: member.name),
                shape.required.contains(field) || shape.optional.contains(field)
            else {
                throw InputFault(
                    .unknownField,
                    "data." + member.name,
                    "not a field of \(kind.name)"
                )
            }
            let value = try field.value(from: member.value, subject: subject)
            entries.append(EventData.Entry(field: field, value: value))
        }
        let data = EventData(kind: kind, entries: entries)
        for field in shape.required where data[field] == nil {
            throw InputFault(.missingField, "data." + field.name, "required for \(kind.name)")
        }
        return (data, observedAt ?? time)
    }
}

extension EventData {
    /// Reads the fields of a kind, as they stand in the `data` of its CloudEvents form.
    ///
    /// `subject`: whom the event is about.
    ///
    /// - Throws: `InputFault` with the path `data.NAME`.
    public init(
        _ kind: EventKind,
        validating json: JSONValue,
        of subject: Subject.Kind
    ) throws(InputFault) {
        self = try Event.data(.members(["data": json]), kind, subject, time: .earliest).0
    }
}

extension Event {
    /// The `data` member: the fields in the table's order, `observedAt` last where it differs
    /// from `time`.
    public var dataJSON: JSONValue {
        var members =
            data.document?.members
            ?? data.entries.map {
                JSONMember($0.field.name, $0.value.json)
            }
        if observedAt != time { members.append(JSONMember("observedAt", .instant(observedAt))) }
        return .object(members)
    }
}

extension RecordedEvent {
    /// CloudEvents' `sequence` extension is sortable text: 20 digits.
    public static func padded(_ sequence: UInt64) -> String {
        let digits = String(sequence)
        return String(repeating: "0", count: 20 - digits.utf8.count) + digits
    }

    /// The CloudEvents form with the ledger's extensions.
    public var json: JSONValue {
        .members([
            "specversion": "1.0", "id": .string(event.id), "source": .string(event.source),
            "type": .string(event.kind.name), "subject": .string(event.subject.description),
            "time": .instant(event.time), "environment": .string(event.environment.name),
            "sequence": .string(Self.padded(sequence)), "recordedtime": .instant(recordedAt),
            "data": event.dataJSON,
        ])
    }
}
