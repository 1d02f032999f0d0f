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
        for member in members where EventAttribute(rawValue: member.name)?.isRead != true {
            throw InputFault(.unknownField, member.name, "not an attribute of an event")
        }
        let version = EventAttribute.specificationVersion
        guard json[EventAttribute.specversion.rawValue]?.string == version else {
            throw InputFault(.invalidValue, "specversion", "expected \"\(version)\"")
        }
        let kind = try Self.kind(json)
        let subject = try Self.subject(json, of: kind)
        let stated = try Self.value(of: .time, json)
        let id = try Self.identifier(.id, json)
        let source = try Self.identifier(.source, json)
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

    /// The value of an attribute; nil where it is absent and may be.
    private static func value(
        of attribute: EventAttribute,
        _ json: JSONValue
    ) throws(InputFault) -> JSONValue? {
        let value = json[attribute.rawValue]
        guard value != nil || !attribute.isRequired else {
            throw InputFault(.missingField, attribute.rawValue, "required")
        }
        return value
    }

    private static func identifier(
        _ attribute: EventAttribute,
        _ json: JSONValue
    ) throws(InputFault) -> String {
        guard let text = try value(of: attribute, json)?.string, Identifier.isValid(text) else {
            throw InputFault(
                .invalidValue,
                attribute.rawValue,
                "expected 1 to \(Identifier.byteLimit) bytes of text without control characters"
            )
        }
        return text
    }

    private static func kind(_ json: JSONValue) throws(InputFault) -> EventKind {
        guard let name = try value(of: .type, json)?.string, let kind = EventKind(name: name) else {
            throw InputFault(.unknownType, "type", "not a type that this version knows")
        }
        return kind
    }

    private static func subject(
        _ json: JSONValue,
        of kind: EventKind
    ) throws(InputFault) -> Subject {
        guard let text = try value(of: .subject, json)?.string, let subject = Subject(text) else {
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
        guard let value = try value(of: .environment, json) else { return .production }
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
        let value = try value(of: .data, json) ?? .object([])
        guard case .object(let members) = value else {
            throw InputFault(.invalidValue, "data", "expected an object")
        }
        let observedAt = try value[Self.observedAtName].map { json throws(InputFault) in
            try Instant.event(json, path: "data." + Self.observedAtName)
        }
        if kind == .catalogPublished {
            let document = JSONValue.object(members.filter { $0.name != Self.observedAtName })
            return (EventData(kind: kind, entries: [], document: document), observedAt ?? time)
        }
        let shape = kind.shape
        var entries: [EventData.Entry] = []
        for member in members where member.name != Self.observedAtName {
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
    /// The member of `data` that every kind may have, beside its fields (T2).
    package static let observedAtName = "observedAt"

    /// The `data` member: the fields in the table's order, `observedAt` last where it differs
    /// from `time`.
    package var dataJSON: JSONValue {
        var members =
            data.document?.members
            ?? data.entries.map {
                JSONMember($0.field.name, $0.value.json)
            }
        if observedAt != time {
            members.append(JSONMember(Self.observedAtName, .instant(observedAt)))
        }
        return .object(members)
    }
}

extension RecordedEvent {
    /// CloudEvents' `sequence` extension is sortable text: 20 digits.
    package static func padded(_ sequence: UInt64) -> String {
        let digits = String(sequence)
        return String(repeating: "0", count: 20 - digits.utf8.count) + digits
    }

    /// The CloudEvents form with the ledger's extensions.
    package var json: JSONValue {
        .object(
            EventAttribute.allCases.compactMap { attribute in
                value(of: attribute).map { JSONMember(attribute.rawValue, $0) }
            }
        )
    }

    private func value(of attribute: EventAttribute) -> JSONValue? {
        switch attribute {
        case .specversion: .string(EventAttribute.specificationVersion)
        case .id: .string(event.id)
        case .source: .string(event.source)
        case .type: .string(event.kind.name)
        case .subject: .string(event.subject.description)
        case .time: .instant(event.time)
        case .environment: .string(event.environment.name)
        case .sequence: .string(Self.padded(sequence))
        case .recordedtime: .instant(recordedAt)
        case .data: event.dataJSON
        case .datacontenttype, .evidence: nil
        }
    }
}
