import Entitlements
import LedgerAPI
import Testing

@testable import EntitlementClient

/// What an app asks (rows ES3, CL5, B8).
struct `A store of entitlements` {
    private static let end = noon.plus(days: 30)

    // row ES3
    @Test func `is empty before it begins, and says what the server says then`() async throws {
        let setup = StoreSetup(builtIn: try sampleGates())
        let store = setup.store()
        #expect(store.current.asOf == nil && !store.gate.isOpen("export"))
        #expect(store.gate.isOpen("scan"), "what is free by the built-in map (row B6)")
        #expect(await store.start() == .refreshed(noon))
        #expect(store.gate.isOpen("export") && store.current.source == .server)
        #expect(store.current.tier == "pro" && store.current.sequence == 7)
        // The keys, the snapshot and the map: one call each.
        #expect(setup.server.requests.count == 3)
        #expect(await store.refresh() == .refreshed(noon))
        #expect(setup.server.requests.count == 4, "keys and map are kept")
        await store.stop()
    }

    // rows B8, 3.3, 3.4
    @Test func `begun again without a network goes by what was kept`() async throws {
        let setup = StoreSetup()
        await setup.store().start()
        setup.server.isAway = true
        setup.time.pass(to: noon.plus(days: 20))
        let store = setup.store()
        guard case .kept(let error) = await store.start() else {
            Issue.record("nobody is reached")
            return
        }
        #expect(error.code == .networkError && error.isRetryable)
        #expect(store.gate.isOpen("export") && store.current.source == .snapshot)
        #expect(store.gate.decision("share").requiredProducts == ["pro.month"], "the map is kept")
        // Row Z16: its end comes although nobody says so, and is told.
        var updates = store.updates.makeAsyncIterator()
        _ = await updates.next()
        setup.time.pass(to: Self.end)
        _ = await updates.next()
        #expect(!store.gate.isOpen("export"))
        await store.stop()
    }

    // row ES3: what is in memory is newer than a file that could not be written
    @Test func `begun again goes on with what it knows`() async throws {
        let setup = StoreSetup()
        setup.server.set(until: noon)
        let store = setup.store()
        await store.start()
        setup.storage.fault = MemoryStorage.diskFull
        setup.server.set(until: nil, sequence: 8)
        #expect(await store.refresh() == .refreshed(noon))
        setup.storage.fault = nil
        await store.stop()
        setup.server.isAway = true
        await store.start()
        #expect(store.current.sequence == 8 && store.gate.isOpen("export"))
        await store.stop()
    }

    // rows 3.3, ES3: before a device is unlocked for the first time its files are there, and cannot be read
    @Test func `begun before its files can be read goes by them once they can`() async throws {
        let setup = ServiceSetup()
        setup.server.set(until: Self.end)
        let first = setup.service()
        await first.start()
        await first.stop()
        setup.server.isAway = true
        setup.storage.fault = MemoryStorage.diskFull
        let service = setup.service()
        await service.start()
        #expect(!service.gate.isOpen("export"))
        setup.storage.fault = nil
        await service.applicationDidBecomeActive()
        #expect(service.gate.isOpen("export") && service.store.current.source == .snapshot)
        await service.stop()
    }

    // row ES3: the server's answer is newer than files that could not be read before it
    @Test func `answered before its files can be read goes by the answer`() async throws {
        let setup = StoreSetup()
        let first = setup.store()
        await first.start()
        await first.stop()
        setup.storage.fault = MemoryStorage.diskFull
        setup.server.set(until: noon, sequence: 8)
        let store = setup.store()
        #expect(await store.start() == .refreshed(noon))
        setup.storage.fault = nil
        setup.server.isAway = true
        await store.refresh()
        #expect(store.current.sequence == 8 && !store.gate.isOpen("export"))
        await store.stop()
    }

    // rows ES3, CL5
    @Test func `keeps what it knows whatever goes wrong`() async throws {
        let setup = StoreSetup()
        let store = setup.store()
        await store.start()
        let page = ClientResponse(status: 200, body: Array("<html>log in</html>".utf8))
        let other = ClientResponse(
            status: 200,
            body: Array(try SnapshotAuthority().snapshot().utf8)
        )
        let problems: [(ClientResponse, ServiceError.Code)] = [
            (ScriptedServer.problem(.internal), .unknown),
            (ScriptedServer.problem(.rateLimited), .networkError),
            (ScriptedServer.problem(.unauthenticated), .unknown), (page, .decodingError),
            (other, .invalidSignature), (ClientResponse(status: 502), .networkError),
        ]
        for (response, code) in problems {
            setup.server.answer("/snapshot", response)
            guard case .kept(let error) = await store.refresh() else {
                Issue.record("\(code)")
                continue
            }
            #expect(error.code == code && store.gate.isOpen("export"))
        }
        setup.server.answer("/snapshot", nil)
        #expect(await store.refresh() == .refreshed(noon), "the control")
        await store.stop()
    }

