import Encodings
import Entitlements
import LedgerAPI
import ModelSupport
import Testing

@testable import EntitlementClient

/// An update refreshes exactly once, and many at a time do so together (row ES4).
struct `A refresh` {
    // row ES4
    @Test func `answers a whole burst, and one more answers all who came meanwhile`() async throws {
        let setup = StoreSetup()
        let store = setup.store()
        await store.start()
        let before = setup.server.count("/snapshot")
        setup.server.hold()
        await withTaskGroup { group in
            group.addTask { await store.refresh() }
            #expect(await eventually { setup.server.heldCount == 1 })
            for _ in 0..<20 { group.addTask { await store.refresh() } }
            // Those wait for the second, which begins behind the first.
            #expect(setup.server.count("/snapshot") == before + 1)
            setup.server.release()
            for await result in group { #expect(result == .refreshed(noon)) }
        }
        let made = setup.server.count("/snapshot") - before
        // Whoever was slow to ask came behind the second: never more than one for each round.
        #expect(made >= 2 && made <= 21)
        await store.stop()
    }

    // Somebody between kept an older answer: it has not seen what was recorded.
    @Test(arguments: [(7, true), (8, false)] as [(UInt64, Bool)])
    func `takes no answer that has seen less than was asked for`(
        _ size: UInt64,
        isTaken: Bool
    ) async {
        let setup = StoreSetup()
        let store = setup.store()
        await store.start()
        setup.server.set(until: nil, at: noon.plus(seconds: 60))
        let result = await store.refresh(seeing: size)
        #expect(
            result
                == (isTaken ? .refreshed(noon.plus(seconds: 60)) : .kept(CallFault.unreached.error))
        )
        #expect(store.current.asOf == (isTaken ? noon.plus(seconds: 60) : noon))
        // A server that was restored to less never comes that far: what it knows is taken then.
        #expect(await store.refresh(seeing: size) == .refreshed(noon.plus(seconds: 60)))
        #expect(await store.refresh(seeing: 9) == .kept(CallFault.unreached.error))
        await store.stop()
    }

    // row Z17: of several machines one may be behind another
    @Test func `takes no answer that is behind the one before it, for an hour`() async {
        let setup = StoreSetup()
        setup.server.set(until: nil, sequence: 8)
        let store = setup.store()
        await store.start()
        setup.server.set(until: noon, at: noon.plus(seconds: 60))
        for seconds in [60, 3599] as [Int64] {
            setup.time.pass(to: noon.plus(seconds: seconds))
            #expect(await store.refresh() == .kept(CallFault.unreached.error))
            #expect(store.gate.isOpen("export"))
            #expect(setup.server.requests.last?.headers["Ledger-Min-Sequence"] == "8")
        }
        // A server that was restored to less does not come that far again.
        setup.time.pass(to: noon.plus(seconds: 3600))
        #expect(await store.refresh() == .refreshed(noon.plus(seconds: 60)))
        #expect(store.current.sequence == 7 && !store.gate.isOpen("export"))
        await store.stop()
    }

    // row 3.4: the server's answer replaces what only the store has opened, also where the app has not asked
    @Test(arguments: [true, false])
    func `replaces what was open provisionally, whoever asked for it`(
        _ isByItself: Bool
    ) async throws {
        let setup = ServiceSetup()
        setup.shop.tell(.verified(sampleTransaction()))
        await setup.shop.finish(sampleTransaction())
        setup.server.isAway = true
        let service = setup.service()
        await service.start()
        #expect(service.gate.decision("export").source == .provisional, "the control")
        setup.server.isAway = false
        if isByItself {
            #expect(await eventually { setup.time.alarms.count == 1 })
            let again = try #require(setup.time.alarms.first)
            try #require(again < noon.plus(seconds: 10))
            setup.time.pass(to: again)
            #expect(await eventually { service.store.current.source == .server })
        } else {
            #expect(await service.store.refresh() == .refreshed(noon))
        }
        #expect(await eventually { !service.gate.isOpen("export") })
        await service.stop()
    }

    // row CL5: what was renewed elsewhere would stay closed for as long as the device's store is silent
    @Test func `is made at a start although the store of the device does not answer`() async throws
    {
        var setup = ServiceSetup()
        setup.server.set(until: noon.plus(days: 30))
        let store = HeldStore([sampleTransaction()])
        setup.store = store
        let service = setup.service()
        let started = Task { await service.start() }
        #expect(await eventually { service.gate.decision("export").source == .server })
        store.release()
        #expect(await started.value == .refreshed(noon))
        #expect(setup.server.count("/snapshot") == 1)
        await service.stop()
    }

