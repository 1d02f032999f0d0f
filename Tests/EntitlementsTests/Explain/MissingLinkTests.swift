import Entitlements
import Testing

/// What stands between a customer and a feature, one missing link at a time (row Z2).
@Suite struct MissingLinkTests {
    /// A story, a day, a feature of ann's; the effect that says no, and what would change that.
    struct Row: Sendable, CustomTestStringConvertible {
        var story: String
        var day: String
        var feature = "f1"
        var effect: String
        var change: Explanation.Change.Kind
        var isDecisive: Bool?

        var testDescription: String { effect + ": " + story.replacing("\n", with: "; ") }
    }

    static let rows = [
        Row(
            story: "catalog 1",
            day: "5",
            effect: "nothing",
            change: .purchase(products: ["life", "m", "pass", "y"])
        ),
        Row(story: "start", day: "40", effect: "ended", change: .renewal),
        Row(
            story: "start\napp_store/1 purchase.expired 10",
            day: "20",
            effect: "expired",
            change: .renewal,
            isDecisive: true
        ),
        Row(
            story: "start\napp_store/1 revocation.refunded 10",
            day: "20",
            effect: "revoked",
            change: .reversal,
            isDecisive: true
        ),
        // Two refunds: without one of them the other stands.
        Row(
            story: "start\napp_store/1 revocation.refunded 10\napp_store/1 revocation.revoked 11",
            day: "20",
            effect: "revoked",
            change: .reversal,
            isDecisive: false
        ),
        Row(
            story: "start\napp_store/1 purchase.paused 10",
            day: "20",
            effect: "paused",
            change: .resumption,
            isDecisive: true
        ),
        Row(
            story: "start\napp_store/1 bad 10",
            day: "20",
            effect: "failedVerification",
            change: .verification,
            isDecisive: true
        ),
        Row(
            story: "catalog 1\napp_store/1 buy 1 t1 m 31\n@ann claim 1 app_store/1",
            day: "20",
            effect: "neverVerified",
            change: .verification
        ),
        Row(
            story: "start\n@ann release 10 app_store/1",
            day: "20",
            effect: "notOwned",
            change: .claim(fromAnother: false),
            isDecisive: true
        ),
        Row(
            story: "start\n@bob claim 10 app_store/1",
            day: "20",
            effect: "notOwned",
            change: .claim(fromAnother: true),
            isDecisive: true
        ),
        Row(
            story: "start\napp_store/1 renew 10 t2 gone 40\n"
                + "app_store/1 buy 15 t3 gone productKind=consumable",
            day: "20",
            effect: "followed",
            change: .renewal,
            isDecisive: true
        ),
        Row(
            story:
                "catalog 1\napp_store/1 buy 1 t1 gone 31\napp_store/1 ok 1\n@ann claim 1 app_store/1",
            day: "20",
            effect: "isUnmapped",
            change: .mapping
        ),
        Row(
            story: "start",
            day: "20",
            feature: "f2",
            effect: "isLocked",
            change: .upgrade(tier: "pro")
        ),
        Row(
            story: "start\ncatalog 10 features=[{\"id\":\"f3\"}] products=[]",
            day: "20",
            effect: "isNotListed",
            change: .listing
        ),
        Row(
            story: "catalog 1\n@ann claim 1 app_store/1\napp_store/1 purchase.pending 2",
            day: "5",
            effect: "pending",
            change: .approval,
            isDecisive: false
        ),
        Row(
            story: "catalog 1\n@ann grant.given 1 grantId=g tier=pro expiresAt=9\n"
                + "@ann grant.withdrawn 4 grantId=g",
            day: "5",
            effect: "withdrawn",
            change: .grant,
            isDecisive: true
        ),
        Row(
            story: "catalog 1\n@ann trial.started 1 trialId=week",
            day: "20",
            effect: "ended",
            change: .purchase(products: ["life", "m", "pass", "y"])
        ),
        Row(
            story: "start\napp_store/1 purchase.grace_started 31 transactionId=t1 graceUntil=35",
            day: "36",
            effect: "graceEnded",
            change: .renewal
        ),
    ]

    // row Z2
    @Test(arguments: rows)
    func `what is missing is named`(_ row: Row) throws {
        let explanation = try explained(row.story, row.day, row.feature)
        #expect(!explanation.isAllowed)
        #expect(explanation.steps.contains { "\($0.effect)".hasPrefix(row.effect) })
        let change = try #require(explanation.wouldChange.first { $0.kind == row.change })
        #expect(change.isDecisive == row.isDecisive)
        // Whatever else would do comes later.
        let alternatives = explanation.wouldChange.drop { $0 != change }.dropFirst()
        #expect(alternatives.count == explanation.wouldChange.count - 1)
    }

