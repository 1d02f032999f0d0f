import Crypto
import Encodings
import Entitlements
import ModelSupport

/// A question about one feature of a history, and what is said of it.
struct ExplainedQuestion {
    let log: [RecordedEvent]
    let customer: CustomerID
    let environment: StoreEnvironment
    let at: Instant
    let feature: String
    let interned: InternedHistory
    /// Nil: no catalog ever listed the feature.
    var explanation: Explanation?
    /// What the slow model says of the feature, with the whole log.
    private(set) var expected: JSONValue?
    /// Whether what is said to change the decision is tried, too, which takes some answers more.
    var isThorough = true

    init(
        log: [RecordedEvent],
        customer: CustomerID,
        environment: StoreEnvironment = .production,
        at: Instant,
        feature: String
    ) {
        self.log = log
        self.customer = customer
        self.environment = environment
        self.at = at
        self.feature = feature
        var interned = InternedHistory(log: log, environment: environment)
        let number = interned.number(Subject.customer(customer).description)
        self.interned = interned
        let canonical = Links(interned.facts, of: .customerLinked).canonical(number)
        let name = String(interned.names[Int(canonical)].dropFirst("customer/".count))
        let explainer = Explainer(
            of: number,
            facts: interned.facts,
            names: interned.texts.names,
            catalogs: interned.catalogs,
            position: { experiment in
                SHA256.hash(data: Array(experiment.utf8) + [0] + Array(name.utf8))
                    .prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            }
        )
        explanation = explainer.explanation(
            of: feature,
            at: at,
            in: explainer.timeline.state(at: at)
        )
        expected = slow(log)
    }

    /// What the slow model says of the feature; nil: the catalog in force does not list it.
    func slow(_ log: [RecordedEvent], at instant: Instant? = nil) -> JSONValue? {
        SlowModel(log: log).show(
            customer: customer.text,
            environment: environment,
            at: instant ?? at
        )["features"]?[feature]
    }

    func isAllowed(_ log: [RecordedEvent], at instant: Instant? = nil) -> Bool {
        slow(log, at: instant)?["allowed"]?.bool ?? false
    }

    /// The log with events at the end that are told now.
    func log(adding events: [Event]) -> [RecordedEvent] {
        log
            + events.enumerated().map { place, event in
                RecordedEvent(
                    sequence: UInt64(log.count + place),
                    recordedAt: log.last?.recordedAt ?? at,
                    event: event
                )
            }
    }

    /// An event at T.
    func event(_ subject: Subject, _ data: EventData) -> Event {
        Event(
            id: "added",
            source: Source.support,
            subject: subject,
            time: at,
            // Newer than whatever is said of a transaction.
            observedAt: Instant.latest,
            environment: environment,
            data: data
        )
    }
}