    // row 3.4: what the store says late is known when the start is over
    @Test func `that nobody answers leaves open what the store of the device says`() async throws {
        var setup = ServiceSetup()
        setup.server.isAway = true
        let store = HeldStore([sampleTransaction()])
        setup.store = store
        let service = setup.service()
        let started = Task { await service.start() }
        #expect(await eventually { setup.server.count("/snapshot") == 1 })
        #expect(!service.gate.isOpen("export"))
        store.release()
        _ = await started.value
        #expect(service.gate.decision("export").source == .provisional)
        await service.stop()
    }

    // row ES3: who stands at another address is not asked, and has said nothing of what is known
    @Test func `that names another address keeps what is known, and is made again`() async {
        let setup = StoreSetup()
        let store = setup.store()
        await store.start()
        let moved = ClientResponse(status: 302, headers: ["location": "https://else.test/"])
        setup.server.answer("/snapshot", moved)
        #expect(await store.refresh() == .kept(ServiceError(.networkError, reason: .busy)))
        #expect(store.gate.isOpen("export"))
        #expect(await store.retryAt != nil)
        await store.stop()
    }

    /// What a random schedule of asks, beginnings and ends makes of a queue.
    private struct Schedule {
        /// Asks that a refresh answered which began before them.
        var missed = 0
        /// Refreshes that began although nobody had asked since the one before.
        var idle = 0

        init(_ random: inout SplitMix64, _ queue: some Refreshing) {
            var queue = queue
            var instant = 0
            var asks: [UInt64: Int] = [:]
            var began: [UInt64: Int] = [:]
            var (lastAsk, lastBegin) = (-1, 0)
            func begin(_ schedule: inout Schedule) {
                guard let number = queue.begin() else { return }
                if lastAsk < lastBegin { schedule.idle += 1 }
                began[number] = instant
                lastBegin = instant
            }
            for _ in 0..<60 {
                instant += 1
                switch Int.random(in: 0..<3, using: &random) {
                case 0:
                    asks[queue.ask()] = instant
                    lastAsk = instant
                case 1: begin(&self)
                default: queue.end()
                }
            }
            while queue.waiting != nil {
                instant += 1
                queue.end()
                begin(&self)
            }
            missed = asks.count { (began[$0.key] ?? .min) < $0.value }
        }
    }

    // row ES4: by random schedules
    @Test func `begins behind each ask, and never for none`() {
        var random = SplitMix64(seed: 21)
        for round in 0..<2000 {
            let schedule = Schedule(&random, RefreshQueue())
            #expect(schedule.missed == 0 && schedule.idle == 0, "round \(round)")
        }
        // The controls: a queue that fires for each ask is found, and one that lets whoever comes
        // late have the answer of the one that runs.
        var found = (double: 0, early: 0)
        for _ in 0..<100 {
            if Schedule(&random, DoubleFiring()).idle > 0 { found.double += 1 }
            if Schedule(&random, EarlyAnswer()).missed > 0 { found.early += 1 }
        }
        #expect(found.double > 90 && found.early > 90)
    }
}

/// What a schedule drives.
private protocol Refreshing {
    var waiting: UInt64? { get }
    mutating func ask() -> UInt64
    mutating func begin() -> UInt64?
    mutating func end()
}

extension RefreshQueue: Refreshing {}

/// Fires once for each ask.
private struct DoubleFiring: Refreshing {
    private var last: UInt64 = 0
    private var waits: [UInt64] = []
    private var isRunning = false
    var waiting: UInt64? { waits.first }

    mutating func ask() -> UInt64 {
        last += 1
        waits.append(last)
        return last
    }
    mutating func begin() -> UInt64? {
        guard !isRunning, !waits.isEmpty else { return nil }
        isRunning = true
        return waits.removeFirst()
    }
    mutating func end() { isRunning = false }
}

/// Answers whoever asks while one runs by that one.
private struct EarlyAnswer: Refreshing {
    private var queue = RefreshQueue()
    var waiting: UInt64? { queue.waiting }

    mutating func ask() -> UInt64 { queue.running ?? queue.ask() }
    mutating func begin() -> UInt64? { queue.begin() }
    mutating func end() { queue.end() }
}
