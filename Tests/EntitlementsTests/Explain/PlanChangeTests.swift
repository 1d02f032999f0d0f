import Entitlements
import Testing

/// What is said of a subscription whose plan was another before (row Z2, K2).
@Suite struct PlanChangeTests {
    /// A story, a day, a feature of ann's; what is said of the plan before, and the product that
    /// counts.
    struct Row: Sendable, CustomTestStringConvertible {
        var story: String
        var day = "20"
        var feature = "f2"
        /// The former product, whether it included the feature, from when to when.
        var former: (product: String, isIncluded: Bool, start: String, end: String)?
        var product: String

        var testDescription: String { "\(feature) on \(day): " + story.replacing("\n", with: "; ") }
    }

    /// Verdicts name no transaction, so that they are on every period.
    private static let paid = "catalog 1\napp_store/1 ok 1\n@ann claim 1 app_store/1\n"

    static let rows = [
        // Upgraded: the former plan did not include it.
        Row(
            story: paid + "app_store/1 buy 1 t1 m 31\napp_store/1 renew 10 t2 y 40",
            former: ("m", false, "1", "10"),
            product: "y"
        ),
        // Both include it.
        Row(
            story: paid + "app_store/1 buy 1 t1 m 31\napp_store/1 renew 10 t2 y 40",
            feature: "f1",
            former: nil,
            product: "y"
        ),
        // Downgraded at the renewal.
        Row(
            story: paid + "app_store/1 buy 1 t1 y 10\napp_store/1 renew 10 t2 m 40",
            former: ("y", true, "1", "10"),
            product: "m"
        ),
        // Several periods of the former plan are one, and so are those of the plan that counts.
        Row(
            story: paid + "app_store/1 buy 1 t1 y 5\napp_store/1 renew 5 t2 y 10\n"
                + "app_store/1 renew 10 t3 m 15\napp_store/1 renew 15 t4 m 40",
            former: ("y", true, "1", "10"),
            product: "m"
        ),
        // A gap is none of it.
        Row(
            story: paid + "app_store/1 buy 1 t1 y 4\napp_store/1 renew 5 t2 y 10\n"
                + "app_store/1 renew 10 t3 m 40",
            former: ("y", true, "5", "10"),
            product: "m"
        ),
        // The last that included it is named, whatever came between.
        Row(
            story: paid + "app_store/1 buy 1 t1 y 5\napp_store/1 renew 5 t2 gone 10\n"
                + "app_store/1 renew 10 t3 m 40",
            former: ("y", true, "1", "5"),
            product: "m"
        ),
        // Downgraded and ended since: what ended is the plan that counted.
        Row(
            story: paid + "app_store/1 buy 1 t1 y 10\napp_store/1 renew 10 t2 m 40",
            day: "50",
            former: ("y", true, "1", "10"),
            product: "m"
        ),
        // The catalog of then says what it included.
        Row(
            story: paid + "catalog 9 products=[]\napp_store/1 buy 1 t1 y 8\n"
                + "app_store/1 renew 10 t2 m 40",
            feature: "f1",
            former: ("y", true, "1", "8"),
            product: "m"
        ),
    ]

    // row Z2
    @Test(arguments: rows)
    func `the plan that counts is told, and what the one before included`(_ row: Row) throws {
        let question = ExplainedQuestion(
            log: try Story(row.story).log,
            customer: "ann",
            at: try Story.day(row.day),
            feature: row.feature
        )
        #expect(question.faults.isEmpty, "\(question.faults)")
        let explanation = try #require(question.explanation)
        let told = explanation.steps.compactMap { step -> (String?, Bool, Instant, Instant?)? in
            guard case .formerPlan(let isIncluded, let start, let end) = step.effect else {
                return nil
            }
            return (Self.product(step.topic), isIncluded, start, end)
        }
        #expect(told.count == (row.former == nil ? 0 : 1))
        if let former = row.former, let told = told.first {
            #expect(told.0 == former.product && told.1 == former.isIncluded)
            #expect(try told.2 == Story.day(former.start))
            #expect(try told.3 == Story.day(former.end))
        }
        // Whatever else is said speaks of the plan that counts, above all the reason.
        let others = explanation.steps.filter {
            if case .formerPlan = $0.effect { return false }
            return $0.topic != .general
        }
        #expect(Set(others.map { Self.product($0.topic) }) == [row.product])
        #expect(Self.product(try #require(explanation.cause).topic) == row.product)
    }

    private static func product(_ topic: Explanation.Topic) -> String? {
        guard case .purchase(_, let productID, _) = topic else { return nil }
        return productID
    }
}
