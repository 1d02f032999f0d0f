import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import ModelSupport
import Testing

@testable import LedgerServer

/// What a former owner is told of the time in between, once a purchase is theirs again (Stores,
/// rule 7; C1).
struct `A former owner` {
    private static let purchase = PurchaseName(store: "app_store", originalID: "100")
    /// When the next owner got it, and when it came back.
    private static let left = noon.plus(seconds: -20 * 86_400)
    private static let returned = noon.plus(seconds: -10 * 86_400)

    /// A purchase of the first owner, transferred to the next one and back, and running.
    private static let events: [Event] = [
        event(.purchase(purchase), period, at: noon.plus(seconds: -30 * 86_400)),
        event(
            .purchase(purchase),
            EventData(
                .verificationPassed,
                [.transactionID: .text("100"), .method: .text("manual")]
            ),
            at: noon.plus(seconds: -29 * 86_400)
        ),
        event(
            .customer("first"),
            EventData(.customerClaimed, [.purchase: .text(purchase.description)]),
            at: noon.plus(seconds: -28 * 86_400)
        ),
        event(.customer("next"), transfer(from: "first"), at: left),
        event(.customer("first"), transfer(from: "next"), at: returned),
    ]

    private static let period = EventData(
        .purchaseCompleted,
        [
            .transactionID: .text("100"), .productID: .text("com.example.app.pro.month"),
            .productKind: .text("auto_renewable"),
            .expiresAt: .instant(noon.plus(seconds: 30 * 86_400)),
        ]
    )

    private static func transfer(from customer: String) -> EventData {
        EventData(.customerTransferred, [.from: .texts([customer])])
    }

    private static func event(_ subject: Subject, _ data: EventData, at time: Instant) -> Event {
        Event(
            id: "\(subject)-\(time)",
            source: Source.revenueCat,
            subject: subject,
            time: time,
            data: data
        )
    }

    // What the next owner's transfer says is theirs: that it ended the first owner's time, too.
    @Test func `is not told when the next one got what came back`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            for event in Self.events {
                _ = try server.ledger.appender.record(Submission(event: event))
            }
            let path = "/v1/customers/first/explain?feature=export"
            let own = try await server.send(
                .get,
                path,
                credential: try server.token(for: "first")
            )
            #expect(own.status == 200 && own.json["allowed"] == .bool(true))
            #expect(Self.handedOn(own.json).map { $0["until"] } == [.null])
            let whole = try await server.get(path, as: .support)
            // Control: support is told, of the transfer back as of the first one.
            let until = [Self.left, Self.returned].map { JSONValue.string($0.description) }
            #expect(Self.handedOn(whole.json).map { $0["until"] } == until)
        }
    }

    /// A purchase of kim's that becomes lou's, and is called by another token in the time of each.
    private static let renamed: [Event] = {
        let purchase = PurchaseName(store: Source.playStore, originalID: "tokK1")
        let next = PurchaseName(store: Source.playStore, originalID: "KIMTOKEN2")
        func link(_ token: String, at time: Instant) -> Event {
            let alias = Source.playStore + "/" + token
            let data = EventData(.purchaseLinked, [.alias: .text(alias)])
            return event(.purchase(purchase), data, at: time)
        }
        let claim = EventData(.customerClaimed, [.purchase: .text(purchase.description)])
        return [
            event(.purchase(purchase), period, at: noon.plus(seconds: -30 * 86_400)),
            event(.customer("kim"), claim, at: noon.plus(seconds: -29 * 86_400)),
            link("KIMTOKEN2", at: noon.plus(seconds: -25 * 86_400)),
            event(
                .purchase(next),
                EventData(.purchaseRenewalChanged, [.autoRenew: .flag(false)]),
                at: noon.plus(seconds: -24 * 86_400)
            ), event(.customer("lou"), transfer(from: "kim"), at: left),
            link("LOUTOKEN3", at: noon.plus(seconds: -15 * 86_400)),
        ]
    }()

    // A token that came up in another's time is theirs (P13): who holds it may ask the store by it.
    @Test func `exports no token of the next one, nor the next one theirs`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            for event in Self.renamed {
                _ = try server.ledger.appender.record(Submission(event: event))
            }
            let tokens = [("kim", "KIMTOKEN2", "LOUTOKEN3"), ("lou", "LOUTOKEN3", "KIMTOKEN2")]
            let forms: [(query: String, media: String?)] = [
                ("", nil), ("?format=ndjson,csv,html", nil), ("", "text/csv"), ("", "text/html"),
            ]
            for (customer, own, other) in tokens {
                let path = "/v1/customers/\(customer)/export"
                let token = try server.token(for: customer)
                for form in forms {
                    var headers = HTTPFields()
                    if let media = form.media { headers[.accept] = media }
                    let answer = try await server.send(
                        .get,
                        path + form.query,
                        credential: token,
                        headers: headers
                    )
                    #expect(answer.status == 200)
                    #expect(!answer.body.contains(other), "\(customer) \(form)")
                    // Controls: their own is there, and so are both for support.
                    if form.media == nil { #expect(answer.body.contains(own), "\(customer)") }
                }
                let whole = try await server.get(path, as: .support).body
                #expect(whole.contains(own) && whole.contains(other))
            }
        }
    }

    private static func handedOn(_ answer: JSONValue) -> [JSONValue] {
        (answer["steps"]?.array ?? []).compactMap { $0["effect"] }
            .filter { $0["kind"] == "handed_on" }
    }
}
