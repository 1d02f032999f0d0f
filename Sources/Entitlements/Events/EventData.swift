public import Encodings

/// A value of a field.
public enum FieldValue: Hashable, Sendable {
    /// Identifiers, names, texts, choices, currencies, customer ids and purchase names.
    case text(String)
    case integer(Int64)
    case instant(Instant)
    case flag(Bool)
    case texts([String])
    /// Names to milliseconds, in the order of the names.
    case durations([Duration])

    /// Texts are equal where their bytes are: ids are among them.
    public static func == (left: FieldValue, right: FieldValue) -> Bool {
        switch (left, right) {
        case (.text(let text), .text(let other)): text.isSame(as: other)
        case (.texts(let texts), .texts(let others)):
            texts.map { Name($0) } == others.map { Name($0) }
        case (.integer(let integer), .integer(let other)): integer == other
        case (.instant(let instant), .instant(let other)): instant == other
        case (.flag(let flag), .flag(let other)): flag == other
        case (.durations(let durations), .durations(let others)): durations == others
        default: false
        }
    }

    /// The milliseconds of one stage.
    public struct Duration: Hashable, Sendable {
        /// The stage's name.
        @Bytewise public var name: String
        /// How long it took.
        public var milliseconds: Int64

        /// Makes a duration.
        public init(name: String, milliseconds: Int64) {
            self.name = name
            self.milliseconds = milliseconds
        }
    }
}

/// What an event says: its kind and the values of its fields, in the order of `Field`.
public struct EventData: Hashable, Sendable {
    /// The kind of event.
    public var kind: EventKind
    /// The values that are there, ascending by field, `observedAt` and the catalog apart.
    public private(set) var entries: [Entry]
    /// The catalog document of `catalog.published`.
    public var document: JSONValue?

    /// A field and its value.
    public struct Entry: Hashable, Sendable {
        /// Which field.
        public var field: Field
        /// Its value, in the field's shape.
        public var value: FieldValue

        /// Makes an entry.
        public init(field: Field, value: FieldValue) {
            self.field = field
            self.value = value
        }
    }

    /// Makes data of entries whose values fit their fields; `Event.validate` checks what comes
    /// from outside.
    public init(_ kind: EventKind, _ values: KeyValuePairs<Field, FieldValue?> = [:]) {
        self.kind = kind
        let entries = values.compactMap { field, value in
            value.map { Entry(field: field, value: $0) }
        }
        self.entries = Self.inOrder(entries)
    }

    init(kind: EventKind, entries: [Entry], document: JSONValue? = nil) {
        self.kind = kind
        self.entries = Self.inOrder(entries)
        self.document = document
    }

    /// Entries by their fields; most are so already.
    private static func inOrder(_ entries: [Entry]) -> [Entry] {
        for (place, entry) in entries.enumerated().dropFirst()
        where entry.field < entries[place - 1].field {
            return entries.sorted { $0.field < $1.field }
        }
        return entries
    }

    /// Makes data of entries read back from a record.
    package init(recorded kind: EventKind, entries: [Entry], document: JSONValue?) {
        self.init(kind: kind, entries: entries, document: document)
    }

    /// The value of a field, nil where it is absent.
    public subscript(field: Field) -> FieldValue? {
        entries.first { $0.field == field }?.value
    }

    /// The text of a field.
    public func text(_ field: Field) -> String? {
        guard case .text(let text) = self[field] else { return nil }
        return text
    }

    /// The instant of a field.
    public func instant(_ field: Field) -> Instant? {
        guard case .instant(let instant) = self[field] else { return nil }
        return instant
    }

    /// The integer of a field.
    public func integer(_ field: Field) -> Int64? {
        guard case .integer(let integer) = self[field] else { return nil }
        return integer
    }

    /// The truth value of a field.
    public func flag(_ field: Field) -> Bool? {
        guard case .flag(let flag) = self[field] else { return nil }
        return flag
    }

    /// The texts of a field.
    public func texts(_ field: Field) -> [String]? {
        guard case .texts(let texts) = self[field] else { return nil }
        return texts
    }
}
