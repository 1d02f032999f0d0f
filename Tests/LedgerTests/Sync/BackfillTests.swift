import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import StoreSimulator
import Stores
import Synchronization
import Testing

/// What the stores are asked about everybody.
struct `A backfill` {
    private static let days: [Int64] = [0, 1, 30, 31, 45, 60, 61, 63, 65, 69, 71, 90, 99, 101]

    private static func run(
        _ story: AppStoreStory,
        _ scratch: ScratchLedger,
        _ api: SimulatedAppStoreAPI,
        since: Instant? = nil,
        stopping after: Int = .max
    ) async throws -> BackfillAnswer {
        let sync = try story.storeSync(scratch, api)
        let asked = api.requests.count
        return try await StoreBackfill(sync, in: .production).run(
            since: since,
            isInterrupted: { api.requests.count - asked >= after },
            progress: { _, _, _ in }
        )
    }

    // row 6.2, row Z12: nothing at all was told, and nobody is known
    @Test func `brings everything that the App Store sent`() async throws {
        let story = try AppStoreStory.wholeLife()
        let all = Array(story.account.notifications.indices)
        let expected = try await story.ledger(on: 120, told: all) { scratch, _ in
            try story.access(scratch, at: Self.days)
        }
        #expect(expected.contains(true))
        try await story.ledger(on: 120, told: []) { scratch, api in
            let answer = try await Self.run(story, scratch, api)
            #expect(answer.sources.map(\.found) == [all.count])
            #expect(answer.sources.map(\.through) == [Sample.day(120)])
            #expect(answer.completed == 1)
            #expect(try story.access(scratch, at: Self.days) == expected)
            let status = try scratch.ledger.auditor.status()
            let told = status.completeness.first { $0.name == Source.appStore }
            #expect(told?.value.through == Sample.day(120))
            // What is known is not appended again: a mark of the stretch, and of the purchase.
            let size = try scratch.ledger.questions.size()
            let again = try await Self.run(story, scratch, api, since: Sample.day(110))
            #expect(again.sources.map(\.appended) == [0])
            #expect(try scratch.ledger.questions.size() == size + 3)
        }
    }

    /// Tier, features and purchases on each day, without what tells when a store was asked.
    private static func states(_ scratch: ScratchLedger) throws -> [[JSONValue?]] {
        try (Int64(0)..<120).map { day in
            let at = Sample.day(day).advanced(byMilliseconds: 60_000)
            let shown = try scratch.show(AppStoreStory.customer, at: at)
            let purchases = (shown["purchases"]?.array ?? []).map { purchase in
                JSONValue.object(
                    (purchase.members ?? []).filter {
                        !["isSynced", "syncedAt"].contains($0.name)
                    }
                )
            }
            return [shown["tier"], shown["features"], .array(purchases)]
        }
    }

    // rows 6.2, 8.3, Z12: the App Store tells again all that it sent, so that nothing is left of the loss
    @Test func `makes a ledger that lost a week the same as one that lost none`() async throws {
        let story = try AppStoreStory.wholeLife()
        let all = Array(story.account.notifications.indices)
        let whole = try await story.ledger(on: 120, told: all) { scratch, _ in
            try Self.states(scratch)
        }
        var missed = 0
        for first in stride(from: Int64(0), to: 105, by: 7) {
            let week = Sample.day(first)..<Sample.day(first + 7)
            let told = all.filter { !week.contains(story.account.notifications[$0].time) }
            guard told.count < all.count else { continue }
            try await story.ledger(on: 120, told: told) { scratch, api in
                // The control: that it was lost shows.
                if try Self.states(scratch) != whole { missed += 1 }
                _ = try await Self.run(story, scratch, api)
                #expect(try Self.states(scratch) == whole, "the week of day \(first)")
            }
        }
        #expect(missed > 0)
    }

    // row Z12: what was not asked for is not known to be complete
    @Test func `does not say that all is known where it left something out`() async throws {
        let story = try AppStoreStory.wholeLife()
        try await story.ledger(on: 120, told: []) { scratch, api in
            func through() throws -> Instant? {
                try scratch.ledger.questions.completeThrough(of: Source.appStore, in: .production)
            }
            _ = try await Self.run(story, scratch, api, since: Sample.day(90))
            #expect(try through() == nil)
            _ = try await Self.run(story, scratch, api)
            #expect(try through() == Sample.day(120))
            scratch.clock.now = Sample.day(160)
            _ = try await Self.run(story, scratch, api, since: Sample.day(150))
            #expect(try through() == Sample.day(120))
        }
    }

