public import Encodings

extension Event {
    /// Reads the CloudEvents 1.0 form and checks it against the tables (Model, "Events").
    ///
    /// `sequence` and `recordedtime` are allowed and passed over: the ledger sets them.
    /// - Throws: `InputFault` with the field's path.
    public init(validating json: JSONValue) throws(InputFault) {
        let text = JSONText(json)
        try self.init(EventAttributes(of: text), in: text)
    }

    /// Reads the same of a text whose attributes are known, straight into the event.
    ///
    /// - Throws: `InputFault` with the field's path.
    package init(_ attributes: EventAttributes, in text: JSONText) throws(InputFault) {
        guard let version = attributes[.specversion],
            text.index(version, in: EventAttributes.versions) != nil
        else {
            let version = EventAttribute.specificationVersion
            throw InputFault(.invalidValue, "specversion", "expected \"\(version)\"")
        }
        let kind = try attributes.kind(in: text)
        let subject = try attributes.subject(of: kind, in: text)
        let stated = try attributes.value(of: .time)
        let id = try attributes.identifier(.id, in: text)
        let source = try attributes.identifier(.source, in: text)
        let time = try Instant.event(stated, of: text, path: "time")
        let environment = try attributes.environment(in: text)
        let (data, observedAt) = try EventData.reading(
            attributes.value(of: .data),
            of: text,
            kind,
            subject.kind,
            time: time
        )
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
        self = try Self.reading(
            JSONText.root,
            of: JSONText(json),
            kind,
            subject,
            time: .earliest
        ).data
    }

    /// What in it is not of its field's shape, as where it is read from JSON; nil: nothing.
    ///
    /// Cost: as reading it.
    package func fault(of subject: Subject.Kind) -> InputFault? {
        let members = entries.map { JSONMember($0.field.name, $0.value.json) }
        do throws(InputFault) {
            _ = try EventData(kind, validating: .object(members), of: subject)
            return nil
        } catch {
            return error
        }
    }

    /// `node`: the fields' object; nil: there are none.
    fileprivate static func reading(
        _ node: Int?,
        of text: JSONText,
        _ kind: EventKind,
        _ subject: Subject.Kind,
        time: Instant
    ) throws(InputFault) -> (data: EventData, observedAt: Instant) {
        guard let count = node.map(text.memberCount) ?? 0 else {
            throw InputFault(.invalidValue, "data", "expected an object")
        }
        let members = JSONMembers(of: node ?? JSONText.root, count)
        let observedAt = try observedAt(members, in: text) ?? time
        if kind == .catalogPublished {
            let document = node.map(text.value)?.members ?? []
            let members = document.filter { !$0.name.isSame(as: Event.observedAtName) }
            return (EventData(kind: kind, entries: [], document: .object(members)), observedAt)
        }
        var entries: [EventData.Entry] = []
        entries.reserveCapacity(count)
        var rest = members
        while let (name, value) = rest.next(in: text) {
            if text.index(name, in: observedAtNames) != nil { continue }
            guard let field = Field(name, of: text), kind.mayHave(field) else {
                let path = "data." + (text.string(name) ?? "")
                throw InputFault(.unknownField, path, "not a field of \(kind.name)")
            }
            let value = try field.value(value, of: text, kind, subject: subject)
            entries.append(EventData.Entry(field: field, value: value))
        }
        let data = EventData(kind: kind, entries: entries)
        if let field = kind.missing(in: data) {
            throw InputFault(.missingField, "data." + field.name, "required for \(kind.name)")
        }
        return (data, observedAt)
    }

    /// When the source made the statement, as the member that every kind may have says it.
    private static func observedAt(
        _ members: JSONMembers,
        in text: JSONText
    ) throws(InputFault) -> Instant? {
        var members = members
        while let (name, value) = members.next(in: text) {
            guard text.index(name, in: observedAtNames) != nil else { continue }
            return try Instant.event(value, of: text, path: "data." + Event.observedAtName)
        }
        return nil
    }

    private static let observedAtNames = WordList([Event.observedAtName])
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