    // C1: an account that was named earlier claims anew because another one stands between.
    @Test func `the account between two of one customer is named`() throws {
        let story = """
            catalog 1
            app_store/1 buy 1 t1 life productKind=non_consumable account=ann
            app_store/1 ok 1
            app_store/1 buy 5 t2 gone productKind=consumable account=bob
            @bob claim 8 app_store/1
            @bob release 9 app_store/1
            app_store/1 buy 12 t3 gone productKind=consumable account=ann
            """
        let explanation = try explained(story, "20", "f1")
        #expect(explanation.isAllowed)
        #expect(explanation.steps.contains { $0.sequence == 3 })
        // The control: before it claims anew, and without the one between, the answer is no.
        for (story, day) in [
            (story, "10"), (story.replacing("account=bob", with: "priceMicros=1"), "20"),
        ] {
            #expect(try !explained(story, day, "f1").isAllowed)
        }
    }

    // C1: an account would claim, had the one before it not been erased.
    @Test func `the erasure that leaves an account without a claim is named`() throws {
        let story = """
            catalog 1 policy={"claim":"transfer"}
            app_store/1 buy 1 t1 m 8 account=ann
            app_store/1 ok 1
            @ann customer.erased 5
            app_store/1 renew 10 t2 m 40 account=bob
            """
        let explanation = try explained(story, "20", "f1")
        #expect(explanation.isAllowed)
        #expect(explanation.steps.contains { $0.effect == .accountErased && $0.sequence == 3 })
        // The control: without the erasure the answer is no.
        let control = story.replacing("\n@ann customer.erased 5", with: "")
        #expect(try !explained(control, "20", "f1").isAllowed)
    }

    // C1: an account that is told again would own since ever, had nobody been erased.
    @Test(arguments: ["1~21 t1 m 31", "0.5 t0 m 1", "1~2 t2 coins"])
    func `the erasure behind an account that is told again is named`(_ told: String) throws {
        let story = """
            catalog 1
            app_store/1 buy 1 t1 m 31 account=bob
            app_store/1 ok 1
            @ann customer.transferred 10 from=bob
            @bob customer.erased 20
            app_store/1 buy \(told) account=bob2
            """
        let explanation = try explained(story, "15", "f1")
        #expect(explanation.isAllowed)
        // What is told again says the start or claims, or it is not needed, nor is the erasure then.
        let named = Set(explanation.steps.compactMap(\.sequence))
        let isErasureNamed = explanation.steps.contains { $0.effect == .accountErased }
        #expect(named.contains(1) && named.contains(3) && isErasureNamed == named.contains(5))
        // The control: without the erasure the answer is no.
        let control = story.replacing("\n@bob customer.erased 20", with: "")
        #expect(try !explained(control, "15", "f1").isAllowed)
    }

    // C4: the catalog in force when a trial began decides it, whatever another one says since.
    @Test(arguments: [true, false]) func `the catalog that gave a trial, or did not, is named`(
        _ isKnown: Bool
    ) throws {
        func catalog(_ day: Int, _ trials: String) -> String {
            #"catalog \#(day) features=[{"id":"open","level":"pro"}] products=[] trials=[\#(trials)]"#
        }
        let week = #"{"id":"week","days":7,"features":["open"]}"#
        let story = [
            catalog(1, isKnown ? week : ""), "@ann trial.started 2 trialId=week",
            catalog(4, isKnown ? "" : week),
        ]
        .joined(separator: "\n")
        let explanation = try explained(story, "5", "open")
        #expect(explanation.isAllowed == isKnown)
        let effect: Explanation.Effect = isKnown ? .unlocks : .isUnmapped
        let steps = explanation.steps.filter { $0.effect == effect }
        // The first of the two: the other one says otherwise.
        #expect(steps.map(\.sequence) == [0])
    }

    // C5: access stands, but there is no use left.
    @Test func `a limit that is used up is named`() throws {
        let limited = """
            catalog 1 features=[{"id":"open","level":"free",\
            "limits":{"free":{"perPeriod":{"count":1,"period":"day"}}}}] products=[] trials=[]
            """
        for (uses, isUsedUp) in [
            ("", false), ("\n@ann usage.recorded 5 useId=u featureId=open", true),
        ] {
            let explanation = try explained(limited + uses, "5.5", "open")
            #expect(explanation.isAllowed)
            #expect(explanation.steps.contains { $0.rule == .c5 } == isUsedUp)
            #expect((explanation.wouldChange.first?.kind == .limitReset) == isUsedUp)
        }
    }

