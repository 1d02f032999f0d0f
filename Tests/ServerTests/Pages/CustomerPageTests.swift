import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import HTTPTypes
import LedgerAPI
import Presentation
import Testing

@testable import LedgerServer

/// What support reads of a customer (rows 4.4, 8.6, Z1, Z2).
struct `The page of a customer` {
    static let purchase = PurchaseName(store: "app_store", originalID: "100")
    static let product = "com.example.app.pro.month"

    /// Records what a store tells of the purchase.
    static func record(
        _ server: TestServer,
        _ id: String,
        _ kind: EventKind,
        at time: Instant,
        _ fields: KeyValuePairs<Field, FieldValue?> = [:]
    ) throws {
        let event = Event(
            id: id,
            source: Source.support,
            subject: .purchase(purchase),
            time: time,
            data: EventData(kind, fields)
        )
        _ = try server.ledger.appender.record(Submission(event: event))
    }

    static func claim(_ server: TestServer, for customer: CustomerID) throws {
        _ = try server.ledger.appender.claim(
            purchase,
            for: customer,
            EntitlementLedger.Request(id: "c", source: Source.app, environment: .production)
        )
    }

    /// Anna bought a month ten days ago; the store gave the money back three days ago, and told two days
    /// later.
    static func refunded(
        _ body: @escaping @Sendable (TestServer, PageVisitor) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            let day: Int64 = 86_400
            server.clock.now = noon.plus(seconds: -10 * day)
            try server.publishCatalog()
            let period: KeyValuePairs<Field, FieldValue?> = [
                .transactionID: .text("100"), .productID: .text(product),
                .productKind: .text("auto_renewable"),
                .expiresAt: .instant(noon.plus(seconds: 20 * day)),
            ]
            try record(server, "p", .purchaseCompleted, at: noon.plus(seconds: -10 * day), period)
            try record(
                server,
                "v",
                .verificationPassed,
                at: noon.plus(seconds: -10 * day),
                [.method: .text("manual")]
            )
            try claim(server, for: "anna")
            server.clock.now = noon.plus(seconds: -day)
            try record(
                server,
                "r",
                .revocationRefunded,
                at: noon.plus(seconds: -3 * day),
                [.transactionID: .text("100"), .reason: .text("requested")]
            )
            server.clock.now = noon
            try await body(server, PageVisitor(server, with: .support))
        }
    }

    // row 8.6: "why did I lose premium?"
    @Test func `says at its top why access was lost, when, and what the app was told then`()
        async throws
    {
        try await Self.refunded { _, visitor in
            // What somebody reads out: the order's original id.
            let found = try await visitor.get("/console/customers?q=100")
            #expect(found.status == 303)
            #expect(found.headers[.location] == "/console/customers/anna")
            let page = try await visitor.get("/console/customers/anna")
            #expect(page.status == 200)
            let tags = try PageText(page.body)
            let answer = try #require(tags.text(ofElement: "sentence"))
            #expect(answer.contains("“export” is not open to anna"), "\(answer)")
            #expect(answer.contains("refunded"), "\(answer)")
            #expect(tags.texts.contains("Refunded"))
            #expect(tags.texts.contains("arrived late"))
            #expect(tags.texts.contains { $0.contains("+2 days") })
            // One more step: the difference of what was told then.
            let explain = try #require(tags.links.first { $0.contains("/explain/export") })
            let steps = try await visitor.get(explain)
            #expect(steps.status == 200)
            let links = try PageText(steps.body).links
            #expect(links.contains("/console/events/4?customer=anna"))
        }
    }

    // Support sees events of whom it names alone, and catalogs on their own page.
    @Test func `leads support to what it may see`() async throws {
        try await Self.refunded { server, visitor in
            for path in ["anna", "anna/explain/export", "anna/diff?knownSequence=0"] {
                let page = try await visitor.get("/console/customers/" + path)
                let links = try PageText(page.body).links
                    .filter { $0.hasPrefix("/console/events/") }
                #expect(!links.isEmpty, "\(path)")
                for link in links {
                    #expect(try await visitor.get(link).status == 200, "\(path): \(link)")
                }
            }
            let catalogs = try PageText(try await visitor.get("/console/catalog").body)
            #expect(!catalogs.links.contains { $0.hasPrefix("/console/events/") })
            // The control: whoever reads all is led to the event, of a customer's page too.
            let reader = try PageVisitor(server, with: .read)
            for path in ["/console/catalog", "/console/customers/anna/diff?knownSequence=0"] {
                let page = try PageText(try await reader.get(path).body)
                #expect(page.links.contains("/console/events/0"), "\(path)")
            }
            #expect(try await reader.get("/console/events/0").status == 200)
        }
    }

    // T4: stores tell of a refund with each later message
    @Test func `says of no repeat that it arrived late`() async throws {
        try await Self.refunded { server, visitor in
            try Self.record(
                server,
                "again",
                .revocationRefunded,
                at: noon.plus(seconds: -3 * 86_400),
                [.transactionID: .text("100"), .reason: .text("requested")]
            )
            let path = "/console/customers/anna"
            let links = try PageText(try await visitor.get(path).body).links
            // The control: both are there.
            #expect(links.contains { $0.contains("/events/4") })
            #expect(links.contains { $0.contains("/events/5") })
            #expect(links.filter { $0.contains("/diff?event") } == [path + "/diff?event=4"])
            #expect(try await visitor.get(path + ".csv").body.ranges(of: ",true,").count == 1)
        }
    }

    // row 8.6, Z1: what the app was told before, and what was true
    @Test func `leads from what arrived late to what it changed`() async throws {
        try await Self.refunded { _, visitor in
            let path = "/console/customers/anna"
            let links = try PageText(try await visitor.get(path).body).links
            #expect(links.filter { $0.contains("/diff?event") } == [path + "/diff?event=4"])
            let change = try await visitor.get(path + "/diff.json?event=4")
            #expect(change.json["tier"] == .members(["before": "pro", "after": "free"]))
            let time = noon.plus(seconds: -3 * 86_400)
            let points = "?at=\(time)&knownSequence=4&toKnownSequence=5"
            #expect(try await visitor.get(path + "/diff.json" + points).json == change.json)
            // As of a point at which it is known, and of one at which it is not.
            let later = path + "/diff.json?event=4&knownSequence="
            #expect(try await visitor.get(later + "5").json == change.json)
            #expect(try await visitor.get(later + "4").status == 404)
            // Of nobody's, of another's, and of none.
            for (customer, event) in [("bob", "4"), ("anna", "0"), ("anna", "99")] {
                let path = "/console/customers/\(customer)/diff?event=\(event)"
                #expect(try await visitor.get(path).status == 404, "\(path)")
            }
            #expect(try await visitor.get(path + "/diff?event=x").status == 400)
        }
    }

    // T4: before the ledger learned of the refund, it was open at the same instant
    @Test func `shows another point in both times, and says which`() async throws {
        try await Self.refunded { _, visitor in
            let at = noon.plus(seconds: -2 * 86_400)
            let path = "/console/customers/anna?at=\(at)&knownSequence=4"
            let page = try await visitor.get(path)
            let tags = try PageText(page.body)
            #expect(tags.text(ofElement: "sentence")?.contains("is open to anna") == true)
            #expect(tags.texts.contains { $0.contains("back to now") })
            #expect(tags.links.contains { $0.contains("knownSequence=5") })
            // As a form sends it: without a zone, with what was left empty, by days.
            for query in [
                "?at=2026-01-01T10%3A00&known=&lang=ja", "?atDay=20450&known=", "?at=&known=",
            ] {
                #expect(try await visitor.get("/console/customers/anna" + query).status == 200)
            }
            #expect(try await visitor.get("/console/customers/anna?at=soon").status == 400)
        }
    }

    @Test func `can be had in four forms, each for whoever reads it`() async throws {
        try await Self.refunded { server, visitor in
            let json = try await visitor.get("/console/customers/anna.json")
            let state = try await server.get("/v1/customers/anna")
            #expect(json.json["tier"] == state.json["tier"])
            #expect(json.json["features"] == state.json["features"])
            let csv = try await visitor.get("/console/customers/anna.csv")
            #expect(csv.headers[.contentType] == "text/csv; charset=utf-8")
            #expect(csv.body.utf8.split(separator: UInt8(ascii: "\n")).count == 5)
            let lines = try await visitor.get("/console/customers/anna.ndjson")
            #expect(lines.body.split(separator: "\n").count == 4)
            let explained = try await visitor.get("/console/customers/anna/explain/export.json")
            #expect(explained.json["audience"]?.string == "support")
            let page = try PageText(try await visitor.get("/console/customers/anna").body)
            #expect(page.texts.contains("entitle show anna"))
            for form in ["json", "csv", "ndjson"] {
                #expect(page.links.contains("/console/customers/anna." + form))
            }
        }
    }

    @Test(arguments: Language.allCases)
    func `speaks a language`(language: Language) async throws {
        try await Self.refunded { _, visitor in
            for path in ["anna", "anna/explain/export", "nobody"] {
                let answer = try await visitor.get(
                    "/console/customers/\(path)?lang=\(language.rawValue)"
                )
                #expect(answer.status == 200)
                #expect(answer.body.contains("<html lang=\"\(language.rawValue)\">"))
                #expect(!answer.body.contains("{"))
            }
        }
    }

    @Test func `is a customer's own business: looking at it is noted`() async throws {
        try await Self.refunded { server, visitor in
            _ = try await visitor.get("/console/customers/anna")
            // Accesses are written behind the answers.
            var count = 0
            for _ in 0..<6000 where count == 0 {
                count = try server.events()
                    .filter { $0["type"]?.string == EventKind.accessLogged.name }.count
                if count == 0 { try await Task.sleep(for: .milliseconds(10)) }
            }
            #expect(count == 1)
        }
    }

    // row 9.5
    @Test func `says that the customer asks to be erased, since when, and what does it`()
        async throws
    {
        try await Self.refunded { server, visitor in
            let path = "/console/customers/anna"
            let before = try PageText(try await visitor.get(path).body)
            #expect(!before.texts.contains("The customer asks to be erased"))
            for (id, seconds) in [("a", 0), ("b", 60)] as [(String, Int64)] {
                server.clock.now = noon.plus(seconds: seconds)
                _ = try server.ledger.appender.noteErasureRequest(
                    of: "anna",
                    EntitlementLedger.Request(id: id, source: Source.app, environment: .production)
                )
            }
            for language in Language.allCases {
                let answer = try await visitor.get(path + "?lang=" + language.rawValue)
                let page = try PageText(answer.body)
                #expect(page.texts.contains("entitle erase anna --confirm anna"))
                #expect(page.values.contains("2026-09-21T14:13:20Z"), "the first")
            }
            let page = try PageText(try await visitor.get(path).body)
            #expect(page.texts.contains("The customer asks to be erased"))
            // Whoever may erase is led to the form.
            let form = path + "/erase"
            #expect(!page.links.contains(form))
            let admin = try PageVisitor(server, with: .admin)
            let whole = try PageText(try await admin.get(path).body)
            #expect(whole.links.contains { $0.hasPrefix(form) })
        }
    }
}

