import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage
import LedgerAPI
import Stores
import Testing

@testable import LedgerOperations

/// What is noticed for webhooks (row Z19).
struct `A notice` {
    private static let month = "2026-02-01T00:00:00.000Z"

    @Test func `tells what an event changes, and what time does at its instant`() async throws {
        try await NoticedLedger.with { noticed in
            try noticed.publish()
            try noticed.record(Sample.ownedPurchase("alice", "app_store/1"))
            try noticed.pass(to: Sample.day(31))
            #expect(try noticed.changes() == ["alice: free > pro by 3"])
            try noticed.pass(to: Sample.day(40))
            let changes = try noticed.changes()
            #expect(changes == ["alice: free > pro by 3", "alice: pro > free by time"])
            let last = try #require(try noticed.messages().last)
            #expect(last["specversion"]?.string == "1.0")
            #expect(last["time"]?.string == Self.month)
            #expect(last["subject"]?.string == "customer/alice")
            #expect(
                last["data"]?.description
                    == #"{"customer":"alice","environment":"production","at":"2026-02-01T00:00:00.000Z","#
                    + #""before":{"tier":"pro","features":["export","scan"]},"#
                    + #""after":{"tier":"free","features":["scan"]},"cause":"time","validUntil":"2026-02-02T00:00:00.000Z"}"#
            )
        }
    }

    // Z6: an erasure takes nothing from anybody else, such as that a purchase is theirs no more.
    @Test func `tells of whom an event took from, though who it gave to is erased`() async throws {
        try await NoticedLedger.with { noticed in
            try noticed.publish()
            try noticed.record(Sample.ownedPurchase("alice", "app_store/1"))
            #expect(try noticed.changes() == ["alice: free > pro by 3"], "the control")
            func request(_ id: String) -> Request {
                Request(id: id, source: Source.support, environment: .production)
            }
            let ledger = noticed.ledger
            _ = try ledger.appender.transfer(
                PurchaseName(store: Source.appStore, originalID: "1"),
                to: "bob",
                reason: "asked",
                request("t")
            )
            _ = try ledger.eraser.erase(["bob"], request("e"), reading: StoredEvidenceNames())
            try noticed.look()
            #expect(try noticed.changes().last?.hasPrefix("alice: pro > free by ") == true)
            #expect(try noticed.changes().count == 2)
        }
    }

    // Nothing is told of what changes nobody's access: a limit that is used up, a note, a renewal in time.
    @Test func `is none where access stays as it is`() async throws {
        try await NoticedLedger.with { noticed in
            try noticed.publish()
            try noticed.record(Sample.ownedPurchase("alice", "app_store/1"))
            let before = try noticed.changes()
            try noticed.record([
                Sample.line(
                    "r",
                    "purchase.renewed",
                    "purchase/app_store/1",
                    data: #"{"transactionId":"t2","productId":"pro.month","#
                        + #""productKind":"auto_renewable","#
                        + #""expiresAt":"2026-03-01T00:00:00.000Z"}"#,
                    time: Sample.day(31)
                ),
                Sample.line(
                    "ok2",
                    "verification.passed",
                    "purchase/app_store/1",
                    data: #"{"method":"manual"}"#,
                    time: Sample.day(31)
                ),
                Sample.grantLine("g", to: "alice"),
            ])
            try noticed.pass(to: Sample.day(40))
            #expect(try noticed.changes() == before && before.count == 1)
        }
    }

    // A period stands in the log before its verdict: what the first takes, the second gives back (P3, P7).
    // With 31 events before them a step would end between the two.
    @Test(arguments: [0, 31])
    func `is none where a renewal ends one period and begins the next`(others: Int) async throws {
        try await NoticedLedger.with { noticed in
            func draft(_ type: String, _ data: String, at time: Instant) throws -> EventDraft {
                try Sample.event(type, type, "purchase/app_store/1", data: data, time: time).draft
            }
            func signal(_ id: String, at time: Instant) throws -> Submission {
                let drafts = [
                    try draft(
                        "purchase.renewed",
                        #"{"transactionId":"\#(id)","productId":"pro.month","#
                            + #""productKind":"auto_renewable","expiresAt":"\#(Self.month)"}"#,
                        at: time
                    ),
                    try draft(
                        "verification.passed",
                        #"{"transactionId":"\#(id)","method":"manual"}"#,
                        at: time
                    ),
                ]
                return Submission(
                    id: id,
                    source: Source.appStore,
                    environment: .production,
                    nature: .signal,
                    drafts: drafts
                )
            }
            try noticed.publish()
            _ = try noticed.ledger.appender.record([try signal("t1", at: Sample.day(1))])
            let claim = Sample.line(
                "claim",
                "customer.claimed",
                "customer/alice",
                data: #"{"purchase":"app_store/1"}"#
            )
            try noticed.record([claim])
            let before = try noticed.changes()
            #expect(before == ["alice: free > pro by 3"])
            try noticed.pass(to: Sample.day(10))
            let grants = (0..<others).map { Sample.grantLine("g\($0)", to: "other-\($0)") }
            let submissions = try Sample.submissions(grants) + [signal("t2", at: Sample.day(10))]
            _ = try noticed.ledger.appender.record(submissions)
            try noticed.look()
            let changes = try noticed.changes()
            #expect(changes.count == before.count + others)
            #expect(changes.filter { $0.hasPrefix("alice") } == before)
        }
    }

    // Whoever was stopped for long tells what happened meanwhile as it happened, in its order.
    @Test func `comes in the order of what happened, however late it is looked`() async throws {
        try await NoticedLedger.with { noticed in
            try noticed.publish()
            let clock = noticed.scratch.clock
            let appender = try noticed.ledger.appender
            func record(_ line: String) throws {
                _ = try appender.record(Sample.submissions([line]))
            }
            try record(Sample.grantLine("a", to: "ann", until: Sample.day(3)))
            try record(Sample.grantLine("b", to: "bob", until: Sample.day(2)))
            clock.now = Sample.day(5)
            try record(Sample.grantLine("c", to: "ann"))
            try noticed.look()
            #expect(
                try noticed.changes() == [
                    "ann: free > pro by 1", "bob: free > pro by 2", "bob: pro > free by time",
                    "ann: pro > free by time", "ann: free > pro by 3",
                ]
            )
        }
    }

    // A purchase that changes hands changes two customers by one event, each under an id of its own.
    @Test func `is one for each whom an event concerns`() async throws {
        try await NoticedLedger.with { noticed in
            try noticed.publish(try Sample.catalog(policy: "transfer"))
            try noticed.record(Sample.ownedPurchase("alice", "app_store/1"))
            try noticed.pass(to: Sample.day(2))
            try noticed.record([
                Sample.line(
                    "claim",
                    "customer.claimed",
                    "customer/bob",
                    data: #"{"purchase":"app_store/1"}"#,
                    time: Sample.day(2)
                )
            ])
            let changes = try noticed.changes()
            #expect(
                Set(changes.suffix(2)) == ["alice: pro > free by 4", "bob: free > pro by 4"]
            )
            let ids = noticed.notices.map { $0.id(of: noticed.ledger.identity) }
            #expect(Set(ids).count == 3 && ids.count == 3)
        }
    }

    @Test func `names a customer by the name that links lead to`() async throws {
        try await NoticedLedger.with { noticed in
            try noticed.publish()
            try noticed.record([Sample.grantLine("g", to: "$anon:1", until: Sample.day(10))])
            try noticed.record([
                Sample.line(
                    "l",
                    "customer.linked",
                    "customer/alice",
                    data: #"{"alias":"$anon:1"}"#
                )
            ])
            try noticed.pass(to: Sample.day(20))
            #expect(
                try noticed.changes() == [
                    "$anon:1: free > pro by 1", "alice: free > pro by 2",
                    "alice: pro > free by time",
                ]
            )
        }
    }

    // A catalog changes everybody: that is told where it is asked for alone.
    @Test(arguments: [false, true])
    func `tells what a catalog changes where that is asked for`(isAsked: Bool) async throws {
        try await NoticedLedger.with(catalogs: isAsked) { noticed in
            try noticed.record([Sample.grantLine("g", to: "alice")])
            #expect(try noticed.changes() == [])
            try noticed.publish(id: "now")
            let byCatalog = ["alice: free > pro by 1"]
            #expect(try noticed.changes() == (isAsked ? byCatalog : []))
            // One that comes later is told when it comes into force.
            let other = try Sample.json(#"{"tiers":["free"],"features":[],"products":[]}"#)
            try noticed.publish(other, id: "later", from: Sample.day(9))
            try noticed.pass(to: Sample.day(8))
            #expect(try noticed.changes() == (isAsked ? byCatalog : []))
            try noticed.pass(to: Sample.day(9))
            #expect(
                try noticed.changes()
                    == (isAsked ? byCatalog + ["alice: pro > free by time"] : [])
            )
        }
    }

    // What ends by itself is told whether or not a catalog came between, and moved the end.
    @Test func `follows a catalog that moves ends`() async throws {
        try await NoticedLedger.with { noticed in
            try noticed.publish()
            try noticed.record(Sample.ownedPurchase("alice", "app_store/1"))
            var document = try Sample.catalog().members ?? []
            document[document.count - 1].value = .members(["renewalLeewaySeconds": .integer(3600)])
            try noticed.publish(.object(document), id: "lax")
            let end = try #require(Instant(rfc3339: Self.month))
            try noticed.pass(to: end.advanced(byMilliseconds: 3_599_999))
            let before = try noticed.changes()
            #expect(before == ["alice: free > pro by 3"])
            try noticed.pass(to: end.advanced(byMilliseconds: 3_600_000))
            let after = try noticed.changes()
            #expect(after == before + ["alice: pro > free by time"])
        }
    }

    @Test func `is made for whom it concerns: types and environments`() async throws {
        let sandbox = #","environment":"sandbox""#
        let line = Sample.line(
            "s",
            "grant.given",
            "customer/sam",
            data: #"{"grantId":"s","tier":"pro"}"#,
            more: sandbox
        )
        try await NoticedLedger.with(types: ["grant.given"]) { noticed in
            try noticed.publish()
            try noticed.record([Sample.grantLine("g", to: "alice"), line])
            #expect(try noticed.messages().map { $0["id"]?.string } == ["g"])
        }
        try await NoticedLedger.with(types: ["*"], environments: [.sandbox]) { noticed in
            _ = try noticed.ledger.appender.publish(
                try Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "c", source: Source.catalog, environment: .sandbox)
            )
            try noticed.record([Sample.grantLine("g", to: "alice"), line])
            #expect(
                try noticed.messages().map { $0["type"]?.string } == [
                    "catalog.published", "grant.given", "entitlement.changed",
                ]
            )
        }
    }

    // What is kept names nobody, and of who is erased there is no message.
    @Test func `names nobody, and is dropped with whom it is about`() async throws {
        try await NoticedLedger.with(types: ["*"]) { noticed in
            try noticed.publish()
            try noticed.record([Sample.grantLine("given-to-her", to: "alice-of-wonderland")])
            #expect(try noticed.messages().count == 3)
            for file in try files(below: noticed.scratch.path + "/deliveries") {
                let text = String(decoding: file.bytes, as: UTF8.self)
                #expect(!text.contains("alice-of-wonderland"), "\(file.path)")
                #expect(!text.contains("given-to-her"), "\(file.path)")
            }
            _ = try noticed.ledger.eraser.erase(
                ["alice-of-wonderland"],
                Request(id: "e", source: Source.support, environment: .production),
                reading: StoredEvidenceNames()
            )
            try noticed.look()
            #expect(try noticed.changes() == [])
            let types = try noticed.messages().map { $0["type"]?.string }
            #expect(types == ["catalog.published", "customer.erased"])
        }
    }

    // An idle server does not write to its disk every second.
    @Test func `costs no write where nothing happens`() async throws {
        try await NoticedLedger.with { noticed in
            try noticed.publish()
            try noticed.record([Sample.grantLine("g", to: "alice", until: Sample.day(9))])
            let (store, before) = (
                noticed.webhooks.store, try noticed.webhooks.store.lookedThrough()
            )
            try noticed.pass(to: Sample.day(5))
            #expect(try store.lookedThrough() == before)
            try noticed.pass(to: Sample.day(9))
            #expect(try store.lookedThrough()?.instant == Sample.day(9).milliseconds)
        }
    }

    // A log that was restored to less is looked through from its new end.
    @Test func `goes on where a log is shorter than what was looked through`() async throws {
        try await NoticedLedger.with { noticed in
            try noticed.publish()
            let now = noticed.scratch.clock.now.milliseconds
            try noticed.webhooks.store.beginAgain(DeliveryProgress(size: 99, instant: now))
            try noticed.look()
            try noticed.record([Sample.grantLine("g", to: "alice")])
            #expect(try noticed.changes() == ["alice: free > pro by 1"])
        }
    }

    // What is forgotten is not listed either, nor are deliveries of it.
    @Test func `is forgotten after a month`() async throws {
        try await NoticedLedger.with(types: ["grant.given"]) { noticed in
            try noticed.record([Sample.grantLine("g", to: "alice")])
            let (store, id) = (noticed.webhooks.store, noticed.webhook.id)
            var dead = DeliveryOutcomes(cursor: 1)
            dead.dead = [StoredDelivery(notice: 0, bytes: DeliveryState(stream: 1).bytes)]
            try store.record(dead, of: try #require(Webhooks.number(of: id)))
            #expect(try noticed.webhooks.webhook(id)?.dead == 1)
            try noticed.pass(to: Sample.day(31))
            #expect(try store.notice(0) != nil)
            try noticed.pass(to: Sample.day(32))
            #expect(try store.notice(0) == nil && store.nextNotice() == 1)
            #expect(try noticed.webhooks.webhook(id)?.dead == 0)
        }
    }

    // Nobody is told of what happened before they asked, nor twice after nobody did.
    @Test func `begins with who asks`() async throws {
        try await ScratchLedger.with(clock: TestClock(Sample.newYear)) { scratch in
            let webhooks = try Webhooks(ofLedgerAt: scratch.path, scratch.ledger)
            defer { webhooks.close() }
            let lines = [Sample.grantLine("g", to: "alice", until: Sample.day(5))]
            _ = try scratch.ledger.appender.publish(
                try Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "c", source: Source.catalog, environment: .production)
            )
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            var randomness = RandomSource(seed: 2)
            let wish = Webhooks.Wish(url: "https://a.example")
            let webhook = try #require(
                try webhooks.add(wish, at: scratch.clock.now, using: &randomness)
            )
            let noticed = NoticedLedger(scratch, webhooks, webhook)
            // It is not looked at once: what happens meanwhile is told.
            _ = try scratch.ledger.appender.record(
                Sample.submissions([Sample.grantLine("i", to: "bob")])
            )
            try noticed.look()
            #expect(try noticed.changes() == ["bob: free > pro by 2"])
            // What was bought before ends after it.
            try noticed.pass(to: Sample.day(5))
            #expect(try noticed.changes().last == "alice: pro > free by time")
            #expect(try webhooks.remove(webhook.id))
            try noticed.record([Sample.grantLine("h", to: "alice")])
            #expect(try webhooks.store.lookedThrough() == nil)
        }
    }
}
