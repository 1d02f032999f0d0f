import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import StoreSimulator
import Stores
import Testing

/// What the App Store is asked for, and what comes of it (Stores, rule 9).
struct `A sync with the App Store` {
    private static let days: [Int64] = [0, 1, 30, 31, 45, 60, 61, 63, 65, 69, 71, 90, 99, 101]

    private static func expected(_ story: AppStoreStory) async throws -> [Bool] {
        let all = Array(story.account.notifications.indices)
        return try await story.ledger(on: 120, told: all) { scratch, _ in
            try story.access(scratch, at: days)
        }
    }

    // row 6.2, row Z12: with the first message alone, the App Store tells the rest
    @Test func `brings what was lost`() async throws {
        let story = try AppStoreStory.wholeLife()
        let expected = try await Self.expected(story)
        #expect(expected.filter(\.self).count == 10, "\(expected)")
        for told in [[0], [1], [4], [0, 3], [7], [2, 5]] {
            try await story.ledger(on: 120, told: told) { scratch, api in
                let answer = try await story.sync(scratch, api)
                #expect(answer.purchases.map(\.outcome) == [.reconciled], "\(told)")
                #expect(answer.purchases.map(\.code) == [nil])
                // A grace that was recovered from is what the App Store does not keep.
                let access = try story.access(scratch, at: Self.days)
                let keepsGrace = told.contains(2)
                for (day, (found, wanted)) in zip(Self.days, zip(access, expected))
                where keepsGrace || ![61, 63].contains(day) {
                    #expect(found == wanted, "told \(told), day \(day)")
                }
            }
        }
    }

    // the control: without it, what was lost is missing
    @Test func `is what brings it`() async throws {
        let story = try AppStoreStory.wholeLife()
        let expected = try await Self.expected(story)
        try await story.ledger(on: 120, told: [0]) { scratch, _ in
            let access = try story.access(scratch, at: Self.days)
            #expect(access != expected)
        }
    }

    // row 6.3, trap 24: a fetch that says nothing new adds nothing but that it was made
    @Test func `adds nothing to what is known`() async throws {
        let story = try AppStoreStory.wholeLife()
        let all = Array(story.account.notifications.indices)
        for told in [all, [0]] {
            try await story.ledger(on: 120, told: told) { scratch, api in
                if told != all { _ = try await story.sync(scratch, api) }
                for day: Int64 in [121, 122] {
                    scratch.clock.now = Sample.day(day)
                    let size = try scratch.ledger.questions.size()
                    let answer = try await story.sync(scratch, api)
                    let purchase = try #require(answer.purchases.first)
                    #expect(purchase.outcome == .completed, "told \(told), day \(day)")
                    #expect(purchase.appended == 0)
                    #expect(purchase.differences == [])
                    #expect(try scratch.ledger.questions.size() == size + 1)
                    // P11
                    let shown = try scratch.show(AppStoreStory.customer)["purchases"]?.array?.first
                    #expect(shown?["syncedAt"]?.string == Sample.day(day).description)
                }
            }
        }
    }

    // row 8.3: what differed is told and recorded
    @Test func `says what differed`() async throws {
        var story = try AppStoreStory()
        story.account.buy(AppStoreStory.month, at: Sample.day(1))
        story.account.renew(0, at: Sample.day(31))
        story.account.setRenewal(0, false, at: Sample.day(33))
        try await story.ledger(on: 40, told: [0]) { scratch, api in
            let answer = try await story.sync(scratch, api)
            #expect(answer.purchases.map(\.differences) == [["status", "expiresAt", "willRenew"]])
            let last = try scratch.ledger.questions.size() - 1
            let event = try #require(try scratch.ledger.questions.event(at: last)).event
            #expect(event.kind == .syncReconciled)
            #expect(event.data.text(.differences) == "status, expiresAt, willRenew")
            #expect(try story.access(scratch, at: [40]) == [true])
        }
    }

