import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage
import LedgerAPI
import ModelSupport
import Synchronization
import Testing

@testable import LedgerOperations

/// A ledger whose events are noticed for a webhook.
final class NoticedLedger {
    let scratch: ScratchLedger
    let webhooks: Webhooks
    /// The webhook that is told.
    let webhook: Webhook
    /// All that was noticed: what is kept is forgotten after a month.
    private let seen = Mutex(Seen())

    private struct Seen {
        var notices: [Notice] = []
        var next: UInt64 = 0
    }

    init(_ scratch: ScratchLedger, _ webhooks: Webhooks, _ webhook: Webhook) {
        self.scratch = scratch
        self.webhooks = webhooks
        self.webhook = webhook
    }

    /// Lends a ledger with a webhook that was added before anything happened.
    static func with(
        types: [String] = [],
        environments: [StoreEnvironment] = [],
        catalogs tellsCatalogChanges: Bool = false,
        clock: TestClock = TestClock(Sample.newYear),
        _ body: (NoticedLedger) async throws -> Void
    ) async throws {
        try await ScratchLedger.with(clock: clock) { scratch in
            let webhooks = try Webhooks(ofLedgerAt: scratch.path, scratch.ledger)
            defer { webhooks.close() }
            var wish = Webhooks.Wish(url: "https://app.example.com/hooks")
            wish.types = types
            wish.environments = environments
            wish.tellsCatalogChanges = tellsCatalogChanges
            var randomness = RandomSource(seed: 1)
            let webhook = try #require(
                try webhooks.add(wish, at: clock.now, using: &randomness)
            )
            let noticed = NoticedLedger(scratch, webhooks, webhook)
            try noticed.look()
            try await body(noticed)
        }
    }

    var ledger: Ledger { scratch.ledger }

    /// Looks at all that is new.
    func look() throws {
        while try NoticeMaker(webhooks).step(at: scratch.clock.now) == .goesOn {}
        try seen.withLock { seen in
            for stored in try webhooks.store.notices(from: seen.next, limit: .max) {
                seen.notices.append(try #require(Notice(stored.bytes)))
                seen.next = stored.number + 1
            }
        }
    }

    /// Lets time go on, and looks.
    func pass(to instant: Instant) throws {
        scratch.clock.now = instant
        try look()
    }

    /// Publishes the sample catalog.
    func publish(
        _ document: JSONValue? = nil,
        id: String = "c",
        from effective: Instant? = nil
    ) throws {
        _ = try ledger.appender.publish(
            try document ?? Sample.catalog(),
            effective: effective ?? scratch.clock.now,
            Request(id: id, source: Source.catalog, environment: .production)
        )
        try look()
    }

    /// Records lines, and looks.
    func record(_ lines: [String]) throws {
        _ = try ledger.appender.record(Sample.submissions(lines))
        try look()
    }

    /// All that was noticed, in its order.
    var notices: [Notice] { seen.withLock(\.notices) }

    /// The messages of what was noticed, as they would be sent.
    func messages() throws -> [JSONValue] {
        try notices.compactMap { try WebhookMessage($0, of: ledger) }
            .map { try JSONValue(parsing: $0.body) }
    }

    /// Changes of access as texts: who, from which tier to which, and why.
    func changes() throws -> [String] {
        try messages().filter { $0["type"]?.string == Notice.changeType }.map { message in
            let data = try #require(message["data"])
            let tiers = ["before", "after"].map { data[$0]?["tier"]?.string ?? "-" }
            let cause = data["cause"]?.string ?? data["cause"]?.integer.map { "\($0)" } ?? "-"
            return "\(data["customer"]?.string ?? "-"): \(tiers[0]) > \(tiers[1]) by \(cause)"
        }
    }
}
