import Crypto
import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import ModelSupport
import Testing

/// Experiments: who sees what, and what the report says of them (row B7, K8, row PL5).
struct `An experiment` {
    /// `open` has three of four: it opens `export`, gives more scans, and takes the trial's place.
    private static func catalog(_ variants: String) throws -> JSONValue {
        try Sample.json(
            """
            {"tiers":["free","pro"],
             "features":[{"id":"export"},{"id":"scan","level":"free","limits":{"free":{
                 "perPeriod":{"count":3,"period":"day","timeZone":"UTC"}}}}],
             "products":[{"id":"pro.month","kind":"auto_renewable","unlocks":{"tier":"pro"}},
                         {"id":"pro.year","kind":"auto_renewable","unlocks":{"tier":"pro"}}],
             "offerings":[{"feature":"export","products":["pro.month"]}],
             "experiments":[{"id":"paywall","variants":[\(variants)]}]}
            """
        )
    }

    private static let twoVariants = """
        {"id":"control","weight":1},
        {"id":"open","weight":3,"overrides":{
          "features":[{"id":"export","level":"free"},
            {"id":"scan","limits":{"free":{
              "perPeriod":{"count":9,"period":"day","timeZone":"UTC"}}}}],
          "offerings":[{"feature":"export","products":["pro.year"]}]}}
        """

    private static func publish(_ variants: String, in ledger: Ledger) throws {
        _ = try ledger.appender.publish(
            catalog(variants),
            effective: Sample.newYear,
            Request(id: "catalog", source: Source.catalog, environment: .production)
        )
    }

    /// K8's position by another route than the ledger's.
    private static func position(_ customer: CustomerID) -> UInt64 {
        var text = Array("paywall".utf8)
        text.append(0)
        text += Array(customer.text.utf8)
        return SHA256.hash(data: text).prefix(8)
            .reduce(UInt64(0)) { $0 &* 256 &+ UInt64($1) }
    }

    /// Whether the variant is `open`: x lies at or above 1/4.
    private static func isOpen(_ customer: CustomerID) -> Bool { position(customer) >= 1 << 62 }

