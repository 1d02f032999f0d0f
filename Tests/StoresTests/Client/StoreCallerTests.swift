import Encodings
import Entitlements
import Synchronization
import Testing

@testable import Stores

/// A store that answers as a test says, and a clock that moves as somebody sleeps.
private final class Scripted: Sendable {
    private let responses: Mutex<[StoreResponse?]>
    private let time = Atomic<Int64>(1_780_272_000_000)
    private let slept = Mutex<[Int64]>([])
    private let count = Atomic<Int>(0)

    /// The last one stands for all that follow.
    init(_ responses: StoreResponse?...) { self.responses = Mutex(responses) }

    var now: Instant { Instant(milliseconds: time.load(ordering: .relaxed)) }
    var sleeps: [Int64] { slept.withLock(\.self) }
    var asked: Int { count.load(ordering: .relaxed) }

    func pass(_ milliseconds: Int64) { time.add(milliseconds, ordering: .relaxed) }

    func caller(_ policy: StoreCaller.Policy = StoreCaller.Policy()) -> StoreCaller {
        StoreCaller(
            { _ in
                self.count.add(1, ordering: .relaxed)
                return self.responses.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            },
            policy: policy,
            clock: { self.now },
            sleep: { milliseconds in
                self.slept.withLock { $0.append(milliseconds) }
                self.pass(milliseconds)
            },
            random: { 1 }
        )
    }
}

struct `A question to a store` {
    private static let request = StoreRequest(.get, "https://example.com/")

    private static func fault(
        _ caller: StoreCaller,
        _ request: StoreRequest = request
    ) async -> StoreFault? {
        do throws(StoreFault) {
            _ = try await caller.send(request)
            return nil
        } catch { return error }
    }

    private static func response(_ status: Int, _ retryAfter: String? = nil) -> StoreResponse {
        StoreResponse(status: status, headers: retryAfter.map { ["retry-after": $0] } ?? [:])
    }

    // row 8.1
    @Test func `is asked again where the store is at fault, later each time`() async {
        let store = Scripted(nil, Self.response(503), Self.response(500), Self.response(200))
        #expect(await Self.fault(store.caller()) == nil)
        #expect(store.asked == 4)
        #expect(store.sleeps == [250, 500, 1000])
    }

    @Test func `is given up after so many times`() async {
        let store = Scripted(Self.response(502))
        #expect(await Self.fault(store.caller()) == StoreFault(.unavailable, status: 502))
        #expect(store.asked == 4)
    }

    static let verdicts: [(Int, StoreFault.Code, Bool)] = [
        (400, .rejected, false), (401, .notPermitted, true), (403, .notPermitted, true),
        (404, .notFound, false), (410, .notFound, false), (301, .unavailable, true),
        (408, .unavailable, true), (422, .rejected, false), (500, .unavailable, true),
    ]

    // trap 23: a token that is gone deletes nothing, and is not asked for again
    @Test(arguments: verdicts)
    func `has its fault by its status`(
        _ status: Int,
        _ code: StoreFault.Code,
        _ isTransient: Bool
    ) async {
        let store = Scripted(Self.response(status))
        let fault = await Self.fault(store.caller())
        #expect(fault?.code == code && fault?.status == status)
        #expect(fault?.isTransient == isTransient)
        #expect(store.asked == (code == .unavailable ? 4 : 1))
    }