    // row Z12: what strangers post, hour by hour, makes nobody forget how far the store was asked.
    @Test func `is remembered whatever is refused since`() async throws {
        let story = try AppStoreStory.wholeLife()
        try await story.ledger(on: 120, told: []) { scratch, api in
            _ = try await Self.run(story, scratch, api)
            let before = try scratch.ledger.questions.size()
            for _ in 0...Questions.storeEventLimit {
                scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: 3_600_000)
                try scratch.ledger.appender.countRefusal(
                    "bad_signature",
                    of: Source.appStore,
                    environment: .production
                )
            }
            // The control: each was noted.
            let noted = try scratch.ledger.questions.size() - before
            #expect(noted > UInt64(Questions.storeEventLimit))
            let through = try scratch.ledger.questions.completeThrough(
                of: Source.appStore,
                in: .production
            )
            #expect(through == Sample.day(120))
        }
    }

    /// An App Store that tells of a stretch longer than this, in milliseconds, in pages without end.
    private static func crowded(
        beyond length: Int64,
        _ api: SimulatedAppStoreAPI
    ) -> (transport: StoreTransport, asked: @Sendable () -> Int) {
        let transport = api.transport
        let pages = Mutex(0)
        return (
            { request in
                guard request.url.contains("notifications/history"),
                    let asked = try? JSONValue(parsing: request.body),
                    let first = asked["startDate"]?.integer, let last = asked["endDate"]?.integer,
                    last - first > length
                else { return await transport(request) }
                let next = pages.withLock { count in
                    count += 1
                    return count
                }
                let page = JSONValue.members([
                    "hasMore": .bool(true), "paginationToken": .string("\(next)"),
                    "notificationHistory": .array([]),
                ])
                return StoreResponse(status: 200, body: Array(page.description.utf8))
            },
            { pages.withLock(\.self) }
        )
    }

    // A shop of 100 000 subscribers is told of more in a week than is read of one list.
    @Test func `asks for less at once where more was sent than is read`() async throws {
        let story = try AppStoreStory.wholeLife()
        let all = Array(story.account.notifications.indices)
        let five = 5 * Instant.millisecondsPerDay
        try await story.ledger(on: 120, told: []) { scratch, api in
            let crowded = Self.crowded(beyond: five, api)
            let sync = try story.storeSync(scratch, api, by: crowded.transport)
            let answer = try await StoreBackfill(sync, in: .production).run(
                since: nil,
                isInterrupted: { false },
                progress: { _, _, _ in }
            )
            #expect(answer.isWhole && answer.sources.map(\.found) == [all.count])
            #expect(answer.sources.map(\.through) == [Sample.day(120)])
            #expect(crowded.asked() >= StorePages.limit)
            // Control: one that never ends is given up, and nothing is said to be complete.
            scratch.clock.now = Sample.day(120).advanced(byMilliseconds: 120_000)
            let endless = Self.crowded(beyond: -1, api)
            let again = try await StoreBackfill(
                story.storeSync(scratch, api, by: endless.transport),
                in: .production
            ).run(since: nil, isInterrupted: { false }, progress: { _, _, _ in })
            #expect(again.sources.map(\.code) == [.malformed])
            #expect(again.sources.map(\.through) == [Sample.day(120)])
        }
    }

    // row Z12: what was refused may have been the App Store's word
    @Test func `does not say that all is known where something was refused`() async throws {
        let story = try AppStoreStory.wholeLife()
        try await story.ledger(on: 120, told: []) { scratch, api in
            func through() throws -> Instant? {
                try scratch.ledger.questions.completeThrough(of: Source.appStore, in: .production)
            }
            let refused = try await Self.run(story.expecting(appAppleID: 1), scratch, api)
            // Until the stretch in which the first was.
            let known = try #require(try through())
            #expect(known <= Sample.day(1))
            let source = try #require(refused.sources.first)
            #expect(source.refused > 0 && source.refused == source.found)
            // Control: once the number is mended all of it is asked for again.
            let mended = try await Self.run(story, scratch, api)
            #expect(mended.sources.map(\.since) == [known])
            #expect(mended.sources.map(\.refused) == [0] && mended.sources[0].appended > 0)
            #expect(try through() == Sample.day(120))
        }
    }

    // resumable: it goes on where the log is known to be complete
    @Test func `goes on where it was ended`() async throws {
        let story = try AppStoreStory.wholeLife()
        try await story.ledger(on: 120, told: []) { scratch, api in
            let first = try await Self.run(story, scratch, api, stopping: 12)
            let through = try #require(first.sources.first?.through)
            #expect(through < Sample.day(120))
            #expect(first.completed == 0)
            let second = try await Self.run(story, scratch, api)
            #expect(second.sources.map(\.since) == [through])
            #expect(second.sources.map(\.through) == [Sample.day(120)])
            #expect(try story.access(scratch, at: [45, 65, 90]) == [true, false, true])
        }
    }

    @Test func `says where the App Store did not tell all`() async throws {
        let story = try AppStoreStory.wholeLife()
        try await story.ledger(on: 120, told: [0]) { scratch, api in
            api.fail(with: Array(repeating: StoreResponse(status: 401), count: 100))
            let answer = try await Self.run(story, scratch, api)
            #expect(answer.sources.map(\.code) == [.notPermitted])
            #expect(answer.failed == 1 && answer.failures.map(\.code) == [.notPermitted])
            #expect(!answer.isWhole)
            let through = try scratch.ledger.questions.completeThrough(
                of: Source.appStore,
                in: .production
            )
            #expect(through == nil)
        }
    }

    // One that was never released stands before it in the order in which apps are asked about.
    @Test(arguments: [false, true]) func `goes on behind an app of which nothing is told`(
        _ isWithheld: Bool
    ) async throws {
        let story = try AppStoreStory.wholeLife()
        try await story.ledger(on: 120, told: []) { scratch, api in
            let other = "com.example.app.dev"
            let apps = [story.store.bundleID] + (isWithheld ? ["a." + other, other] : [])
            for app in apps.dropFirst() { api.withhold(app) }
            let sync = try story.storeSync(scratch, api, about: apps)
            let answer = try await StoreBackfill(sync, in: .production).run(
                since: nil,
                isInterrupted: { false },
                progress: { _, _, _ in }
            )
            #expect(answer.sources.map(\.code) == [isWithheld ? .notPermitted : nil])
            #expect(answer.sources[0].appended > 0 && answer.failed == 0)
            #expect(try story.access(scratch, at: [45, 65, 90]) == [true, false, true])
            // Whether it is all nobody knows.
            let through = try scratch.ledger.questions.completeThrough(
                of: Source.appStore,
                in: .production
            )
            #expect((through == nil) == isWithheld)
        }
    }

    @Test func `asks about purchases that are listed, known or not`() async throws {
        let story = try AppStoreStory.wholeLife()
        try await story.ledger(on: 120, told: []) { scratch, api in
            let sync = try story.storeSync(scratch, api)
            let listed = ["app_store/2101000003", "2101000001", "app_store/999999999"]
            let answer = try await StoreBackfill(sync, in: .production).run(
                about: listed.compactMap { SyncList.purchase(inLine: $0) },
                isInterrupted: { false },
                progress: { _, _ in }
            )
            #expect(answer.reconciled == 1)
            #expect(answer.failures.map(\.purchase) == ["app_store/999999999"])
            #expect(try story.access(scratch, at: [45, 90]) == [true, true])
        }
    }

    // An Apple Account's history tells of all that it bought, wherever the rest of it stands in the list.
    @Test func `asks nothing of what another batch was told`() async throws {
        let story = try AppStoreStory.wholeLife()
        try await story.ledger(on: 120, told: []) { scratch, api in
            let sync = try story.storeSync(scratch, api)
            // More than are asked about at once.
            let others = (0..<200).map { "app_store/99999\(1000 + $0)" }
            let listed = ["app_store/2101000003"] + others + ["app_store/2101000001"]
            let answer = try await StoreBackfill(sync, in: .production).run(
                about: listed.compactMap { PurchaseName($0) },
                isInterrupted: { false },
                progress: { _, _ in }
            )
            #expect(answer.reconciled == 1 && answer.completed == 0 && answer.failed == 200)
            #expect(!api.requests.contains { $0.url.contains("2101000001") })
        }
    }

    // It does not go past those of which a store does not want to be asked now.
    @Test(arguments: [(429, SyncedPurchase.Code.rateLimited), (404, .notFound)])
    func `ends where the App Store wants no more questions`(
        _ status: Int,
        _ code: SyncedPurchase.Code
    ) async throws {
        let story = try AppStoreStory.wholeLife()
        try await story.ledger(on: 120, told: []) { scratch, api in
            let sync = try story.storeSync(scratch, api)
            let listed = (0..<450).compactMap { PurchaseName("app_store/99999\(1000 + $0)") }
            let response = StoreResponse(status: status, headers: ["retry-after": "3600"])
            api.fail(after: 200, with: Array(repeating: response, count: 450))
            let answer = try await StoreBackfill(sync, in: .production).run(
                about: listed,
                isInterrupted: { false },
                progress: { _, _ in }
            )
            // Control: a store that knows nothing of one may be asked about the next.
            #expect(answer.remaining == (code == .rateLimited ? 50 : 0))
            #expect(answer.failed == 450 - answer.remaining && !answer.isWhole)
            // What is under way with the first that it refuses is asked, and nothing behind it.
            #expect(
                code == .rateLimited
                    ? (201...208).contains(api.requests.count)
                    : api.requests.count == answer.failed
            )
        }
    }

    @Test func `keeps its place where a store wants no more questions`() async throws {
        let story = try AppStoreStory.wholeLife()
        try await story.ledger(on: 120, told: [0]) { scratch, api in
            var reached: [UInt64] = []
            func run() async throws -> BackfillAnswer {
                try await StoreBackfill(try story.storeSync(scratch, api), in: .production).run(
                    since: nil,
                    isInterrupted: { false },
                    progress: { reached.append($2) }
                )
            }
            api.fail(with: Array(repeating: StoreResponse(status: 429), count: 1000))
            let answer = try await run()
            #expect(answer.failures.map(\.code) == [.rateLimited] && reached == [])
            api.fail(with: [])
            #expect(try await run().isWhole)
            #expect(reached == [0])
        }
    }

    @Test(arguments: [
        ("app_store/2000000123", "app_store/2000000123"),
        ("2000000123456", "app_store/2000000123456"),
        ("GPA.3300-1", "play_store/GPA.3300-1"), ("a-token.of-play", "play_store/a-token.of-play"),
        (#""GPA.3300-1","2026-01-01","Charged""#, "play_store/GPA.3300-1"),
        ("Charged, GPA.3300-2..0 ,EUR\r", "play_store/GPA.3300-2..0"), ("order,date,state", nil),
        ("", nil), ("two words", nil), ("12", "play_store/12"), ("token\u{FFFD}", nil),
    ])
    func `reads a line of a list`(_ line: String, _ purchase: String?) {
        #expect(SyncList.purchase(inLine: line)?.description == purchase)
    }

    @Test func `keeps how far it came for a day`() async throws {
        try await withScratchDirectory { folder in
            func progress(
                _ day: Int64,
                _ environment: StoreEnvironment = .production
            )
                -> BackfillProgress
            {
                BackfillProgress(ofLedgerAt: folder, environment) { Sample.day(day) }
            }
            #expect(try progress(1).next() == 0)
            try progress(1).reach(4096)
            #expect(try progress(2).next() == 4096)
            #expect(try progress(1, .sandbox).next() == 0)
            #expect(try progress(3).next() == 0)
            try progress(2).reach(0)
            #expect(try progress(2).next() == 0)
        }
    }

    // One that takes longer than a day is gone on with, not begun anew.
    @Test func `keeps when it came so far, not when it began`() async throws {
        try await withScratchDirectory { folder in
            let day = Mutex<Int64>(1)
            let progress = BackfillProgress(ofLedgerAt: folder, .production) {
                Sample.day(day.withLock(\.self))
            }
            #expect(try progress.next() == 0)
            day.withLock { $0 = 3 }
            try progress.reach(4096)
            day.withLock { $0 = 4 }
            #expect(try progress.next() == 4096)
        }
    }
}