    // row B7, K8: by `printf 'paywall\0alice' | sha256sum`.
    @Test(
        arguments: [
            ("alice", 0x0E51_482F_86FB_8AF3, "control"), ("bob", 0x4C49_0A74_48A8_386B, "open"),
            ("carol", 0x02B4_A705_36E0_5DCF, "control"), ("日本", 0x1291_8384_E77F_8CA9, "control"),
        ] as [(CustomerID, UInt64, String)]
    )
    func `assigns by the digest of its id and the customer's`(
        _ customer: CustomerID,
        _ position: UInt64,
        _ variant: String
    ) async throws {
        #expect(Self.position(customer) == position)
        let experiment = try #require(
            Catalog(document: Self.catalog(Self.twoVariants)).experiments.first
        )
        #expect(experiment.variant(at: position)?.id == variant)
        try await ScratchLedger.with { scratch in
            try Self.publish(Self.twoVariants, in: scratch.ledger)
            let answer = try scratch.show(customer)
            let export = answer["features"]?["export"]
            #expect(export?["allowed"] == .bool(variant == "open"))
        }
    }

    // row B7, K8
    @Test func `overrides levels and limits, for its variant's customers and no others`()
        async throws
    {
        try await ScratchLedger.with { scratch in
            try Self.publish(Self.twoVariants, in: scratch.ledger)
            var seen: [Bool: Int] = [:]
            for number in 0..<60 {
                let customer: CustomerID = "customer-\(number)"
                let isOpen = Self.isOpen(customer)
                let features = try scratch.show(customer)["features"]
                #expect(features?["export"]?["allowed"] == .bool(isOpen), "\(customer)")
                #expect(
                    features?["export"]?["reason"]?.string == (isOpen ? "free" : "none"),
                    "\(customer)"
                )
                #expect(
                    features?["scan"]?["limit"]?["count"] == .integer(isOpen ? 9 : 3),
                    "\(customer)"
                )
                // Stable: asked again, without views, it is the same.
                #expect(try scratch.show(customer)["features"] == features)
                seen[isOpen, default: 0] += 1
            }
            #expect(seen[true, default: 0] > 30 && seen[false, default: 0] > 5)
        }
    }

    // row B7, K8: exact at the seams; what weighs nothing is nobody's.
    @Test func `divides exactly`() throws {
        let experiment = try #require(
            Catalog(
                document: Self.catalog(
                    """
                    {"id":"never","weight":0},{"id":"a","weight":1},{"id":"none","weight":0},\
                    {"id":"b","weight":2},{"id":"c","weight":1}
                    """
                )
            ).experiments.first
        )
        let quarter: UInt64 = 1 << 62
        for (position, variant) in [
            (0, "a"), (quarter - 1, "a"), (quarter, "b"), (3 * quarter - 1, "b"),
            (3 * quarter, "c"), (.max, "c"),
        ] as [(UInt64, String)] {
            #expect(experiment.variant(at: position)?.id == variant, "\(position)")
        }
        let thirds = try #require(
            Catalog(
                document: Self.catalog(
                    #"{"id":"a","weight":1},{"id":"b","weight":1},{"id":"c","weight":1}"#
                )
            ).experiments.first
        )
        // 2^64 / 3 is not whole: the first of b is the next whole number above it.
        let third = UInt64.max / 3
        #expect(thirds.variant(at: third)?.id == "a" && thirds.variant(at: third + 1)?.id == "b")
    }

    // row B7, K8: 10 000 customers; five standard deviations are 217.
    @Test func `honours its weights`() throws {
        let experiment = try #require(
            Catalog(document: Self.catalog(Self.twoVariants)).experiments.first
        )
        let count = 10_000
        let open = (0..<count).count { number in
            experiment.variant(at: Self.position("customer-\(number)"))?.id == "open"
        }
        #expect(abs(open - count * 3 / 4) <= 217, "\(open)")
    }

    // row B7, K8, C2
    @Test func `keeps the variant of the customer, whatever id an app names`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.publish(Self.twoVariants, in: scratch.ledger)
            let names = (0..<100).map { "anonymous-\($0)" as CustomerID }
            let alias = try #require(names.first { Self.isOpen($0) })
            func export(_ customer: CustomerID) throws -> JSONValue? {
                try scratch.show(customer)["features"]?["export"]?["allowed"]
            }
            // alice is in control, her phone's id alone would be open.
            #expect(try export(alias) == .bool(true))
            _ = try scratch.ledger.appender.record(
                Sample.submissions([
                    Sample.line(
                        "link",
                        "customer.linked",
                        "customer/alice",
                        data: #"{"alias":"\#(alias)"}"#
                    )
                ])
            )
            #expect(try export(alias) == .bool(false))
            #expect(try export("alice") == .bool(false))
        }
    }

    private static func flow(
        _ id: String,
        _ type: String,
        _ customer: String,
        _ experiment: String,
        day: Int64
    ) -> String {
        Sample.line(
            id,
            "flow." + type,
            "customer/" + customer,
            data: #"{"flowId":"f-\#(id)","experiment":"\#(experiment)"}"#,
            time: Sample.day(day)
        )
    }

    // row B7: one exposure for a customer, whatever the app repeats or gets wrong.
    @Test func `is reported by variant`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.publish(Self.twoVariants, in: scratch.ledger)
            // alice and carol are in control, bob is not.
            _ = try scratch.ledger.appender.record(
                Sample.submissions([
                    Self.flow("1", "started", "alice", "paywall/control", day: 2),
                    Self.flow("2", "started", "alice", "paywall/control", day: 3),
                    Self.flow("3", "succeeded", "alice", "paywall/control", day: 3),
                    Self.flow("4", "started", "bob", "paywall/control", day: 2),
                    Self.flow("5", "cancelled", "bob", "paywall", day: 2),
                    Self.flow("6", "started", "carol", "paywall", day: 9),
                    Self.flow("7", "started", "dave", "other/x", day: 2),
                    Self.flow("8", "succeeded", "dave", "other", day: 4),
                ])
            )
            var question = ReportQuestion(
                .experiments,
                environment: .production,
                point: BitemporalPoint(at: scratch.clock.now, knownAt: .everything)
            )
            func rows() throws -> [String] {
                let names = [
                    "experiment", "variant", "isAssigned", "exposures", "conversions",
                    "mismatches", "rate", "control",
                ]
                let rows =
                    try scratch.ledger.reports.report(question).jsonText.json["rows"]?.array ?? []
                return rows.map { row in
                    names.map { (row[$0] ?? .null).description }.joined(separator: " ")
                        .replacing("\"", with: "")
                }
            }
            #expect(
                try rows() == [
                    "other x false 1 1 0 1 null", "paywall control true 2 1 0 0.5 null",
                    "paywall open true 1 0 1 0 control",
                ]
            )
            // Customers count by their first exposure.
            question.range = Interval(start: Sample.day(3), end: nil)
            #expect(try rows() == ["paywall control true 1 0 0 0 null"])
            question.range = Interval(start: Sample.day(1), end: Sample.day(3))
            question.point.at = Sample.day(2)
            #expect(
                try rows() == [
                    "other x false 1 0 0 0 null", "paywall control true 1 0 0 0 null",
                    "paywall open true 1 0 1 0 control",
                ]
            )
        }
    }
}
