import Encodings
public import Entitlements

/// All stretches of a customer and the events behind them, in both times: `timeline`.
public struct TimelineAnswer: Provable {
    /// Whom and which point it is about.
    public var question: QuestionEcho
    /// The tiers over time (K7).
    public var tiers: [TierStretch]
    /// Why each feature is allowed over time (K5), by feature.
    public var features: [Keyed<[ReasonStretch]>]
    /// What gives access, when.
    public var stretches: [SourceStretch]
    /// The statuses over time (P9), by purchase.
    public var statuses: [Keyed<[StatusStretch]>]
    /// The events behind them, in the order of the log.
    public var events: [ListedEvent]
    /// Those that were recorded well after they held, what only repeats left out.
    public var late: [LateEvent]
    /// What asks again.
    public var token: String?

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Timeline", "A customer over time", Self.init) {
        Field(inline: \.question)
        Field("tiers", \.tiers, .list(.object))
        Field("features", \.features, .map(.list(.object)), "Why each is allowed")
        Field("stretches", \.stretches, .list(.object), "What gives access, when")
        Field("statuses", \.statuses, .map(.list(.object)), "By purchase")
        Field("events", \.events, .list(.event))
        Field(
            "late",
            \.late,
            .list(.object),
            "Events that were recorded more than a day after they held, what only repeats left out"
        )
        Field("token", \.token, .token).echoed
    }
}

extension TimelineAnswer {
    /// An answer, whose token is made of its text.
    ///
    /// `statuses`: of each purchase that is owned at some time, by its number. `rules`: by which it is
    /// made (`RulesVersion`).
    package init(
        _ question: QuestionEcho,
        _ timeline: CustomerTimeline,
        statuses: [(purchase: UInt64, stretches: [NamedStretch])],
        events: [ListedEvent],
        rules: UInt16,
        names: some AnswerNames
    ) throws {
        self.init(
            question: question,
            tiers: timeline.tierStretches.map { TierStretch($0) },
            features: timeline.featureStretches.map {
                Keyed($0.feature, $0.stretches.compactMap { ReasonStretch($0) })
            },
            stretches: try timeline.stretches.map { try SourceStretch($0, names) },
            statuses: try statuses.map {
                Keyed(
                    try names.purchaseName($0.purchase),
                    $0.stretches.compactMap { StatusStretch($0) }
                )
            }
            .sorted { $0.name.precedes($1.name) },
            events: events,
            late: LateEvent.all(among: events, rules: rules),
            token: nil
        )
    }
}

/// A stretch of one tier.
public struct TierStretch: Described {
    /// The tier.
    public var value: String
    /// Its first instant.
    public var start: Instant
    /// The first instant after it; nil: it does not end.
    public var end: Instant?

    /// Its members, in the order in which they are written.
    package static let fields = Fields("TierStretch", "A stretch of one tier", Self.init) {
        Field("value", \.value, .name)
        Field("from", \.start, .instant)
        Field("to", \.end, .orNull(.instant))
    }
}

/// A stretch in which a feature is allowed for one reason, or not.
public struct ReasonStretch: Described {
    /// The reason.
    public var value: AccessReason
    /// Its first instant.
    public var start: Instant
    /// The first instant after it; nil: it does not end.
    public var end: Instant?

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ReasonStretch", "A stretch of one reason", Self.init) {
        Field("value", \.value, .word)
        Field("from", \.start, .instant)
        Field("to", \.end, .orNull(.instant))
    }
}

/// A stretch in which a purchase has one status.
public struct StatusStretch: Described {
    /// The status.
    public var value: PurchaseStatus
    /// Its first instant.
    public var start: Instant
    /// The first instant after it; nil: it does not end.
    public var end: Instant?

    /// Its members, in the order in which they are written.
    package static let fields = Fields("StatusStretch", "A stretch of one status", Self.init) {
        Field("value", \.value, .word)
        Field("from", \.start, .instant)
        Field("to", \.end, .orNull(.instant))
    }
}

/// A stretch in which something gives access.
public struct SourceStretch: Described {
    /// `STORE/ORIGINAL_ID`, `grant/ID` or `trial/ID`.
    public var source: String
    /// The product of a purchase.
    public var productID: String?
    /// Its first instant.
    public var start: Instant
    /// The first instant after it; nil: it does not end.
    public var end: Instant?

