import Encodings
import Entitlements
import ModelSupport
import Testing

/// A small history and what the text of the model says about it, derived by hand.
struct ModelRow: CustomTestStringConvertible, Sendable {
    let rule: String
    let title: String
    let story: String
    let expected: [String]

    init(_ rule: String, _ title: String, _ story: String, _ expected: String...) {
        self.rule = rule
        self.title = title
        self.story = story
        self.expected = expected
    }

    var testDescription: String { rule + ": " + title }
}

@Suite struct SlowModelTests {
    @Test(arguments: ModelRow.time + ModelRow.periods)
    func `time and periods are read as the rules say`(row: ModelRow) throws {
        try Self.check(row)
    }

    @Test(arguments: ModelRow.access + ModelRow.renewal)
    func `a purchase's access and status follow the rules`(row: ModelRow) throws {
        try Self.check(row)
    }

    @Test(arguments: ModelRow.accounts + ModelRow.erasedAccounts + ModelRow.accountsToldAgain)
    func `whom a store names owns as the rules say`(row: ModelRow) throws {
        try Self.check(row)
    }

    @Test(arguments: ModelRow.customer + ModelRow.usage)
    func `a customer's rules hold`(row: ModelRow) throws {
        try Self.check(row)
    }

    @Test(arguments: ModelRow.catalog + ModelRow.experiments)
    func `catalogs are read as the rules say`(row: ModelRow) throws {
        try Self.check(row)
    }

    @Test func `an answer has these members in this order`() throws {
        let answer = SlowModel(log: try Story("start").log).show(
            customer: "ann",
            environment: .production,
            at: try Story.day("10")
        )
        #expect(
            answer.description == """
                {"customer":"ann","environment":"production","at":"2026-01-10T00:00:00.000Z",\
                "tier":"plus","validUntil":"2026-01-31T00:00:00.000Z","features":{\
                "f1":{"allowed":true,"usable":true,"refusal":null,"until":"2026-01-31T00:00:00.000Z","reason":"purchase",\
                "sources":["app_store/1"],"limit":null},\
                "f2":{"allowed":false,"usable":false,"refusal":null,"until":null,\
                "reason":"none","sources":[],"limit":null},\
                "f3":{"allowed":false,"usable":false,"refusal":null,"until":null,\
                "reason":"none","sources":[],"limit":null},\
                "open":{"allowed":true,"usable":true,"refusal":null,"until":null,\
                "reason":"free","sources":["app_store/1"],\
                "limit":null}},\
                "purchases":[{"purchase":"app_store/1","productId":"m",\
                "productKind":"auto_renewable","status":"active",\
                "expiresAt":"2026-01-31T00:00:00.000Z","isVerified":true,"isSynced":false,\
                "syncedAt":null,"willRenew":true,"nextProductId":null}],\
                "grants":[],"trials":[],"warnings":[]}
                """
        )
    }

    /// Rows with a catalog that no ledger takes: the fold never meets them.
    private static let unpublished: Set = [
        "a feature that the catalog at T does not list is nobody's",
        "a tier that the catalog at T does not list does not count", "exactly",
    ]

    /// Holds a row against the slow model and against the fold.
    private static func check(_ row: ModelRow) throws {
        let story = try Story(row.story)
        let isPublished = story.log.allSatisfy { recorded in
            // A catalog that is refused has no history.
            recorded.event.data.document.map { (try? Catalog(document: $0)) != nil } ?? true
        }
        #expect(isPublished != unpublished.contains(row.title), "\(row.rule), \(row.title)")
        for text in row.expected {
            let expectation = try Expectation(text)
            let log = Array(story.log.prefix(expectation.prefix ?? story.log.count))
            let (customer, environment) = (expectation.customer, expectation.environment)
            var answers = [
                SlowModel(log: log).show(
                    customer: customer,
                    environment: environment,
                    at: expectation.at
                )
            ]
            if isPublished {
                let fold = fastShow(
                    log: log,
                    customer: customer,
                    environment: environment,
                    at: expectation.at
                )
                answers.append(try #require(fold))
            }
            #expect(
                answers.map { expectation.found(in: $0) }.allSatisfy { $0 == expectation.value },
                "\(row.rule), \(row.title): \(text)"
            )
        }
    }
}
