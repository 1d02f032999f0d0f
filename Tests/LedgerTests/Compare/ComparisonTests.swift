import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import StoreSimulator
import Stores
import Testing

/// What RevenueCat says of customers beside what a ledger says (row Z14).
struct `A comparison with RevenueCat` {
    private static let noon = Sample.day(40)

    /// A ledger, another one for what RevenueCat says, and both compared.
    private struct Compared {
        let here: Ledger
        let there: Ledger
        let comparison: ProviderComparison

        func record(_ lines: [String]) throws {
            _ = try here.appender.record(try Sample.submissions(lines))
        }

        func tell(_ rows: [String]) throws {
            let outcomes = try RevenueCatImport.outcomes(
                of: Sample.json("[" + rows.joined(separator: ",") + "]"),
                now: noon
            )
            _ = try there.appender.record(try outcomes.map { try $0.get() })
        }

        /// Who differs, and each reason with what is missing.
        func reasons(isComplete: Bool = false) throws -> [String: [String]] {
            let answer = try comparison.run(isComplete: isComplete)
            #expect(answer.differing == answer.differences.count)
            return Dictionary(
                uniqueKeysWithValues: answer.differences.map { customer in
                    (
                        customer.customer,
                        customer.reasons.map { reason in
                            ([reason.code.rawValue, reason.event].compactMap(\.self)
                                + reason.names).joined(separator: " ")
                        }
                    )
                }
            )
        }
    }

    private static func compared(
        catalog: JSONValue? = nil,
        _ body: (Compared) throws -> Void
    ) async throws {
        let clock = TestClock(noon)
        try await ScratchLedger.with(clock: clock) { here in
            try await ScratchLedger.with(clock: clock) { there in
                _ = try here.ledger.appender.publish(
                    catalog ?? Sample.catalog(),
                    effective: Sample.newYear,
                    Request(id: "catalog", source: Source.catalog, environment: .production)
                )
                let comparison = ProviderComparison(
                    ComparisonSide(here.ledger, in: .production, at: noon),
                    draft: there.ledger,
                    in: .production,
                    at: noon
                )
                try comparison.publishCatalogs()
                try body(
                    Compared(here: here.ledger, there: there.ledger, comparison: comparison)
                )
            }
        }
    }

    /// A row of an export: a subscription from the new year until a day.
    private static func row(
        _ customer: String,
        _ id: String,
        until day: Int64 = 61,
        product: String = "pro.month",
        alias: String? = nil,
        more: String = ""
    ) -> String {
        let end = Sample.day(day).description.prefix(19).replacing("T", with: " ")
        return """
            {"rc_original_app_user_id":"\(customer)",\
            "rc_last_seen_app_user_id_alias":"\(alias ?? customer)",\
            "product_identifier":"\(product)","start_time":"2026-01-01 00:00:00",\
            "end_time":"\(end)","store":"app_store","is_auto_renewable":"true",\
            "is_sandbox":"false","renewal_number":"1","store_transaction_id":"\(id)",\
            "original_store_transaction_id":"\(id)"\(more)}
            """
    }

    private static func owned(
        _ customer: String,
        _ id: String,
        until day: Int64 = 61,
        product: String = "pro.month"
    ) -> [String] {
        Sample.ownedPurchase(
            customer,
            "app_store/" + id,
            product: product,
            until: Sample.day(day).description
        )
    }

    @Test func `finds nothing where both say the same`() async throws {
        try await Self.compared { compared in
            try compared.record(Self.owned("alice", "1") + Self.owned("ben", "2", until: 31))
            try compared.tell([Self.row("alice", "1"), Self.row("ben", "2", until: 31)])
            let answer = try compared.comparison.run(isComplete: true)
            #expect(answer.customers == 2 && answer.differing == 0)
            // Control: there is something to find.
            try compared.record(Self.owned("ben", "3"))
            #expect(try compared.reasons() == ["ben": ["missing_there purchase.completed"]])
        }
    }

    @Test func `names the event that is missing on either side`() async throws {
        try await Self.compared { compared in
            try compared.record(
                Self.owned("alice", "1", until: 31) + Self.owned("ben", "2")
                    + Self.owned("carol", "3") + Self.owned("dora", "4", until: 31)
            )
            try compared.record([
                Sample.line(
                    "refund",
                    "revocation.refunded",
                    "purchase/app_store/3",
                    data: #"{"transactionId":"t-buy-app_store/3"}"#,
                    time: Sample.day(20)
                )
            ])
            try compared.tell([
                Self.row("alice", "1"),
                Self.row("ben", "2", more: #","refunded_at":"2026-01-20 00:00:00""#),
                Self.row("carol", "3"),
                Self.row(
                    "dora",
                    "4",
                    until: 31,
                    more: #","grace_period_end_time":"2026-02-15 00:00:00""#
                ),
                Self.row("emil", "5"),
            ])
            #expect(
                try compared.reasons() == [
                    "alice": ["missing_here purchase.renewed"],
                    "ben": ["missing_here revocation.refunded"],
                    "carol": ["missing_there revocation.refunded"],
                    "dora": ["grace purchase.grace_started"],
                    "emil": ["missing_here purchase.completed"],
                ]
            )
        }
    }

