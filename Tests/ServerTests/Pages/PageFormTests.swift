import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Testing

@testable import LedgerServer

/// What support has recorded from a customer's page (row 8.6).
struct `A form of a customer's page` {
    private static let base = "/console/customers/anna"

    /// The form as it stands on its page: what names the request among it.
    private static func open(
        _ form: String,
        _ visitor: PageVisitor
    ) async throws -> [(String, String)] {
        let answer = try await visitor.get("\(base)/\(form)")
        #expect(answer.status == 200)
        let page = try PageText(answer.body)
        let place = try #require(page.values.firstIndex(of: "request"))
        return [("request", page.values[place + 1])]
    }

    @Test func `shows what would change, and then records it once, with its reason`() async throws {
        try await `The page of a customer`.refunded { server, visitor in
            let fields =
                try await Self.open("grant", visitor) + [
                    ("tier", "pro"), ("features", ""), ("expiresAt", ""), ("reason", "goodwill"),
                ]
            let size = try server.ledger.questions.size()
            let preview = try await visitor.post(Self.base + "/grant", fields)
            #expect(preview.status == 200, "\(preview.body)")
            let page = try PageText(preview.body)
            #expect(page.texts.contains { $0.contains("free → pro") }, "\(page.texts)")
            #expect(page.texts.contains("export"))
            // Nothing but the looks was recorded.
            let kinds = try server.events().dropFirst(Int(size)).compactMap { $0["type"]?.string }
            #expect(Set(kinds).subtracting(["access.logged"]).isEmpty)
            for _ in 0..<2 {
                let done = try await visitor.post(
                    Self.base + "/grant",
                    fields + [("confirmed", "yes")]
                )
                #expect(done.status == 303, "\(done.body)")
                #expect(done.headers[.location] == Self.base + "?done=grant")
            }
            #expect(try await server.has("anna", "export") == true)
            let grants = try server.events().filter { $0["type"]?.string == "grant.given" }
            #expect(grants.count == 1)
            #expect(grants.first?["data"]?["reason"]?.string == "goodwill")
        }
    }

    @Test func `says what is wrong with it, and keeps what was written`() async throws {
        try await `The page of a customer`.refunded { _, visitor in
            for (form, wrong, words) in [
                ("grant", [("reason", "why not")], "features"),
                ("grant", [("tier", "pro")], "bytes of text"),
                (
                    "transfer", [("purchase", "app_store/100"), ("to", ""), ("reason", "x")],
                    "required"
                ),
                (
                    "transfer", [("purchase", "app_store/9"), ("to", "bob"), ("reason", "x")],
                    "purchase"
                ),
                ("withdraw", [("grantId", "none"), ("reason", "x")], "grant"),
                ("sync", [("reason", "x"), ("confirmed", "yes")], "store"),
            ] {
                let fields = try await Self.open(form, visitor) + wrong
                let answer = try await visitor.post("\(Self.base)/\(form)", fields)
                #expect((400..<600).contains(answer.status), "\(form) \(wrong)")
                let page = try PageText(answer.body)
                #expect(page.texts.contains { $0.contains(words) }, "\(form): \(page.texts)")
            }
        }
    }

    @Test func `hands a purchase on, and an id over`() async throws {
        try await `The page of a customer`.refunded { server, visitor in
            for (form, more) in [
                ("transfer", [("purchase", "app_store/100"), ("to", "bob"), ("reason", "asked")]),
                ("link", [("alias", "anna-2"), ("reason", "asked")]),
            ] {
                let fields = try await Self.open(form, visitor) + more
                let preview = try await visitor.post("\(Self.base)/\(form)", fields)
                #expect(preview.status == 200, "\(preview.body)")
                let done = try await visitor.post(
                    "\(Self.base)/\(form)",
                    fields + [("confirmed", "yes")]
                )
                #expect(done.status == 303, "\(form): \(done.body)")
            }
            let matches = try server.ledger.questions.search(
                "100",
                in: .production,
                at: server.clock.now
            )
            #expect(matches.matches.map(\.customer) == ["bob"])
        }
    }

    @Test func `erases whom was typed, by whom may`() async throws {
        try await `The page of a customer`.refunded { server, support in
            // Support may not, and is not offered it.
            let page = try PageText(try await support.get(Self.base).body)
            #expect(page.links.contains(Self.base + "/grant"))
            #expect(!page.links.contains(Self.base + "/erase"))
            #expect(try await support.get(Self.base + "/erase").status == 403)
            let admin = PageVisitor(server, as: .console)
            let fields = try await Self.open("erase", admin) + [("reason", "asked")]
            let wrong = try await admin.post(
                Self.base + "/erase",
                fields + [("typed", "ann"), ("confirmed", "yes")]
            )
            #expect(wrong.status == 400)
            let done = try await admin.post(
                Self.base + "/erase",
                fields + [("typed", "anna"), ("confirmed", "yes")]
            )
            #expect(done.status == 303, "\(done.body)")
            #expect(done.headers[.location] == "/console/customers")
            let kinds = try server.events().compactMap { $0["type"]?.string }
            #expect(kinds.contains(EventKind.customerErased.name))
        }
    }
}