    @Test(arguments: [StoreResponse(status: 503), StoreResponse(status: 404), nil])
    func `tells where the App Store does not answer, and keeps what it told`(
        _ response: StoreResponse?
    ) async throws {
        var story = try AppStoreStory()
        story.account.buy(AppStoreStory.month, at: Sample.day(1))
        for day in 1..<30 { story.account.renew(0, at: Sample.day(1 + 30 * Int64(day))) }
        try await story.ledger(on: 890, told: [0]) { scratch, api in
            // One page is told.
            api.fail(after: 1, with: Array(repeating: response, count: 4))
            let answer = try await story.sync(scratch, api)
            let purchase = try #require(answer.purchases.first)
            #expect(purchase.outcome == .failed)
            #expect(purchase.code == (response?.status == 404 ? .notFound : .unavailable))
            #expect(purchase.found == 20)
            #expect(try story.access(scratch, at: [500, 700]) == [true, false])
            api.fail(with: [])
            _ = try await story.sync(scratch, api)
            #expect(try story.access(scratch, at: [500, 700]) == [true, true])
        }
    }

    @Test func `asks once for all that an Apple Account bought`() async throws {
        var story = try AppStoreStory()
        story.account.buy(AppStoreStory.month, at: Sample.day(1))
        story.account.buy(AppStoreStory.lifetime, at: Sample.day(2))
        try await story.ledger(on: 10, told: [0, 1]) { scratch, api in
            let answer = try await story.sync(scratch, api)
            #expect(answer.purchases.map(\.outcome) == [.completed, .completed])
            #expect(api.requests.count == 3)
        }
        // What it bought beside is brought, too.
        try await story.ledger(on: 10, told: [0]) { scratch, api in
            let answer = try await story.sync(scratch, api)
            #expect(answer.purchases.map(\.outcome) == [.completed, .reconciled])
            #expect(answer.purchases.map(\.differences) == [[], ["purchase"]])
            #expect(try story.access(scratch, at: [400]) == [true])
        }
    }

    @Test func `holds nothing for told whole that half an answer names`() async throws {
        var story = try AppStoreStory()
        story.account.buy(AppStoreStory.month, at: Sample.day(1))
        story.account.buy(AppStoreStory.lifetime, at: Sample.day(2))
        // The history is told, and then no refunds: of the one, or of the other one either.
        for (faults, code): (Int, SyncedPurchase.Code?) in [(12, .unavailable), (4, nil)] {
            try await story.ledger(on: 10, told: [0, 1]) { scratch, api in
                let response = StoreResponse(status: 503)
                api.fail(after: 1, with: Array(repeating: response, count: faults))
                let answer = try await story.sync(scratch, api)
                #expect(answer.purchases.map(\.code) == [code, code])
                let outcome: SyncedPurchase.Outcome = code == nil ? .completed : .failed
                #expect(answer.purchases.map(\.outcome) == [outcome, outcome])
                #expect(answer.purchases.allSatisfy { $0.found > 0 })
            }
        }
    }

    // Stores, rule 7
    @Test func `confirms no old claim of what half an answer names`() async throws {
        var story = try AppStoreStory()
        story.account.buy(AppStoreStory.month, at: Sample.day(1))
        story.account.buy(AppStoreStory.lifetime, at: Sample.day(2))
        try await story.ledger(on: 10, told: [0, 1]) { scratch, api in
            try Self.claim(story, in: scratch)
            api.fail(after: 1, with: Array(repeating: StoreResponse(status: 503), count: 12))
            _ = try await story.sync(scratch, api)
            #expect(try Self.confirmed(in: scratch) == 0)
            // The control
            api.fail(with: [])
            _ = try await story.sync(scratch, api)
            #expect(try Self.confirmed(in: scratch) == 2)
        }
    }