    /// Its members, in the order in which they are written.
    package static let fields = Fields("SourceStretch", "What gives access, when", Self.init) {
        Field("source", \.source, .source)
        Field("productId", \.productID, .orNull(.name))
        Field("from", \.start, .instant)
        Field("to", \.end, .orNull(.instant))
    }
}

/// An event that was recorded well after it held.
public struct LateEvent: Described {
    /// Its place in the log.
    public var sequence: UInt64
    /// From the effective to the recorded time.
    public var seconds: Int64

    /// Its members, in the order in which they are written.
    package static let fields = Fields("LateEvent", "What was learned of late", Self.init) {
        Field("sequence", \.sequence, .count)
        Field("seconds", \.seconds, .count, "From the effective to the recorded time")
    }
}

extension LateEvent {
    /// Those of some events, in the order of the log, that were recorded well after they held.
    ///
    /// Stores tell most things again with each message: what says the same as the last that was said of it is no
    /// news, and was learned with the first that said so (T4).
    fileprivate static func all(
        among events: [ListedEvent],
        rules: UInt16
    ) -> [LateEvent] {
        var said: [ListedEvent.Topic: ListedEvent.Content] = [:]
        return events.compactMap { event in
            let content = event.content
            let before = said.updateValue(content, forKey: event.topic)
            let isNews = before != content || rules < RulesVersion.ofNews
            guard isNews, let fact = event.late else { return nil }
            return LateEvent(sequence: event.sequence, seconds: fact.delayMilliseconds / 1000)
        }
    }
}

extension ListedEvent {
    /// What an event speaks of: the next one about the same says it again, or otherwise.
    fileprivate struct Topic: Hashable {
        let kind: Name
        let subject: Name
        let time: Instant
        let transactionID: JSONValue?
    }

    /// What it says of that, whoever says it, and when.
    fileprivate struct Content: Equatable {
        let isFailure: Bool
        let members: [JSONMember]
    }

    /// Members of `data` that tell by whom and when it is said.
    private static let circumstances: Set<Name> = [
        Name(Event.observedAtName), Name(Entitlements.Field.method.name),
    ]

    /// A period is one, be it bought or renewed (P1), and verdicts on it are about one thing (P7).
    fileprivate var topic: Topic {
        let kind =
            switch EventKind(name: type) {
            case .purchaseRenewed?: EventKind.purchaseCompleted.name
            case .verificationFailed?: EventKind.verificationPassed.name
            default: type
            }
        return Topic(
            kind: Name(kind),
            subject: Name(subject),
            time: time,
            transactionID: data[Entitlements.Field.transactionID.name]
        )
    }

    fileprivate var content: Content {
        Content(
            isFailure: type == EventKind.verificationFailed.name,
            members: (data.members ?? []).filter { !Self.circumstances.contains($0.name) }
        )
    }
}

extension TierStretch {
    fileprivate init(_ stretch: NamedStretch) {
        self.init(
            value: stretch.value,
            start: stretch.interval.start,
            end: stretch.interval.end
        )
    }
}

extension ReasonStretch {
    /// Nil for what is no reason.
    fileprivate init?(_ stretch: NamedStretch) {
        guard let reason = AccessReason(rawValue: stretch.value) else { return nil }
        self.init(value: reason, start: stretch.interval.start, end: stretch.interval.end)
    }
}

extension StatusStretch {
    /// Nil for what is no status.
    fileprivate init?(_ stretch: NamedStretch) {
        guard let status = PurchaseStatus(rawValue: stretch.value) else { return nil }
        self.init(value: status, start: stretch.interval.start, end: stretch.interval.end)
    }
}

extension SourceStretch {
    fileprivate init(_ stretch: AccessStretch, _ names: some AnswerNames) throws {
        var productID: String?
        if case .product(let right) = stretch.right { productID = right.productID }
        self.init(
            source: try stretch.source.name(names),
            productID: productID,
            start: stretch.interval.start,
            end: stretch.interval.end
        )
    }
}
