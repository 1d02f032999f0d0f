import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import StoreSimulator
import Stores
import Synchronization
import Testing

/// What Google Play is asked for, and what comes of it (Stores, rule 9).
struct `A sync with Google Play` {
    private static let store = Result { try SimulatedPlayStore() }
    private static let configuration = PlayConfiguration(packageNames: ["com.example.app"])

    private static func subscription(
        _ order: String,
        until day: Int64,
        _ changes: String = "{}",
        item: String = "{}"
    ) throws -> JSONValue {
        let account = JSONMember(
            "externalAccountIdentifiers",
            .members(["obfuscatedExternalAccountId": "alice"])
        )
        return try store.get().subscription(
            order: order,
            start: Sample.day(1),
            end: Sample.day(day),
            .object([account] + (try Sample.json(changes).members ?? [])),
            item: Sample.json(item)
        )
    }

    /// A ledger on a day, that was told on the first of a subscription; and what the API says now.
    private static func ledger(
        on day: Int64,
        knownBy name: String = "token-1",
        clock given: TestClock? = nil,
        _ body: (ScratchLedger, SimulatedPlayAPI, StoreSync) async throws -> Void
    ) async throws {
        let clock = given ?? TestClock(Sample.day(day))
        try await ScratchLedger.with(clock: clock) { scratch in
            let told = try store.get().answer(
                subscription("GPA.1", until: 31),
                of: name,
                at: Sample.day(1)
            )
            for outcome in PlayImport.outcomes(
                of: told,
                configuration: configuration,
                now: clock.now
            ) {
                _ = try scratch.ledger.appender.record(try outcome.get())
            }
            let api = try SimulatedPlayAPI()
            try await body(scratch, api, try storeSync(scratch, api))
        }
    }

    /// What asks Google Play; `transport`: what carries the questions; nil: they go straight to it.
    private static func storeSync(
        _ scratch: ScratchLedger,
        _ api: SimulatedPlayAPI,
        by transport: StoreTransport? = nil
    ) throws -> StoreSync {
        let clock = scratch.clock
        let caller = StoreCaller(
            transport ?? api.transport,
            clock: { clock.now },
            sleep: { _ in },
            random: { 0 }
        )
        let client = PlayDeveloperAPI(
            try #require(ServiceAccount(json: api.serviceAccount)),
            caller: caller,
            clock: { clock.now }
        )
        let playStore = StoreClients.PlayStore(api: client, configuration: configuration)
        return StoreSync(
            scratch.ledger,
            StoreClients(playStore: playStore),
            pool: DispatchPool(),
            clock: { clock.now },
            makeID: { String(UInt64.random(in: 0...(.max))) }
        )
    }

    // row 6.2, row 8.3
    @Test func `brings a renewal that was lost, once`() async throws {
        try await Self.ledger(on: 40) { scratch, api, sync in
            api.set(try Self.subscription("GPA.1..0", until: 61), ofSubscription: "token-1")
            let answer = try await sync.sync("alice", in: .production)
            #expect(answer.purchases.map(\.outcome) == [.reconciled])
            #expect(answer.purchases.map(\.differences) == [["status", "expiresAt"]])
            let state = try scratch.show("alice", at: Sample.day(40))["purchases"]?.array?.first
            #expect(state?["status"]?.string == "active")
            let again = try await sync.sync("alice", in: .production)
            #expect(again.purchases.map(\.outcome) == [.completed])
            #expect(again.purchases.map(\.appended) == [0])
        }
    }

    // P10: switched off and on again in Google Play, of which no push came
    @Test func `tells again what is so again, once`() async throws {
        let clock = TestClock(Sample.day(10))
        try await Self.ledger(on: 10, clock: clock) { scratch, api, sync in
            var appended: [Int] = []
            for (day, renews) in [true, true, false, false, true, true, false, true].enumerated() {
                clock.now = Sample.day(10 + Int64(day))
                api.set(
                    try Self.subscription(
                        "GPA.1",
                        until: 31,
                        renews
                            ? "{}"
                            : #"{"subscriptionState":"SUBSCRIPTION_STATE_CANCELED"}"#,
                        item: renews ? "{}" : #"{"autoRenewingPlan":{"autoRenewEnabled":false}}"#
                    ),
                    ofSubscription: "token-1"
                )
                let answer = try await sync.sync("alice", in: .production)
                appended += answer.purchases.map { min($0.appended, 1) }
                let purchase = try scratch.show("alice", at: clock.now)["purchases"]?.array?.first
                #expect(purchase?["willRenew"]?.bool == renews, "day \(10 + day)")
            }
            #expect(appended == [0, 0, 1, 0, 1, 0, 1, 1])
        }
    }