    // row CL5
    @Test func `whose token is refused asks for another once, keeps what it knows, and says so`()
        async throws
    {
        let setup = StoreSetup()
        let store = setup.store()
        await store.start()
        setup.server.isTokenRefused = true
        let before = setup.server.count("/snapshot")
        let told = await setup.told { await store.refresh() }
        #expect(told == [.tokenRefused(ServiceError(.unknown, reason: .signedOut))])
        #expect(setup.server.count("/snapshot") == before + 2)
        #expect(store.gate.isOpen("export"))
        await store.stop()
    }

    // row CL5: a refund is seen after a refresh
    @Test func `closes what the server closes, and tells it`() async throws {
        let setup = StoreSetup()
        let store = setup.store()
        await store.start()
        var updates = store.updates.makeAsyncIterator()
        #expect(await updates.next()?.tier == "pro")
        setup.server.set(until: noon, sequence: 8)
        await store.refresh()
        #expect(await updates.next()?.tier == "free")
        #expect(!store.gate.isOpen("export"))
        await store.stop()
    }

    // row CL5
    @Test func `emptied at a switch, files included, knows nothing of whom it was before`()
        async throws
    {
        let setup = StoreSetup()
        let store = setup.store()
        await store.start()
        #expect(setup.storage[.snapshot] != nil)
        await store.switchCustomer(to: nil)
        #expect(store.current == CustomerEntitlements(unknown: nil))
        #expect(!store.gate.isOpen("export"))
        for file in [CacheFile.snapshot, .gates, .seen] { #expect(setup.storage[file] == nil) }
        #expect(await store.refresh() == .signedOut)
        await store.switchCustomer(to: "bob-1")
        #expect(await store.refresh() == .refreshed(noon))
        #expect(store.current.customer == "bob-1")
        await store.stop()
    }

    // row CL5: what was asked for before counts for nobody
    @Test func `switched while it asks lets no answer in of whom it was before`() async throws {
        let setup = StoreSetup()
        let store = setup.store()
        await store.start()
        setup.server.hold()
        async let result = store.refresh()
        #expect(await eventually { setup.server.heldCount == 1 })
        await store.switchCustomer(to: "bob-1")
        setup.server.release()
        #expect(await result == .signedOut)
        #expect(store.current == CustomerEntitlements(unknown: "bob-1"))
        #expect(setup.storage[.snapshot] == nil)
        await store.stop()
    }

    // row Z15: the server is asked when the answer may change by itself
    @Test func `asks again when its answer may change by itself`() async throws {
        let setup = StoreSetup()
        let store = setup.store()
        await store.start()
        // The window of `scan` ends after an hour.
        #expect(await eventually { setup.time.alarms == [noon.plus(seconds: 3600)] })
        setup.server.set(until: Self.end, at: noon.plus(days: 1), sequence: 9)
        setup.time.pass(to: noon.plus(days: 1))
        #expect(await eventually { store.current.sequence == 9 })
        await store.stop()
        #expect(await eventually { setup.time.alarms == [] })
    }

    // rows Z15, 8.1: the server knows of a renewal, and the question at the end before it is lost
    @Test(arguments: [nil, 9] as [Int?])
    func `asks again a while after nobody answered`(_ retryAfter: Int?) async throws {
        let (setup, end) = (StoreSetup(), noon.plus(seconds: 60))
        setup.server.set(until: end)
        let store = setup.store()
        await store.start()
        #expect(await eventually { setup.time.alarms == [end] })
        let asked = setup.server.count("/snapshot")
        if let retryAfter {
            let busy = ScriptedServer.problem(.busy, retryAfter: retryAfter)
            setup.server.answer("/snapshot", busy)
        } else {
            setup.server.isAway = true
        }
        setup.time.pass(to: end)
        #expect(
            await eventually {
                setup.server.count("/snapshot") > asked && setup.time.alarms.count == 1
            }
        )
        #expect(!store.gate.isOpen("export"))
        let again = try #require(setup.time.alarms.first)
        try #require(again > end && again < end.plus(seconds: 10))
        if let retryAfter { #expect(again == end.plus(seconds: Int64(retryAfter))) }
        setup.server.isAway = false
        setup.server.answer("/snapshot", nil)
        setup.server.set(until: Self.end, at: end.plus(seconds: 10), sequence: 8)
        setup.time.pass(to: end.plus(seconds: 10))
        #expect(await eventually { store.gate.isOpen("export") })
        await store.stop()
    }

    // row 8.1: somebody who is offline for long is not asked about for ever
    @Test func `asks again later each time, up to a limit`() async throws {
        let setup = StoreSetup()
        setup.server.isAway = true
        let store = setup.store()
        await store.start()
        let limit = Int(Backoff().attemptLimit)
        var waits: [Int64] = []
        for attempt in 1..<limit {
            #expect(await eventually { setup.time.alarms.count == 1 })
            let next = try #require(setup.time.alarms.first)
            waits.append(next.milliseconds - setup.time.now.milliseconds)
            setup.time.pass(to: next)
            #expect(await eventually { setup.server.count("/snapshot") == attempt + 1 })
        }
        #expect(waits == waits.sorted())
        // The last one sets no alarm, nor does whoever asks by hand.
        await store.refresh()
        #expect(setup.time.alarms == [])
        // Begun again, it asks again.
        await store.stop()
        await store.start()
        #expect(await eventually { setup.time.alarms.count == 1 })
        await store.stop()
    }

    // rows Z16, C5: a day's uses are there again, though nobody says so
    @Test func `tells the end of each window while nobody is reached`() async throws {
        let setup = StoreSetup()
        let store = setup.store()
        await store.start()
        setup.server.isAway = true
        var updates = store.updates.makeAsyncIterator()
        _ = await updates.next()
        let asked = setup.server.count("/snapshot")
        #expect(await eventually { setup.time.alarms.count == 1 })
        for day in 0..<2 {
            let end = noon.plus(seconds: 3600).plus(days: Int64(day))
            try #require(store.current.nextChange(after: setup.time.now) == end)
            setup.time.pass(to: end)
            #expect(await updates.next() != nil)
            #expect(store.gate.decision("scan").limit?.remaining == 3)
            // Nobody answers, and it waits again.
            #expect(
                await eventually {
                    setup.server.count("/snapshot") > asked + day
                        && setup.time.alarms.count == 1
                }
            )
        }
        await store.stop()
    }