    /// How a yes ends: the story, and why.
    static let ends: [(String, Explanation.Change.End?)] = [
        ("start", .expiry(willRenew: true)),
        (
            "start\napp_store/1 purchase.renewal_changed 2 autoRenew=false",
            .expiry(willRenew: false)
        ),
        ("start\napp_store/1 purchase.renewal_changed 2 nextProductId=pass", .switching),
        ("start\napp_store/1 revocation.refunded 10", .revocation),
        ("start\napp_store/1 bad 10", .verification),
        ("start\napp_store/1 purchase.paused 10", .pause),
        ("start\n@bob claim 10 app_store/1", .ownership),
        ("start\napp_store/1 renew 10 t2 gone 40", .followed),
        ("start\ncatalog 10 features=[{\"id\":\"f3\"}] products=[]", .catalog),
        ("start\napp_store/1 purchase.grace_started 31 transactionId=t1 graceUntil=35", .grace),
        (
            "catalog 1 policy={\"renewalLeewaySeconds\":60}\napp_store/1 buy 1 t1 m 31\n"
                + "app_store/1 ok 1\n@ann claim 1 app_store/1", .leeway
        ),
        (
            "catalog 1\n@ann grant.given 1 grantId=g tier=pro expiresAt=9",
            .grant(isWithdrawn: false)
        ),
        (
            "catalog 1\n@ann grant.given 1 grantId=g tier=pro\n@ann grant.withdrawn 9 grantId=g",
            .grant(isWithdrawn: true)
        ),
        ("catalog 1\n@ann trial.started 1 trialId=week", .trial),
        ("catalog 1\n@ann grant.given 1 grantId=g tier=pro", nil),
    ]

    // row Z2, K6
    @Test(arguments: ends)
    func `what ends a yes is named`(_ story: String, _ end: Explanation.Change.End?) throws {
        let explanation = try explained(story, "5", "f1")
        #expect(explanation.isAllowed)
        let named = explanation.wouldChange.filter { $0.time != nil }
        #expect(named.map(\.kind) == (end.map { [.ends($0)] } ?? []))
        #expect(named.first?.time == explanation.decision?.until)
    }

    /// What is known and not used.
    static let unused: [(String, Explanation.Unused.Reason)] = [
        ("start\napp_store/1 renew 1~2 t1 m 25", .superseded(.p1)),
        ("start\napp_store/1 purchase.expired 10~0.5 transactionId=t1", .superseded(.p2)),
        ("start\n@ann customer.linked 2 alias=ann", .passedOver(.c2)),
        ("start\napp_store/1 purchase.linked 2 alias=app_store/1", .passedOver(.p13)),
        (
            "start\n@ann trial.started 1 trialId=week\n@ann trial.started 3 trialId=week",
            .repeatedTrial
        ),
        (
            "start\napp_store/1 renew 31 t2 m 60\napp_store/1 revocation.refunded 40 transactionId=t2",
            .otherPeriod(isRefund: true)
        ),
        (
            "start\n@ann grant.given 1 grantId=g tier=pro\n@ann grant.given 2 grantId=g tier=plus",
            .superseded(.c3)
        ),
    ]

    // row Z2
    @Test(arguments: unused)
    func `what is not used is named`(_ story: String, _ reason: Explanation.Unused.Reason) throws {
        let explanation = try explained(story, "5", "f1")
        let found = explanation.notUsed.filter { $0.reason == reason }
        #expect(found.count == 1)
        #expect(explanation.steps.allSatisfy { $0.sequence != found.first?.sequence })
    }
    @Test func `a feature of no catalog has no explanation`() throws {
        for (feature, isKnown) in [("f9", false), ("f1", true)] {
            let question = try asked("start", "5", feature)
            #expect((question.explanation != nil) == isKnown)
        }
    }

    private func asked(
        _ story: String,
        _ day: String,
        _ feature: String
    ) throws -> ExplainedQuestion {
        ExplainedQuestion(
            log: try Story(story).log,
            customer: "ann",
            at: try Story.day(day),
            feature: feature
        )
    }

    private func explained(
        _ story: String,
        _ day: String,
        _ feature: String
    ) throws -> Explanation {
        let question = try asked(story, day, feature)
        #expect(question.faults.isEmpty, "\(question.faults)")
        return try #require(question.explanation)
    }
}
