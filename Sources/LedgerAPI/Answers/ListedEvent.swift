public import Encodings
public import Entitlements

/// An event as answers list it: in CloudEvents form (schemas/event.schema.json), with what lists
/// and drawings show of it.
public struct ListedEvent: Hashable, Sendable {
    /// Its place in the log.
    public let sequence: UInt64
    /// Its `type`.
    public let type: String
    /// When it holds (T1).
    public let time: Instant
    /// When it was recorded (T3).
    public let recordedAt: Instant
    /// The whole event, or what of it is drawn.
    public private(set) var json: JSONValue

    /// Reads an event; nil for what is none.
    package init?(_ json: JSONValue) {
        func instant(_ name: String) -> Instant? {
            json[name]?.string.flatMap { Instant(rfc3339: $0) }
        }
        guard let sequence = json["sequence"]?.string.flatMap({ UInt64($0) }),
            let type = json["type"]?.string, let time = instant("time"),
            let recordedAt = instant("recordedtime")
        else { return nil }
        self.sequence = sequence
        self.type = type
        self.time = time
        self.recordedAt = recordedAt
        self.json = json
    }

    /// Who told it; nil: erased.
    public var source: String? { json["source"]?.string }

    /// What the ledger learned of well after it held; nil: it came in time.
    public var late: LateFact? {
        LateFact(sequence: sequence, time: time, recordedAt: recordedAt)
    }

    /// What of the event is drawn.
    public var mark: ListedEvent {
        var mark = self
        mark.json = .object(
            ["sequence", "type", "time", "recordedtime"].map {
                JSONMember($0, json[$0] ?? .null)
            }
        )
        return mark
    }
}

extension Form<ListedEvent> {
    static var event: Self {
        Form(
            .file("event", "A CloudEvent"),
            expected: "an event",
            write: { $1.value($0.json) },
            read: { ListedEvent($0) }
        )
    }
}
