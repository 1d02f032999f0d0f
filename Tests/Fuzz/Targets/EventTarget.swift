import Encodings
import Entitlements
import ModelSupport

/// A line of events, as they are imported.
struct EventTarget: MutatingFuzzTarget {
    private let events: [JSONValue]
    let mutation: JSONMutation

    /// Histories to take the samples from.
    private static let histories: Range<UInt64> = 1..<30

    init() {
        var samples: [EventKind: JSONValue] = [:]
        for seed in Self.histories {
            for recorded in RandomHistory(seed: seed).log {
                samples[recorded.event.kind] = recorded.json
            }
        }
        events = EventKind.allCases.compactMap { samples[$0] }
        mutation = JSONMutation(
            wordsOf: events,
            and: .object(
                Field.allCases.map { JSONMember($0.name, .array([])) } + [
                    JSONMember("type", .strings(EventKind.allCases.map(\.name))),
                    JSONMember("subject", .strings(Self.subjects)),
                    JSONMember("time", .strings(Self.times)),
                    JSONMember("observedAt", .strings(Self.times)),
                    JSONMember("environment", "local"), JSONMember("datacontenttype", "x"),
                    JSONMember("currencyCode", "EUR"),
                ]
            )
        )
    }

    private static let subjects = [
        "store/app_store", "catalog", "customer/\u{212B}", "customer/a/b", "purchase/app_store/1/2",
    ]
    private static let times = [
        "2000-01-01T00:00:00.000Z", "2199-12-31t23:59:59.999999999-23:59",
        "2026-02-29T00:00:00Z", "2024-02-29T23:59:60Z",
    ]

    func seeds() -> [[UInt8]] { events.map { Array($0.description.utf8) } }

    func run(_ input: [UInt8]) {
        guard let json = try? JSONValue(parsing: input),
            let event = try? Event(validating: json)
        else { return }
        event.demandRoundTrip()
        demand(Subject(event.subject.description) == event.subject, "a subject has a name")
        demand(event.time.isPlausible && event.observedAt.isPlausible, "times are within bounds")
        demand(Instant(rfc3339: event.time.description) == event.time, "a time has a text")
        if let catalog = event.data.document { _ = try? Catalog(document: catalog) }
        PlantedFault.strike(
            event.kind.name.hasPrefix("grant.") && event.environment == .local
        )
    }
}