    // rows CL5, Z16: of whoever signs in where nobody was, what was kept ends, too
    @Test func `asks again at the end of what was kept of whoever signs in`() async throws {
        var setup = StoreSetup()
        let first = setup.store()
        await first.start()
        await first.stop()
        #expect(await eventually { setup.time.alarms == [] })
        setup.server.isAway = true
        setup.customer = nil
        let store = setup.store()
        #expect(await store.start() == .signedOut)
        await store.switchCustomer(to: SnapshotAuthority.customer)
        #expect(await eventually { setup.time.alarms == [noon.plus(seconds: 3600)] })
        await store.stop()
    }

    // The map's tag is of what the customer sees in that environment.
    @Test(arguments: StoreEnvironment.allCases)
    func `asks for the gate map of its environment`(_ environment: StoreEnvironment) async throws {
        let setup = StoreSetup(environment: environment)
        let text = try setup.server.authority.snapshot(environment: environment.name)
        setup.server.answer("/snapshot", ClientResponse(status: 200, body: Array(text.utf8)))
        let store = setup.store()
        #expect(await store.start() == .refreshed(noon))
        let asked = setup.server.requests.map(\.url).filter { $0.contains("/catalog/gates") }
        #expect(asked == ["https://ledger.test/v1/catalog/gates?environment=\(environment.name)"])
        await store.stop()
    }

    // row Z17
    @Test func `says that its clock was set back, and answers all the same`() async throws {
        let setup = StoreSetup()
        await setup.store().start()
        setup.server.isAway = true
        setup.time.pass(to: noon.plus(days: -3))
        let store = setup.store()
        let told = await setup.told { await store.start() }
        #expect(told.contains(.clockSetBack(newest: noon)))
        #expect(store.gate.isOpen("export"))
        // Control: moments are no clock set back.
        setup.time.pass(to: noon.plus(seconds: -200))
        #expect(await setup.told { await store.refresh() } == [])
        await store.stop()
    }

    // row Z17: one wrong clock is not held against the right one for ever
    @Test func `lets the server mend a time that a wrong clock left`() async throws {
        let setup = StoreSetup()
        setup.time.pass(to: noon.plus(days: 4000))
        await setup.store().start()
        setup.time.pass(to: noon)
        let store = setup.store()
        await store.start()
        #expect(await setup.told { await store.refresh() } == [])
        await store.stop()
    }

    @Test func `of pinned keys asks the server for none`() async throws {
        let server = ScriptedServer()
        let setup = StoreSetup(server: server, pinned: try server.authority.keys())
        let store = setup.store()
        #expect(await store.start() == .refreshed(noon))
        server.authority = SnapshotAuthority(id: "k2")
        guard case .kept(let error) = await store.refresh() else {
            Issue.record("a key that nobody pinned")
            return
        }
        #expect(error.code == .keyNotFound && server.count("jwks") == 0)
        // Control: without pins, the next key is fetched.
        let other = StoreSetup(server: server).store()
        #expect(await other.start() == .refreshed(noon) && server.count("jwks") == 1)
        await store.stop()
        await other.stop()
    }

    @Test func `does nothing while nothing changes`() async throws {
        let setup = StoreSetup()
        let store = setup.store()
        await store.start()
        let (calls, writes) = (setup.server.requests.count, setup.storage.writes)
        for _ in 0..<1000 { _ = store.gate.isOpen("export") }
        #expect(setup.server.requests.count == calls && setup.storage.writes == writes)
        await store.stop()
    }
}