    // P13: what one token of a purchase says is no news of another's
    @Test func `of two tokens of one purchase brings each once`() async throws {
        let clock = TestClock(Sample.day(33))
        try await Self.ledger(on: 33, clock: clock) { _, api, sync in
            api.set(
                try Self.subscription(
                    "GPA.1",
                    until: 10,
                    #"{"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED"}"#
                ),
                ofSubscription: "token-1"
            )
            api.set(
                try Self.subscription(
                    "GPA.2",
                    until: 31,
                    #"{"subscriptionState":"SUBSCRIPTION_STATE_ON_HOLD","linkedPurchaseToken":"token-1"}"#
                ),
                ofSubscription: "token-2"
            )
            let names = [PurchaseName.play("token-1"), .play("token-2")].compactMap(\.self)
            var appended: [Int] = []
            for _ in 0..<5 {
                appended.append(
                    try await sync.sync(names, in: .production).map(\.appended).reduce(0, +)
                )
                clock.now = clock.now.advanced(byMilliseconds: Instant.millisecondsPerDay)
            }
            #expect(appended[0] > 0 && appended[1...].allSatisfy { $0 == 0 }, "\(appended)")
        }
    }

    // P13, trap 23: Google forgets a token some time after it was replaced
    @Test func `of a purchase asks whole where a token that was replaced is forgotten`()
        async throws
    {
        let clock = TestClock(Sample.day(33))
        try await Self.ledger(on: 33, clock: clock) { scratch, api, sync in
            let token1 = try Self.subscription(
                "GPA.1",
                until: 10,
                #"{"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED"}"#
            )
            let token2 = try Self.subscription(
                "GPA.2",
                until: 131,
                #"{"linkedPurchaseToken":"token-1"}"#
            )
            api.set(token1, ofSubscription: "token-1")
            api.set(token2, ofSubscription: "token-2")
            let names = [PurchaseName.play("token-1"), .play("token-2")].compactMap(\.self)
            let known = try await sync.sync(names, in: .production)
            #expect(known.allSatisfy { $0.code == nil })
            clock.now = Sample.day(100)
            // Control: what is not told for another reason may be told later.
            for (status, code): (Int, SyncedPurchase.Code?) in [
                (404, nil), (410, nil), (403, .notPermitted),
            ] {
                let later = try Self.storeSync(scratch, api) { request in
                    request.url.hasSuffix("/tokens/token-1")
                        ? StoreResponse(status: status) : await api.transport(request)
                }
                let told = try await later.sync(names, in: .production)
                #expect(told.map(\.code) == [code], "\(status)")
                #expect(told.allSatisfy { $0.found > 0 })
            }
        }
    }