    /// Lets the customer claim all that was bought.
    private static func claim(_ story: AppStoreStory, in scratch: ScratchLedger) throws {
        let claims = story.account.bought.map { bought in
            Sample.line(
                "claim-" + bought.id,
                "customer.claimed",
                "customer/" + AppStoreStory.customer.text,
                data: #"{"purchase":"app_store/\#(bought.id)"}"#,
                time: scratch.clock.now
            )
        }
        _ = try scratch.ledger.appender.record(Sample.submissions(claims))
    }

    /// How many purchases the App Store confirmed.
    private static func confirmed(in scratch: ScratchLedger) throws -> Int {
        try (0..<scratch.ledger.questions.size())
            .compactMap { try scratch.ledger.questions.event(at: $0)?.event }
            .count { $0.data.text(.method) == "store_api" }
    }

    /// A sync that finds nothing new, and records no more than that it was made.
    private static func syncInVain(
        _ story: AppStoreStory,
        _ scratch: ScratchLedger,
        _ api: SimulatedAppStoreAPI
    ) async throws {
        let size = try scratch.ledger.questions.size()
        let answer = try await story.sync(scratch, api)
        #expect(answer.purchases.map(\.outcome) == [.completed])
        #expect(answer.purchases.map(\.differences) == [[]])
        #expect(try scratch.ledger.questions.size() == size + 1)
    }

    // P7: that all of a purchase is confirmed says nothing else of its periods
    @Test func `adds nothing once it has confirmed an old claim`() async throws {
        var story = try AppStoreStory()
        story.account.buy(AppStoreStory.month, at: Sample.day(1))
        story.account.renew(0, at: Sample.day(31))
        try await story.ledger(on: 40, told: [0, 1]) { scratch, api in
            try Self.claim(story, in: scratch)
            _ = try await story.sync(scratch, api)
            #expect(try Self.confirmed(in: scratch) == 1)
            for day: Int64 in [41, 42] {
                scratch.clock.now = Sample.day(day)
                try await Self.syncInVain(story, scratch, api)
            }
        }
    }

    // Stores, rule 7: that a grace is over is told without it, from the end that came before it (P4)
    @Test func `takes back no grace that was told`() async throws {
        var story = try AppStoreStory()
        story.account.buy(AppStoreStory.month, at: Sample.day(1))
        story.account.failRenewal(0, graceUntil: Sample.day(47), at: Sample.day(31))
        story.account.endGrace(0, at: Sample.day(47))
        // Whether its end was told; the last one is the control, of no grace at all.
        let rows: [(told: [Int], access: [Bool])] = [
            ([0, 1, 2], [true, true, true, false]), ([0, 1], [true, true, true, false]),
            ([0], [true, false, false, false]),
        ]
        for (told, access) in rows {
            try await story.ledger(on: 50, told: told) { scratch, api in
                if told.count == 3 {
                    try await Self.syncInVain(story, scratch, api)
                } else {
                    _ = try await story.sync(scratch, api)
                }
                #expect(try story.access(scratch, at: [30, 31, 46, 47]) == access, "\(told)")
                let shown = try scratch.show(AppStoreStory.customer)["purchases"]?.array?.first
                #expect(shown?["status"]?.string == "billing_retry", "\(told)")
                for day: Int64 in [51, 52] {
                    scratch.clock.now = Sample.day(day)
                    try await Self.syncInVain(story, scratch, api)
                }
            }
        }
    }

    @Test func `is not made where nobody may ask`() async throws {
        var story = try AppStoreStory()
        story.account.buy(AppStoreStory.month, at: Sample.day(1))
        try await story.ledger(on: 10, told: [0]) { scratch, _ in
            let clock = scratch.clock
            let sync = StoreSync(
                scratch.ledger,
                StoreClients(),
                pool: DispatchPool(),
                clock: { clock.now },
                makeID: { "s" }
            )
            let size = try scratch.ledger.questions.size()
            let answer = try await sync.sync(AppStoreStory.customer, in: .production)
            #expect(answer.purchases.map(\.outcome) == [.notAsked])
            #expect(answer.purchases.map(\.code) == [.notConfigured])
            #expect(try scratch.ledger.questions.size() == size)
        }
    }
}