    @Test func `waits as long as the store asks for, within its deadline`() async {
        let store = Scripted(Self.response(429, "3"), Self.response(200))
        #expect(await Self.fault(store.caller()) == nil)
        #expect(store.sleeps == [3000])
        let patient = Scripted(Self.response(429, "60"), Self.response(200))
        #expect(
            await Self.fault(patient.caller())
                == StoreFault(.rateLimited, status: 429, retryAfter: 60)
        )
        #expect(patient.asked == 1 && patient.sleeps == [])
    }

    // Stores, rule 9: how often is counted over all questions
    @Test func `waits for what another was told that asked too often`() async {
        var policy = StoreCaller.Policy()
        policy.attempts = 1
        let store = Scripted(Self.response(429, "60"), Self.response(200))
        let caller = store.caller(policy)
        #expect(await Self.fault(caller)?.code == .rateLimited)
        #expect(await Self.fault(caller) == StoreFault(.rateLimited, retryAfter: 60))
        #expect(store.asked == 1)
        store.pass(59_000)
        #expect(await Self.fault(caller) == nil)
        #expect(store.asked == 2 && store.sleeps == [1000])
        // The longest is an hour: nobody knows what is in a day.
        let long = Scripted(Self.response(429, "86400"), Self.response(200))
        let patient = long.caller(policy)
        #expect(await Self.fault(patient)?.code == .rateLimited)
        long.pass(3_600_000)
        #expect(await Self.fault(patient) == nil)
        // Of a store that counts over a minute no more than that is believed.
        policy.longestWait = 60_000
        let brief = Scripted(Self.response(429, "86400"), Self.response(200))
        let hasty = brief.caller(policy)
        let told = await Self.fault(hasty)
        #expect(told == StoreFault(.rateLimited, status: 429, retryAfter: 60))
        brief.pass(60_000)
        #expect(await Self.fault(hasty) == nil)
        // The control: what one question cannot be answered for holds up no other.
        let ill = Scripted(Self.response(503, "60"), Self.response(200))
        let other = ill.caller(policy)
        #expect(await Self.fault(other)?.code == .unavailable)
        #expect(await Self.fault(other) == nil && ill.sleeps == [])
    }

    // A claim that waits no longer says nothing of the store.
    @Test func `that nobody waits for is no fault of the store`() async {
        let store = Scripted(nil)
        let caller = store.caller()
        for _ in 0..<20 {
            let given = Task {
                // It ends by being cancelled.
                try? await Task.sleep(for: .seconds(3600))
                return await Self.fault(caller)
            }
            given.cancel()
            #expect(await given.value?.code == .unavailable)
        }
        #expect(store.asked == 0)
        #expect(await Self.fault(caller)?.code == .unavailable)
        #expect(store.asked == 4, "it does not rest")
    }

    @Test func `is not asked while the store rests, and once after it`() async {
        var policy = StoreCaller.Policy()
        policy.attempts = 1
        let store = Scripted(Self.response(500))
        let caller = store.caller(policy)
        for _ in 0..<10 { #expect(await Self.fault(caller)?.code == .unavailable) }
        #expect(store.asked == 10)
        #expect(await Self.fault(caller) == StoreFault(.resting, retryAfter: 30))
        #expect(store.asked == 10)
        store.pass(30_000)
        #expect(await Self.fault(caller)?.code == .unavailable)
        #expect(await Self.fault(caller)?.code == .resting)
        #expect(store.asked == 11)
    }

    private static let sandbox = StoreRequest(.get, "https://sandbox.example/a")
    private static let production = StoreRequest(.get, "https://production.example/a")

    // Stores, rule 9: what one address says of itself holds up no other
    @Test func `is not asked at the address that rests, and at the other one`() async {
        var policy = StoreCaller.Policy()
        policy.attempts = 1
        let store = Scripted(Self.response(503))
        let caller = store.caller(policy)
        for _ in 0..<10 {
            #expect(await Self.fault(caller, Self.sandbox)?.code == .unavailable)
        }
        #expect(await Self.fault(caller, Self.production)?.code == .unavailable)
        #expect(store.asked == 11)
        #expect(await Self.fault(caller, Self.sandbox) == StoreFault(.resting, retryAfter: 30))
        #expect(caller.heldUntil(at: Self.production.url) == nil)
        let end = store.now.advanced(byMilliseconds: 30_000)
        #expect(caller.heldUntil(at: Self.sandbox.url) == end && caller.heldUntil == end)
    }

    @Test func `waits for no limit of another address`() async throws {
        var policy = StoreCaller.Policy()
        policy.attempts = 1
        policy.credit = 1000
        let store = Scripted(Self.response(429, "60"), Self.response(200))
        let caller = store.caller(policy)
        #expect(await Self.fault(caller, Self.sandbox)?.code == .rateLimited)
        #expect(caller.heldUntil(at: Self.production.url) == nil)
        let end = store.now.advanced(byMilliseconds: 60_000)
        #expect(caller.heldUntil(at: Self.sandbox.url) == end)
        #expect(await Self.fault(caller, Self.production) == nil)
        // The other one's answer ends no wait.
        #expect(caller.heldUntil(at: Self.sandbox.url) == end && caller.heldUntil == end)
        store.pass(60_000)
        #expect(caller.heldUntil == nil)
        // The time of one is not the other's.
        for _ in 0..<5 { _ = try await caller.send(Self.sandbox, spacing: 200) }
        _ = try await caller.send(Self.production, spacing: 20)
        #expect(store.sleeps == [])
        _ = try await caller.send(Self.sandbox, spacing: 200)
        #expect(store.sleeps == [200], "the control")
    }

    @Test func `leaves no store alone that answers`() async {
        var policy = StoreCaller.Policy()
        policy.attempts = 1
        // A control for the one before: a no is an answer.
        let store = Scripted(Self.response(404))
        let caller = store.caller(policy)
        for _ in 0..<50 { #expect(await Self.fault(caller)?.code == .notFound) }
        #expect(store.asked == 50)
    }

    @Test func `waits its turn where many are asked`() async {
        let running = Atomic<Int>(0)
        let most = Atomic<Int>(0)
        let caller = StoreCaller(
            { _ in
                let now = running.add(1, ordering: .relaxed).newValue
                most.max(now, ordering: .relaxed)
                try? await Task.sleep(for: .milliseconds(2))
                running.subtract(1, ordering: .relaxed)
                return StoreResponse(status: 200)
            },
            clock: { Instant(milliseconds: 0) },
            sleep: { _ in },
            random: { 0 }
        )
        await withTaskGroup(of: StoreFault?.self) { group in
            for _ in 0..<60 { group.addTask { await Self.fault(caller) } }
            for await fault in group { #expect(fault == nil) }
        }
        #expect(most.load(ordering: .relaxed) <= 8)
        #expect(most.load(ordering: .relaxed) > 1)
    }

    // Stores, rule 7: a claim waits for two seconds, however many others ask.
    @Test(.timeLimit(.minutes(60)))
    func `that nobody waits for any longer waits for no turn`() async {
        let running = Atomic<Int>(0)
        let isOver = Atomic<Bool>(false)
        let caller = StoreCaller(
            { _ in
                running.add(1, ordering: .relaxed)
                while !isOver.load(ordering: .relaxed), !Task.isCancelled {
                    // Who is cancelled has waited long enough.
                    try? await Task.sleep(for: .milliseconds(2))
                }
                return StoreResponse(status: 200)
            },
            clock: { Instant(milliseconds: 0) },
            sleep: { _ in },
            random: { 0 }
        )
        await withTaskGroup(of: StoreFault?.self) { group in
            for _ in 0..<8 { group.addTask { await Self.fault(caller) } }
            while running.load(ordering: .relaxed) < 8, !Task.isCancelled {
                // It ends by being cancelled, too.
                try? await Task.sleep(for: .milliseconds(2))
            }
            for _ in 0..<10 {
                let given = Task { await Self.fault(caller) }
                // Most of them stand in the line by then; what holds for one that does not is the same.
                try? await Task.sleep(for: .milliseconds(5))
                given.cancel()
                let fault = await given.value
                #expect(fault?.code == .unavailable)
                #expect(running.load(ordering: .relaxed) == 8)
            }
            isOver.store(true, ordering: .relaxed)
            for await fault in group { #expect(fault == nil) }
        }
        // No place is lost.
        for _ in 0..<9 { #expect(await Self.fault(caller) == nil) }
    }

    // What an hour allows may be used at once; behind it questions are spaced.
    @Test func `comes at the store's pace`() async throws {
        let store = Scripted(Self.response(200))
        var policy = StoreCaller.Policy()
        policy.credit = 1000
        let caller = store.caller(policy)
        for _ in 0..<50 { _ = try await caller.send(Self.request, spacing: 20) }
        #expect(store.sleeps == [])
        for _ in 0..<5 { _ = try await caller.send(Self.request, spacing: 20) }
        _ = try await caller.send(Self.request, spacing: 200)
        #expect(store.sleeps == [20, 20, 20, 20, 20, 200])
        // Who has waited has credit again, and no more than that.
        store.pass(60_000)
        for _ in 0..<51 { _ = try await caller.send(Self.request, spacing: 20) }
        #expect(store.sleeps.count == 7)
        // Control: a store that names no rate.
        for _ in 0..<500 { _ = try await caller.send(Self.request) }
        #expect(store.sleeps.count == 7)
    }

    // Who does not wait any longer takes no time from the others, nor does who would have to wait too long.
    @Test func `that is not asked uses nothing of the store's time`() async throws {
        let time = Atomic<Int64>(1_780_272_000_000)
        var policy = StoreCaller.Policy()
        policy.credit = 1000
        let caller = StoreCaller(
            { _ in StoreResponse(status: 200) },
            policy: policy,
            clock: { Instant(milliseconds: time.load(ordering: .relaxed)) },
            sleep: { _ in },
            random: { 0 }
        )
        @Sendable func fault() async -> StoreFault? {
            do throws(StoreFault) {
                _ = try await caller.send(Self.request, spacing: 1000)
                return nil
            } catch { return error }
        }
        // The first has its turn at once, the last one waits as long as a question may.
        for _ in 0..<9 { #expect(await fault() == nil) }
        let given = await withTaskGroup(of: StoreFault?.self) { group in
            group.cancelAll()
            group.addTask { await fault() }
            return await group.next() ?? nil
        }
        #expect(given?.code == .unavailable)
        #expect(await fault() == nil, "its time was given back")
        for _ in 0..<100 {
            let fault = await fault()
            #expect(fault?.code == .rateLimited && fault?.retryAfter == 10)
        }
        time.add(1000, ordering: .relaxed)
        #expect(await fault() == nil)
        #expect(await fault()?.code == .rateLimited, "the control: one place was free")
    }

    static let waits: [(String, Int64?)] = [
        ("0", 0), ("120", 120_000), ("Mon, 01 Jun 2026 00:02:00 GMT", 120_000),
        ("Mon, 01 Jun 2026 00:00:00 GMT", 0), ("Sun, 31 May 2026 00:00:00 GMT", 0),
        ("172800", 86_400_000), ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400_000),
        // Apple's: an instant in milliseconds.
        ("1780272120000", 120_000), ("1780271000000", 0),
        ("", nil), ("soon", nil), ("-1", nil), ("1.5", nil), ("Mon, 01 Jun 2026 00:02:00", nil),
        ("Mon, 01 June 2026 00:02:00 GMT", nil), ("99999999999999999999", nil),
        ("9223372036854775807", 86_400_000),
    ]

    @Test(arguments: waits)
    func `is told in many ways how long to wait`(_ text: String, _ milliseconds: Int64?) {
        let now = Instant(milliseconds: 1_780_272_000_000)
        #expect(RetryAfter.milliseconds(text, at: now) == milliseconds)
    }
}
