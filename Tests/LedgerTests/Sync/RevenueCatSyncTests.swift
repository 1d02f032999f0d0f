import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import LedgerOperations
import StoreSimulator
import Stores
import Testing

/// What RevenueCat is asked for about a customer, and what comes of it (Stores, rule 9).
struct `A sync with RevenueCat` {
    private static func ledger(
        clock: TestClock = TestClock(Sample.day(40)),
        refusing path: String? = nil,
        of projectID: String? = "proj1",
        _ body: (ScratchLedger, SimulatedRevenueCatAPI, StoreSync) async throws -> Void
    ) async throws {
        try await ScratchLedger.with(clock: clock) { scratch in
            _ = try scratch.ledger.appender.publish(
                try Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            let api = SimulatedRevenueCatAPI()
            let client = RevenueCatAPI(
                key: Array("sk_simulated_0123456789".utf8),
                projectID: projectID,
                caller: StoreCaller(
                    { request in
                        path.map(request.url.hasSuffix) == true
                            ? StoreResponse(status: 429) : await api.transport(request)
                    },
                    clock: { clock.now },
                    sleep: { _ in },
                    random: { 0 }
                ),
                clock: { clock.now }
            )
            let sync = StoreSync(
                scratch.ledger,
                StoreClients(revenueCat: client),
                pool: DispatchPool(),
                clock: { clock.now },
                makeID: { String(UInt64.random(in: 0...(.max))) }
            )
            try await body(scratch, api, sync)
        }
    }

    /// A subscription of the App Store that was renewed on the thirty-first day.
    private static func tell(
        _ api: SimulatedRevenueCatAPI,
        status: String = "active",
        renewal: String = "will_renew"
    ) throws {
        let (first, second, end) = (Sample.day(1), Sample.day(31), Sample.day(61))
        api.set(
            subscriptions: [
                try Sample.json(
                    """
                    {"object":"subscription","id":"sub1","customer_id":"alice",
                     "original_customer_id":"alice","product_id":"prod1",
                     "starts_at":\(first.milliseconds),
                     "current_period_starts_at":\(second.milliseconds),
                     "current_period_ends_at":\(end.milliseconds),"ends_at":\(end.milliseconds),
                     "gives_access":\(status == "active"),"pending_payment":false,
                     "auto_renewal_status":"\(renewal)","status":"\(status)",
                     "environment":"production","store":"app_store",
                     "store_subscription_identifier":"t2","ownership":"purchased"}
                    """
                )
            ],
            of: "alice"
        )
        api.set(
            transactions: [
                try Sample.json(
                    """
                    {"object":"subscription_transaction","id":"t2",
                     "purchased_at":\(second.milliseconds),
                     "product_store_identifier":"pro.month",
                     "expiration_date":\(end.milliseconds),
                     "effective_expiration_date":\(end.milliseconds)}
                    """
                ),
                try Sample.json(
                    """
                    {"object":"subscription_transaction","id":"t1",
                     "purchased_at":\(first.milliseconds),
                     "product_store_identifier":"pro.month",
                     "expiration_date":\(second.milliseconds),
                     "effective_expiration_date":\(second.milliseconds)}
                    """
                ),
            ],
            ofSubscription: "sub1"
        )
        api.set(try Sample.json(#"{"store_identifier":"pro.month"}"#), ofProduct: "prod1")
    }

    // rows 6.2 and 8.3: a customer of whom nothing was ever told
    @Test func `brings what it knows of a customer, once`() async throws {
        try await Self.ledger { scratch, api, sync in
            try Self.tell(api)
            let answer = try await sync.sync("alice", in: .production)
            #expect(answer.purchases.map(\.purchase) == ["app_store/t1"])
            #expect(answer.purchases.map(\.outcome) == [.reconciled])
            #expect(answer.isWhole)
            for (day, tier): (Int64, String) in [(2, "pro"), (40, "pro"), (62, "free")] {
                #expect(try scratch.show("alice", at: Sample.day(day))["tier"]?.string == tier)
            }
            let again = try await sync.sync("alice", in: .production)
            #expect(again.purchases.map(\.outcome) == [.completed])
            #expect(again.purchases.map(\.appended) == [0])
        }
    }

    // Evidence has a limit, which an answer of many pages may pass: what is not recorded is not called known.
    @Test func `says of a purchase that the ledger takes nothing of`() async throws {
        try await Self.ledger { scratch, api, sync in
            try Self.tell(api)
            let name = String(repeating: "x", count: SealedEvidence.byteLimit - 500)
            api.set(
                .members(["store_identifier": "pro.month", "display_name": .string(name)]),
                ofProduct: "prod1"
            )
            let answer = try await sync.sync("alice", in: .production)
            #expect(answer.purchases.map(\.code) == [.malformed])
            #expect(answer.purchases.map(\.appended) == [0])
            #expect(!answer.isWhole)
            #expect(try scratch.show("alice", at: Sample.day(40))["tier"]?.string == "free")
        }
    }

    // trap 3: version 1 tells both worlds at once, and each is recorded where it belongs
    @Test(arguments: [StoreEnvironment.production, .sandbox])
    func `brings what testers bought beside, whichever world is asked about`(
        _ asked: StoreEnvironment
    ) async throws {
        try await Self.ledger(of: nil) { scratch, api, sync in
            func subscription(_ id: String, isSandbox: Bool) throws -> JSONValue {
                try Sample.json(
                    """
                    {"original_purchase_date":"\(Sample.day(31))","purchase_date":"\(Sample.day(31))",
                     "expires_date":"\(Sample.day(61))","period_type":"normal","store":"app_store",
                     "store_transaction_id":"\(id)","is_sandbox":\(isSandbox)}
                    """
                )
            }
            api.set(
                .members([
                    "subscriber": .members([
                        "original_app_user_id": "alice",
                        "subscriptions": .members([
                            "pro.month": try subscription("t1", isSandbox: false),
                            "pro.year": try subscription("t2", isSandbox: true),
                        ]),
                    ])
                ]),
                ofSubscriber: "alice"
            )
            let answer = try await sync.sync("alice", in: asked)
            // Only what is asked about is told.
            let told = asked == .production ? "app_store/t1" : "app_store/t2"
            #expect(answer.purchases.map(\.purchase) == [told])
            for (environment, purchase) in [
                (StoreEnvironment.production, "app_store/t1"), (.sandbox, "app_store/t2"),
            ] {
                let shown = try scratch.show("alice", environment: environment)
                let purchases = shown["purchases"]?.array?.compactMap { $0["purchase"]?.string }
                #expect(purchases == [purchase], "\(environment)")
            }
        }
    }

    // Stores, rule 9: what it told before a fault counts
    @Test func `brings what it told before it wants no more questions`() async throws {
        try await Self.ledger(refusing: "/purchases") { scratch, api, sync in
            try Self.tell(api)
            let answer = try await sync.sync("alice", in: .production)
            #expect(!answer.isWhole && answer.faults.map(\.code) == [.rateLimited])
            #expect(answer.purchases.map(\.purchase) == ["app_store/t1"])
            #expect(try scratch.show("alice", at: Sample.day(40))["tier"]?.string == "pro")
        }
    }

    // T2, P2, P10: an answer that was true once, and is true again
    @Test(arguments: [("expired", "will_not_renew"), ("active", "will_not_renew")])
    func `tells again what is so again, once`(
        _ between: (status: String, renewal: String)
    ) async throws {
        let clock = TestClock(Sample.day(40))
        try await Self.ledger(clock: clock) { scratch, api, sync in
            var appended: [Int] = []
            func ask(_ status: String, _ renewal: String) async throws {
                try Self.tell(api, status: status, renewal: renewal)
                let answer = try await sync.sync("alice", in: .production)
                appended += answer.purchases.map(\.appended)
                let state = try scratch.show("alice", at: clock.now)
                #expect(state["tier"]?.string == (status == "active" ? "pro" : "free"))
                if status == "active" {
                    let willRenew = state["purchases"]?.array?.first?["willRenew"]?.bool
                    #expect(willRenew == (renewal == "will_renew"))
                }
                clock.now = clock.now.advanced(byMilliseconds: Instant.millisecondsPerDay)
            }
            for _ in 0..<3 {
                try await ask("active", "will_renew")
                try await ask("active", "will_renew")
                try await ask(between.status, between.renewal)
                try await ask(between.status, between.renewal)
            }
            try await ask("active", "will_renew")
            #expect(appended.count == 13)
            #expect(
                appended.enumerated().allSatisfy { ($0.element == 0) == ($0.offset % 2 == 1) },
                "\(appended)"
            )
        }
    }

    @Test func `knows nobody, or does not answer`() async throws {
        try await Self.ledger { scratch, api, sync in
            let size = try scratch.ledger.questions.size()
            let nobody = try await sync.sync("nobody", in: .production)
            #expect(nobody.purchases.isEmpty && nobody.isWhole)
            api.fail(with: Array(repeating: StoreResponse(status: 401), count: 4))
            let refused = try await sync.sync("alice", in: .production)
            #expect(refused.faults.map(\.code) == [.notPermitted])
            #expect(!refused.isWhole)
            #expect(try scratch.ledger.questions.size() == size)
        }
    }
}