/// The search for a customer (row 8.6).
struct `A search for what a customer reads out` {
    @Test func `leads to the one customer whom it names`() async throws {
        try await `The page of a customer`.refunded { _, visitor in
            for text in ["anna", "app_store/100", "100", " anna "] {
                let path = "/console/customers?q=" + text.pathSegment
                let answer = try await visitor.get(path)
                #expect(answer.headers[.location] == "/console/customers/anna", "\(text)")
            }
        }
    }

    @Test func `finds whole ids alone, in their environment, and says what was tried`()
        async throws
    {
        try await `The page of a customer`.refunded { server, visitor in
            for query in ["ann", "10", "ANNA", "play_store/100", "anna&environment=sandbox"] {
                let answer = try await visitor.get("/console/customers?q=" + query)
                #expect(answer.status == 200)
                let texts = try PageText(answer.body).texts
                #expect(texts.contains("Nothing found"), "\(query)")
            }
            // What was searched for stands nowhere but in the answer.
            server.audit.add(name: "a-text-that-was-searched-for")
            let path = "/console/customers?q=a-text-that-was-searched-for"
            #expect(try await visitor.get(path).body.contains("a-text-that-was-searched-for"))
        }
    }

    @Test func `leads from the order that a receipt names to its customer`() async throws {
        try await `The page of a customer`.refunded { server, visitor in
            try `The page of a customer`.record(
                server,
                "renewal",
                .purchaseRenewed,
                at: server.clock.now,
                [
                    .transactionID: .text("GPA.1-2"),
                    .productID: .text(`The page of a customer`.product),
                    .productKind: .text("auto_renewable"),
                    .expiresAt: .instant(server.clock.now),
                ]
            )
            for _ in 0..<2 {
                let answer = try await visitor.get("/console/customers?q=GPA.1-2")
                #expect(answer.headers[.location] == "/console/customers/anna")
                _ = try server.ledger.identifiers.readOn()
            }
            let rows = try await visitor.get("/console/customers.json?q=GPA.1-2")
            #expect(rows.body.contains(#""matched":"transaction""#), "\(rows.body)")
            let nothing = try await visitor.get("/console/customers?q=GPA.1-")
            #expect(nothing.status == 200)
        }
    }

    @Test func `lists what an id names of several`() async throws {
        try await `The page of a customer`.refunded { server, visitor in
            // A customer who is called as the purchase is.
            _ = try await server.post("/v1/customers/100/grants", #"{"tier":"pro"}"#)
            let answer = try await visitor.get("/console/customers?q=100")
            let page = try PageText(answer.body)
            #expect(page.links.contains("/console/customers/100"))
            #expect(page.links.contains("/console/customers/anna"))
            #expect(page.texts.contains { $0.contains("matched: purchase") })
            #expect(page.texts.contains { $0.contains("matched: customer id") })
            let rows = try await visitor.get("/console/customers.ndjson?q=100")
            #expect(rows.body.split(separator: "\n").count == 2)
        }
    }
}
