import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations

let path = CommandLine.arguments[1]
let ledger = try Ledger.open(at: path, options: .init(createsIfMissing: true))
defer { try? ledger.close() }

// What there is: the feature `export` is for those who have the tier `pro`.
let catalog = #"{"tiers":["free","pro"],"features":[{"id":"export","level":"pro"}],"products":[]}"#
let published = try ledger.appender.publish(
    JSONValue(parsing: Array(catalog.utf8)),
    effective: nil,
    Request(id: "catalog-1", source: Source.catalog, environment: .production)
)
// Support gives it to Alice. Every request has an id: run again, nothing is recorded twice.
let given = try ledger.appender.grant(
    "goodwill",
    to: "alice",
    features: [],
    tier: "pro",
    expiresAt: nil,
    reason: "an outage",
    Request(id: "grant-1", source: Source.support, environment: .production)
)
print(published, given)
// May she export now: as it was known after one event, as it is known, and why?
for known in [BitemporalPoint.Known.sequence(1), .everything] {
    let point = BitemporalPoint(at: SystemClock.now(), knownAt: known)
    let alice = CustomerQuestion(customer: "alice", environment: .production, point: point)
    if case .explained(let why) = try ledger.questions.explain("export", alice) {
        let rules = why.steps.compactMap(\.mark.rule?.rawValue)
        print("known of \(why.question.sequence) events: \(why.access.isAllowed) by \(rules)")
    }
}
