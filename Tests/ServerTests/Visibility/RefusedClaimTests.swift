import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import ModelSupport
import Testing

@testable import LedgerServer

/// What `explain` tells of a claim that was refused (Stores, rule 7; C1).
struct `A refused claim` {
    private static let purchase = Subject.purchase(
        PurchaseName(store: "app_store", originalID: "100")
    )
    private static let claimed = noon.plus(seconds: -30 * 86_400)
    private static let refused = noon.plus(seconds: -20 * 86_400)
    private static let handedOn = noon.plus(seconds: -10 * 86_400)

    /// A purchase that somebody asks its owner for in vain, and that is handed on later.
    ///
    /// `later`: how many signals are noted on it once it is the next one's.
    private static func record(in server: TestServer, later: Int = 0) throws {
        try server.publishCatalog()
        let claim = EventData(.customerClaimed, [.purchase: .text("app_store/100")])
        var events: [(Subject, Instant, EventData)] = [
            (.customer("owner"), claimed, claim),
            (purchase, refused, EventData(.signalNoted, [.name: .text("claim_refused")])),
            (
                purchase, refused.plus(seconds: 60),
                EventData(.signalNoted, [.name: .text("price_consent")])
            ), (.customer("next"), handedOn, claim),
        ]
        for place in 0..<later {
            let time = handedOn.plus(seconds: 60 + Int64(place))
            events.append(
                (purchase, time, EventData(.signalNoted, [.name: .text("price_consent")]))
            )
        }
        for (place, event) in events.enumerated() {
            let made = Event(
                id: "e\(place)",
                source: Source.revenueCat,
                subject: event.0,
                time: event.1,
                data: event.2
            )
            _ = try server.ledger.appender.record(Submission(event: made))
        }
    }

    private static func remarks(_ answer: TestAnswer) -> [JSONValue] {
        #expect(answer.status == 200)
        return (answer.json["notUsed"]?.array ?? []).filter { $0["reason"] == "claim_refused" }
    }

    @Test func `is told support with its date, once`() async throws {
        try await TestServer.with { server in
            try Self.record(in: server)
            for customer in ["owner", "next"] {
                let answer = try await server.get(
                    "/v1/customers/\(customer)/explain?feature=export&for=support",
                    as: .support
                )
                let remarks = Self.remarks(answer)
                #expect(remarks.map { $0["time"] } == [.string(Self.refused.description)])
                #expect(remarks.map { $0["rule"] } == ["C1"])
                #expect(remarks.first?["text"]?.string?.contains("app_store/100") == true)
            }
        }
    }

    @Test(arguments: Language.allCases)
    func `is told whose purchase it was, and nobody else`(_ language: Language) async throws {
        try await TestServer.with { server in
            try Self.record(in: server)
            func asked(_ customer: String) async throws -> [JSONValue] {
                Self.remarks(
                    try await server.send(
                        .get,
                        "/v1/customers/\(customer)/explain?feature=export&lang="
                            + "\(language.rawValue)&at=\(Self.refused.plus(seconds: 3600))",
                        credential: try server.token(for: customer)
                    )
                )
            }
            let told = try await asked("owner")
            #expect(told.count == 1)
            let text = try #require(told.first?["text"]?.string)
            #expect(!text.contains("{") && !text.contains("next") && !text.contains("100"))
            #expect(text.contains(Self.refused.description.prefix(4)))
            for customer in ["next", "stranger"] {
                #expect(try await asked(customer).isEmpty)
            }
        }
    }

    // Only the last signals are looked at: those that are another's do not count among them.
    @Test func `is told its owner whatever comes to the next one`() async throws {
        try await TestServer.with { server in
            try Self.record(in: server, later: Questions.storeEventLimit)
            let remarks = Self.remarks(
                try await server.send(
                    .get,
                    "/v1/customers/owner/explain?feature=export",
                    credential: try server.token(for: "owner")
                )
            )
            #expect(remarks.map { $0["time"] } == [.string(Self.refused.description)])
        }
    }
}