    @Test func `tells owners, names and environments apart`() async throws {
        try await Self.compared { compared in
            try compared.record(
                Self.owned("alice", "1") + Self.owned("phone", "2") + Self.owned("ben", "3")
            )
            try compared.record(
                Self.owned("sam", "4").map {
                    $0.replacing(
                        #""source":"support""#,
                        with: #""source":"support","environment":"sandbox""#
                    )
                }
            )
            try compared.tell([
                // Another customer has it here.
                Self.row("zoe", "1"),
                // Here the two names are two customers.
                Self.row("account", "2", alias: "phone"), Self.row("account", "6", until: 31),
                Self.row("ben", "3"), Self.row("sam", "4"),
            ])
            try compared.record([Self.line(touching: "account")])
            #expect(
                try compared.reasons(isComplete: true) == [
                    "account": ["alias phone"], "alice": ["owner"], "zoe": ["owner"],
                    "sam": ["sandbox"],
                ]
            )
        }
    }

    /// Something by which a customer is known.
    private static func line(touching customer: String) -> String {
        Sample.line(
            "flow-" + customer,
            "flow.started",
            "customer/" + customer,
            data: #"{"flowId":"f"}"#
        )
    }

    @Test func `tells a product that the catalog does not know, and grants of this ledger`()
        async throws
    {
        try await Self.compared { compared in
            try compared.record([
                Sample.line(
                    "grant",
                    "grant.given",
                    "customer/ben",
                    data: #"{"grantId":"g1","features":["export"]}"#
                )
            ])
            try compared.tell([
                Self.row("alice", "1", product: "max.month"), Self.row("ben", "2", until: 31),
            ])
            #expect(
                try compared.reasons() == [
                    "alice": ["missing_here purchase.completed", "catalog max.month"],
                    "ben": ["grant grant/g1"],
                ]
            )
        }
    }

    @Test func `compares whom the ledger alone knows where the export is complete`() async throws {
        try await Self.compared { compared in
            try compared.record(Self.owned("alice", "1"))
            #expect(try compared.reasons() == [:])
            #expect(
                try compared.reasons(isComplete: true) == [
                    "alice": ["missing_there purchase.completed"]
                ]
            )
        }
    }

    @Test func `compares more than are looked at together, each once`() async throws {
        try await Self.compared { compared in
            let numbers = 0..<150
            try compared.record(numbers.flatMap { Self.owned("kept-\($0)", "\($0)") })
            // Of those whom the provider knows, each has one of the ledger's, or one more.
            try compared.tell(numbers.prefix(100).map { Self.row("kept-\($0)", "\($0)") })
            try compared.tell([Self.row("kept-99", "more"), Self.row("kept-0", "0")])
            let told = try compared.comparison.run()
            #expect(told.customers == 100 && told.differing == 0)
            let all = try compared.comparison.run(isComplete: true)
            #expect(all.customers == 150 && all.differing == 50)
            #expect(Set(all.differences.map(\.customer)).count == 50)
            var left = 120
            let ended = try compared.comparison.run(
                isComplete: true,
                isInterrupted: {
                    left -= 1
                    return left < 0
                }
            )
            #expect((100..<120).contains(ended.customers))
        }
    }

    @Test func `asks about a list of customers, and passes over whom it is not told of`()
        async throws
    {
        let clock = TestClock(Self.noon)
        let api = SimulatedRevenueCatAPI()
        try api.set(
            Sample.json(
                """
                {"subscriber":{"original_app_user_id":"alice","non_subscriptions":{},
                 "subscriptions":{"pro.month":{"purchase_date":"2026-01-31T00:00:00Z",
                  "original_purchase_date":"2026-01-01T00:00:00Z",
                  "expires_date":"2026-03-02T00:00:00Z","period_type":"normal",
                  "store":"app_store","store_transaction_id":"9","is_sandbox":false}}}}
                """
            ),
            ofSubscriber: "alice"
        )
        let client = RevenueCatAPI(
            key: Array("sk_simulated_0123456789".utf8),
            projectID: nil,
            caller: StoreCaller(
                api.transport,
                clock: { clock.now },
                sleep: { _ in },
                random: { 0 }
            ),
            clock: { clock.now }
        )
        try await ScratchLedger.with(clock: clock) { here in
            try await ScratchLedger.with(clock: clock) { there in
                _ = try here.ledger.appender.publish(
                    Sample.catalog(),
                    effective: Sample.newYear,
                    Request(id: "catalog", source: Source.catalog, environment: .production)
                )
                _ = try here.ledger.appender.record(
                    Sample.submissions(Self.owned("alice", "1", until: 31))
                )
                let comparison = ProviderComparison(
                    ComparisonSide(here.ledger, in: .production, at: Self.noon),
                    draft: there.ledger,
                    in: .production,
                    at: Self.noon
                )
                try comparison.publishCatalogs()
                let customers: [CustomerID] = ["alice", "nobody"]
                var faults = try await comparison.ask(
                    client,
                    about: customers,
                    clock: { clock.now },
                    isInterrupted: { false },
                    progress: { _ in }
                )
                #expect(faults.isEmpty)
                let answer = try comparison.run(customers)
                #expect(answer.customers == 2)
                // Version 1 names the purchase by its latest transaction, and so by another name.
                let reasons = answer.differences.flatMap(\.reasons)
                #expect(reasons.map(\.code) == [.missingHere])
                #expect(reasons.map(\.event) == ["purchase.renewed"])
                #expect(reasons.map(\.purchase) == ["app_store/1"])

                api.fail(with: [StoreResponse(status: 403)])
                faults = try await comparison.ask(
                    client,
                    about: ["alice"],
                    clock: { clock.now },
                    isInterrupted: { false },
                    progress: { _ in }
                )
                #expect(faults.map(\.code) == [.notPermitted])
                let without = try comparison.run(["alice"], without: faults)
                #expect(without.customers == 0 && without.untold == 1)
            }
        }
    }
}