    // trap 3
    @Test func `makes a purchase of a tester known in the sandbox alone`() async throws {
        try await Self.ledger(on: 10) { scratch, api, sync in
            api.set(
                try Self.subscription("GPA.9", until: 31, #"{"testPurchase":{}}"#),
                ofSubscription: "token-9"
            )
            let names = [PurchaseName.play("token-9")].compactMap(\.self)
            let before = try scratch.ledger.questions.size()
            func places() throws -> [StoreEnvironment] {
                try (before..<scratch.ledger.questions.size())
                    .compactMap { try scratch.ledger.questions.event(at: $0)?.event.environment }
            }
            let asked = try await sync.sync(names, in: .production)
            #expect(asked.map(\.code) == [.notFound] && asked.map(\.found) == [0])
            let told = try places()
            #expect(!told.isEmpty && told.allSatisfy { $0 == .sandbox })
            // Control: there it is known, and that its store was asked is recorded.
            let known = try await sync.sync(names, in: .sandbox)
            #expect(known.map(\.outcome) == [.completed])
            #expect(try places().count == told.count + 1)
        }
    }

    // Stores, rule 3: what is paid and not acknowledged
    @Test func `acknowledges what is paid`() async throws {
        try await Self.ledger(on: 2) { scratch, api, sync in
            api.set(
                try Self.subscription(
                    "GPA.1",
                    until: 31,
                    #"{"acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING"}"#
                ),
                ofSubscription: "token-1"
            )
            _ = try await sync.sync("alice", in: .production)
            #expect(api.requests.contains { $0.url.hasSuffix(":acknowledge") })
            let kinds = try (0..<scratch.ledger.questions.size())
                .compactMap { try scratch.ledger.questions.event(at: $0)?.event.kind }
            #expect(kinds.contains(.purchaseAcknowledged))
        }
    }

    // Stores, rule 3: Google is told once it is on the disk
    @Test func `acknowledges no renewal that is not recorded`() async throws {
        try await Self.ledger(on: 40) { scratch, api, _ in
            api.set(
                try Self.subscription(
                    "GPA.1..0",
                    until: 61,
                    #"{"acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING"}"#
                ),
                ofSubscription: "token-1"
            )
            let ledger = scratch.ledger
            let before = try ledger.questions.size()
            let sizes = Mutex<[UInt64]>([])
            let sync = try Self.storeSync(scratch, api) { request in
                if request.url.hasSuffix(":acknowledge") {
                    // A log that cannot be read has nothing.
                    let size = (try? ledger.questions.size()) ?? 0
                    sizes.withLock { $0.append(size) }
                }
                return await api.transport(request)
            }
            let names = [PurchaseName.play("token-1")].compactMap(\.self)
            let told = try await sync.sync(names, in: .production)
            #expect(told.map(\.outcome) == [.reconciled])
            let found = sizes.withLock(\.self)
            #expect(found.count == 1 && found.allSatisfy { $0 > before }, "\(found)")
        }
    }

    @Test func `finds the token of a purchase that an order alone names`() async throws {
        try await Self.ledger(on: 40, knownBy: "GPA.1") { _, api, sync in
            api.set(try Self.subscription("GPA.1..0", until: 61), ofSubscription: "token-1")
            api.set("token-1", ofOrder: "GPA.1")
            let answer = try await sync.sync("alice", in: .production)
            #expect(answer.purchases.allSatisfy { $0.outcome == .reconciled })
            #expect(answer.purchases.contains { $0.found > 0 })
        }
    }

    // Stores, rule 3: a hint that nobody could ask about waits until somebody can
    @Test func `asks in a backfill about what only waits`() async throws {
        try await Self.ledger(on: 20, knownBy: "token-1") { scratch, api, sync in
            let hint = try Self.store.get()
                .push(subscription: 4, token: "token-2", id: "m1", at: Sample.day(10))
            for outcome in PlayImport.outcomes(
                of: hint,
                configuration: Self.configuration,
                now: scratch.clock.now
            ) {
                _ = try scratch.ledger.appender.record(try outcome.get())
            }
            api.set(try Self.subscription("GPA.1", until: 31), ofSubscription: "token-1")
            api.set(try Self.subscription("GPA.7", until: 41), ofSubscription: "token-2")
            let answer = try await StoreBackfill(sync, in: .production).run(
                since: nil,
                isInterrupted: { false },
                progress: { _, _, _ in }
            )
            #expect(answer.completed + answer.reconciled == 2)
            let purchases = try scratch.show("alice", at: Sample.day(20))["purchases"]?.array ?? []
            #expect(
                purchases.compactMap { $0["purchase"]?.string } == [
                    "play_store/token-1", "play_store/token-2",
                ]
            )
            #expect(purchases.allSatisfy { $0["status"]?.string == "active" })
        }
    }

    // trap 23: what is gone deletes nothing
    @Test func `takes nothing away where Google Play knows nothing any more`() async throws {
        try await Self.ledger(on: 20) { scratch, _, sync in
            let answer = try await sync.sync("alice", in: .production)
            #expect(answer.purchases.map(\.code) == [.notFound])
            let state = try scratch.show("alice", at: Sample.day(20))["purchases"]?.array?.first
            #expect(state?["status"]?.string == "active")
        }
    }

    @Test func `brings orders that were given back, in a backfill`() async throws {
        try await Self.ledger(on: 20) { scratch, api, sync in
            api.set(try Self.subscription("GPA.1", until: 31), ofSubscription: "token-1")
            api.setVoided(
                (0..<3).map { number in
                    .members([
                        "purchaseToken": number == 0 ? "token-1" : .string("other-\(number)"),
                        "orderId": number == 0 ? "GPA.1" : .string("GPA.2\(number)"),
                        "voidedTimeMillis": .string(String(Sample.day(10).milliseconds)),
                        "purchaseTimeMillis": .string(String(Sample.day(1).milliseconds)),
                        "voidedSource": .integer(1), "voidedReason": .integer(1),
                    ])
                }
            )
            let answer = try await StoreBackfill(sync, in: .production).run(
                since: nil,
                isInterrupted: { false },
                progress: { _, _, _ in }
            )
            #expect(answer.sources.map(\.store) == [Source.playStore])
            #expect(answer.sources.map(\.found) == [3])
            // Z12: of most weeks Google tells nothing, and leaves the list out.
            #expect(answer.sources.map(\.refused) == [0])
            let through = try scratch.ledger.questions.completeThrough(
                of: Source.playStore,
                in: .production
            )
            #expect(through == Sample.day(20))
            let state = try scratch.show("alice", at: Sample.day(20))["purchases"]?.array?.first
            #expect(state?["status"]?.string == "refunded")
        }
    }
}
