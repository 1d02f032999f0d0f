import Encodings
import Entitlements
import Testing

/// A history written as lines, one event a line, in the order of the log.
///
/// A line is `SUBJECT KIND TIME[~OBSERVED] field=value …`. Times are days of
/// January 2026 as decimals: `31.5` is noon of the 31st.
///
/// A subject is `STORE/ID`, `@CUSTOMER` or `catalog`. Short kinds: `buy` and `renew`
/// (`TIME TRANSACTION PRODUCT [END]`), `ok` and `bad` (verdicts), `claim` and `release`
/// (`TIME PURCHASE`). `catalog TIME member=JSON …` replaces members of the base document. The line
/// `start` is ann's verified purchase of product m, days 1 to 31.
struct Story {
    private(set) var log: [RecordedEvent] = []

    init(_ text: String) throws {
        for line in text.split(separator: "\n") {
            let lines = line == "start" ? Self.start : [String(line)]
            for line in lines {
                let event = try Self.event(line.split(separator: " ").map(String.init), log.count)
                log.append(
                    RecordedEvent(
                        sequence: UInt64(log.count),
                        recordedAt: event.time,
                        event: event
                    )
                )
            }
        }
    }

    private static let start = [
        "catalog 1", "app_store/1 buy 1 t1 m 31", "app_store/1 ok 1", "@ann claim 1 app_store/1",
    ]

    private static let usualKinds = [
        "m": "auto_renewable", "y": "auto_renewable", "life": "non_consumable",
        "coins": "consumable", "pass": "non_renewing",
    ]

    static let base = """
        {"tiers":["free","plus","pro"],
         "features":[{"id":"open","level":"free"},{"id":"f1","level":"plus"},
                     {"id":"f2","level":"pro"},{"id":"f3"}],
         "products":[{"id":"m","kind":"auto_renewable","unlocks":{"tier":"plus"}},
                     {"id":"y","kind":"auto_renewable","unlocks":{"all":true}},
                     {"id":"life","kind":"non_consumable","unlocks":{"features":["f1"]}},
                     {"id":"coins","kind":"consumable","unlocks":{"tier":"pro"}},
                     {"id":"pass","kind":"non_renewing","unlocks":{"tier":"pro"}}],
         "trials":[{"id":"week","days":7,"tier":"pro"}]}
        """

    /// The instant of a day of January 2026, counted on beyond the month.
    static func day(_ text: String) throws -> Instant {
        let days = try #require(Double(text), "a day: \(text)")
        return Instant(milliseconds: 1_767_139_200_000 + Int64((days * 86_400_000).rounded()))
    }

    static func text(ofDay instant: Instant) -> String {
        let days = Double(instant.milliseconds - 1_767_139_200_000) / 86_400_000
        return days == days.rounded() ? String(Int(days)) : String(days)
    }

    private static func event(_ words: [String], _ index: Int) throws -> Event {
        if words[0] == "catalog" { return try catalog(words, index) }
        let subject = try #require(
            Subject(
                words[0].hasPrefix("@")
                    ? "customer/" + words[0].dropFirst() : "purchase/" + words[0]
            )
        )
        var fields = words.dropFirst(3).filter { $0.contains("=") }
        let plain = words.dropFirst(3).filter { !$0.contains("=") }
        let name: String
        switch words[1] {
        case "buy", "renew":
            name = words[1] == "buy" ? "purchase.completed" : "purchase.renewed"
            let product = plain[1]
            fields += ["transactionId=" + plain[0], "productId=" + product]
            if !fields.contains(where: { $0.hasPrefix("productKind") }) {
                fields.append("productKind=" + (usualKinds[product] ?? "auto_renewable"))
            }
            if plain.count > 2 { fields.append("expiresAt=" + plain[2]) }
        case "ok", "bad":
            name = words[1] == "ok" ? "verification.passed" : "verification.failed"
            fields.append("method=manual")
        case "claim", "release":
            name = words[1] == "claim" ? "customer.claimed" : "customer.released"
            fields.append("purchase=" + plain[0])
        default: name = words[1]
        }
        let kind = try #require(EventKind(name: name), "a kind: \(name)")
        return try made(index, subject, words[2], try data(kind, fields), fields)
    }

    private static func made(
        _ index: Int,
        _ subject: Subject,
        _ time: String,
        _ data: EventData,
        _ fields: [String]
    ) throws -> Event {
        let times = try time.split(separator: "~").map { try day(String($0)) }
        return Event(
            id: "e\(index)",
            source: Source.support,
            subject: subject,
            time: times[0],
            observedAt: times.last,
            environment: fields.contains("environment=sandbox") ? .sandbox : .production,
            data: data
        )
    }

    private static func data(_ kind: EventKind, _ fields: [String]) throws -> EventData {
        var values: [EventData] = []
        for field in fields where !field.hasPrefix("environment=") {
            let parts = field.split(separator: "=", maxSplits: 1).map(String.init)
            let name = try #require(Field(name: parts[0]), "a field: \(parts[0])")
            let value: FieldValue
            switch name.shape {
            case .instant: value = .instant(try day(parts[1]))
            case .integer: value = .integer(try #require(Int64(parts[1])))
            case .flag: value = .flag(parts[1] == "true")
            case .customers, .names:
                value = .texts(parts[1].split(separator: ",").map(String.init))
            default: value = .text(parts[1])
            }
            values.append(EventData(kind, [name: value]))
        }
        return EventData(recorded: kind, entries: values.flatMap(\.entries), document: nil)
    }

    private static func catalog(_ words: [String], _ index: Int) throws -> Event {
        var members = try JSONValue(parsing: Array(base.utf8)).members ?? []
        for word in words.dropFirst(2) where !word.hasPrefix("environment=") {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            members.removeAll { $0.name == parts[0] }
            members.append(JSONMember(parts[0], try JSONValue(parsing: Array(parts[1].utf8))))
        }
        let data = EventData(
            recorded: .catalogPublished,
            entries: [],
            document: .object(members)
        )
        return try made(index, .catalog, words[1], data, words)
    }
}

/// `T[/PREFIX][:sandbox] CUSTOMER PATH = VALUE`: what an answer must hold at a path.
struct Expectation {
    let at: Instant
    let prefix: Int?
    let environment: StoreEnvironment
    let customer: String
    let path: [String]
    let value: String

    init(_ text: String) throws {
        let sides = text.split(separator: " = ", maxSplits: 1).map(String.init)
        let words = sides[0].split(separator: " ").map(String.init)
        let place = words[0].split(separator: ":").map(String.init)
        let times = place[0].split(separator: "/").map(String.init)
        at = try Story.day(times[0])
        prefix = times.count > 1 ? Int(times[1]) : nil
        environment = place.count > 1 ? .sandbox : .production
        customer = words[1]
        path = words[2].split(separator: ".").map(String.init)
        value = sides[1]
    }

    /// What stands at the path, instants as days.
    func found(in answer: JSONValue) -> String {
        var value: JSONValue? = answer
        for step in path {
            if let index = Int(step), let elements = value?.array {
                value = elements.indices.contains(index) ? elements[index] : nil
            } else {
                value = value?[step]
            }
        }
        guard let value else { return "absent" }
        if let text = value.string { return Instant(rfc3339: text).map(Story.text) ?? text }
        return value.description
    }
}
