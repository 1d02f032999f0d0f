import Entitlements
import Stores
import Testing

struct `RevenueCat's customer ids` {
    private static let long = String(repeating: "x", count: 1025)

    // Stores, rule 7; trap 9
    @Test(arguments: ["INITIAL_PURCHASE", "RENEWAL", "NON_RENEWING_PURCHASE"])
    func `are the account of the period that a sale gives`(_ type: String) throws {
        let submission = try RevenueCatSample.submission(RevenueCatSample.event(type))
        #expect(submission.accounts == ["u1"])
        #expect(submission.events.first?.data.text(.account) == "u1")
        #expect(submission.links.isEmpty)
    }

    @Test(arguments: [
        ("TEST", ""), ("FUTURE", ""), ("SUBSCRIBER_ALIAS", ""), ("INVOICE_ISSUANCE", ""),
        ("RENEWAL", #""app_user_id":null"#), ("RENEWAL", #""app_user_id":7"#),
        ("CANCELLATION", ""),
    ])
    func `are no account without a customer and a period`(
        _ type: String,
        _ changes: String
    ) throws {
        let event = try RevenueCatSample.event(type, changes)
        #expect(try RevenueCatSample.submission(event).accounts.isEmpty)
    }

    @Test(arguments: ["RENEWAL", "EXPIRATION", "SUBSCRIBER_ALIAS"])
    func `are linked to the one last seen`(_ type: String) throws {
        let submission = try RevenueCatSample.submission(
            RevenueCatSample.event(
                type,
                #""original_app_user_id":"first","aliases":["u1","a","first","a","b"]"#
            )
        )
        #expect(submission.links.map(\.alias) == ["first", "a", "b"])
        #expect(submission.links.allSatisfy { $0.customer == "u1" })
        #expect(submission.events.allSatisfy { $0.kind != .customerLinked })
    }

    // trap 8
    @Test func `that receive a transfer are names of one customer`() throws {
        let submission = try RevenueCatSample.submission(
            RevenueCatSample.event(
                "TRANSFER",
                #""transferred_from":["old"],"transferred_to":["$RCAnonymousID:1","new","n2"]"#
            )
        )
        #expect(submission.events.map(\.subject) == [.customer("new")])
        #expect(submission.links.map(\.customer) == ["new", "new"])
        #expect(submission.links.map(\.alias) == ["$RCAnonymousID:1", "n2"])
        #expect(submission.accounts.isEmpty)
    }

    @Test func `that give a transfer may be many`() throws {
        let ids = (0..<150).map { #""g\#($0)""# }.joined(separator: ",")
        let submission = try RevenueCatSample.submission(
            RevenueCatSample.event(
                "TRANSFER",
                #""transferred_from":[\#(ids)],"transferred_to":["new"]"#
            )
        )
        let counts = submission.events.compactMap { $0.data.texts(.from)?.count }
        #expect(counts == [100, 1])  // the first and a hundred others
        #expect(submission.events.last?.data.text(.detail) == "49 of the ids cannot be used")
    }

    @Test(
        arguments: [
            (#""aliases":["","a",7,null,"b\u0000"]"#, "3 of the ids cannot be used", ["a"]),
            (#""aliases":["\#(long)"]"#, "1 of the ids cannot be used", []),
            (#""app_user_id":"","aliases":["a"]"#, "1 of the ids cannot be used", []),
            (#""aliases":"a""#, nil, []),
        ] as [(String, String?, [String])]
    )
    func `that cannot be used are counted, never named`(
        _ changes: String,
        _ detail: String?,
        _ aliases: [String]
    ) throws {
        let event = try RevenueCatSample.event(
            "UNCANCELLATION",
            changes + #","original_app_user_id":null"#
        )
        let submission = try RevenueCatSample.submission(event)
        let note = submission.events.first { $0.kind == .signalNoted }
        #expect(note?.data.text(.detail) == detail)
        #expect(submission.links.map(\.alias.text) == aliases)
        #expect(submission.events.first?.kind == .purchaseRenewalChanged)
    }
}
