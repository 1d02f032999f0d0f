import Encodings
import Entitlements
import LedgerAPI
import Synchronization
import Testing

@testable import EntitlementClient

/// Everything that the store's account holds, handed in at once (rows 6.2 to 6.4).
struct `A restore on a device` {
    // row 6.5
    @Test func `shows how far it is`() async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        let stages = Mutex<[RestoreStage]>([])
        _ = try await service.restore { stage in stages.withLock { $0.append(stage) } }
        #expect(
            stages.withLock(\.self) == [.askingStore],
            "the control: there is nothing to hand in"
        )
        setup.shop.tell(.verified(sampleTransaction()))
        #expect(await eventually { setup.shop.finished.count == 1 })
        _ = try await service.restore { stage in stages.withLock { $0.append(stage) } }
        #expect(stages.withLock(\.self).dropFirst() == [.askingStore, .recording(1)])
        await service.stop()
    }

    // row 6.4
    @Test func `of nothing says so`() async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        #expect(try await service.restore() == .nothing)
        #expect(setup.server.count("/restore") == 0)
        await service.stop()
    }

    // rows 6.4, 6.6: an account that nobody could ask about is no empty one.
    @Test func `of a store that is not reached says so, and is tried again`() async throws {
        let isCut = Mutex(true)
        var setup = ServiceSetup()
        setup.store = SimulatedPurchases(
            url: "http://store.test",
            account: "ann",
            transport: { _ in
                let body = Array(#"{"held":[],"unfinished":[]}"#.utf8)
                return isCut.withLock(\.self) ? nil : ClientResponse(status: 200, body: body)
            }
        )
        let service = setup.service()
        await service.start()
        let error = ServiceError(.networkError)
        #expect(error.isRetryable)
        await #expect(throws: error) { try await service.restore() }
        isCut.withLock { $0 = false }
        #expect(try await service.restore() == .nothing, "the control")
        await service.stop()
    }

    // rows 6.3, ES5: what is refused beside others holds up nothing, grants nothing, is not finished
    @Test func `records what it can, and finishes that alone`() async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        for id in ["1", "2"] { setup.shop.tell(.verified(sampleTransaction(id))) }
        #expect(await eventually { setup.shop.finished.count == 2 })
        #expect(try await service.restore() == .restored(2))
        let body = """
            {"recorded":0,"known":1,"refused":1,"items":[
              {"outcome":"known","purchase":"app_store/1","sequence":1},
              {"outcome":"refused","purchase":null,"sequence":null,"code":"claimed_by_another"}]}
            """
        setup.server.answer("/restore", ClientResponse(status: 200, body: Array(body.utf8)))
        var notices = service.notices.makeAsyncIterator()
        let before = setup.shop.finished.count
        #expect(try await service.restore() == .restored(1))
        #expect(setup.shop.finished.dropFirst(before).map(\.id) == ["1"])
        let error = ServiceError(.purchaseInvalid, reason: .claimedByAnother)
        #expect(await notices.next() == .refused(error))
        await service.stop()
    }

    // row 6.6
    @Test func `without a network waits, and is made when it is tried again`() async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        setup.shop.tell(.verified(sampleTransaction()))
        #expect(await eventually { setup.shop.finished.count == 1 })
        setup.server.isAway = true
        #expect(try await service.restore() == .waiting(1))
        setup.server.isAway = false
        await service.retry()
        #expect(setup.server.count("/restore") >= 2)
        #expect(await service.queue.calls.isEmpty)
        await service.stop()
    }

    // row 10.1
    @Test func `is told once the server has recorded it, also where it waited`() async throws {
        let setup = ServiceSetup()
        setup.shop.tell(.verified(sampleTransaction()))
        await setup.shop.finish(sampleTransaction())
        let service = setup.service()
        await service.start()
        #expect(try await service.restore() == .restored(1))
        #expect(setup.flowTypes == ["restored"])
        setup.server.isAway = true
        #expect(try await service.restore() == .waiting(1))
        #expect(setup.flowTypes == ["restored"], "the control: it is not recorded yet")
        setup.server.isAway = false
        await service.retry()
        #expect(setup.flowTypes == ["restored", "restored"])
        let ids = setup.server.flows.compactMap { $0["flowId"]?.string }
        #expect(Set(texts: ids).count == 2)
        await service.stop()
    }

    // row CL5: what was to be handed in is gone with whoever signed out, also for whoever comes back
    @Test(arguments: [false, true])
    func `during which somebody signs out says that it was cancelled`(
        _ comesBack: Bool
    ) async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        setup.shop.tell(.verified(sampleTransaction()))
        #expect(await eventually { setup.shop.finished.count == 1 })
        let customer = try #require(service.store.customer)
        setup.server.hold("/restore")
        let restored = Task { try await service.restore() }
        #expect(await eventually { setup.server.heldCount == 1 })
        // Each waits for the call that is held.
        var switches: [Task<RefreshResult, Never>] = []
        for next in comesBack ? [nil, customer] : ["bob-1"] as [CustomerID?] {
            switches.append(Task { await service.switchCustomer(to: next) })
            #expect(await eventually { service.store.customer == next })
        }
        setup.server.isAway = true
        setup.server.release()
        await #expect(throws: ServiceError(.cancelled)) { try await restored.value }
        for one in switches { _ = await one.value }
        await service.stop()
    }

    // Each tap on Restore would keep all that the account holds once more.
    @Test func `that is refused as a whole leaves nothing in the queue`() async throws {
        let setup = ServiceSetup()
        setup.shop.tell(.verified(sampleTransaction()))
        await setup.shop.finish(sampleTransaction())
        let service = setup.service()
        await service.start()
        setup.server.answer("/restore", ScriptedServer.problem(.malformed))
        for _ in 0..<3 {
            await #expect(throws: ServiceError.self) { try await service.restore() }
            #expect(await !service.queue.calls.contains(where: \.isRestore))
        }
        await service.stop()
    }

    // row 3.4: what nothing is known of is open until it is refused itself
    @Test(arguments: [true, false])
    func `closes what it was refused for, and nothing where it was refused as a whole`(
        _ isOfOne: Bool
    ) async throws {
        let setup = ServiceSetup()
        setup.shop.tell(.verified(sampleTransaction()))
        await setup.shop.finish(sampleTransaction())
        setup.server.answer("/snapshot", ScriptedServer.problem(.busy))
        let service = setup.service()
        await service.start()
        #expect(service.gate.decision("export").source == .provisional, "the control")
        setup.server.answer(
            "/restore",
            isOfOne ? Self.refusal("claimed_by_another") : ScriptedServer.problem(.malformed)
        )
        if isOfOne {
            #expect(try await service.restore() == .restored(0))
            #expect(setup.flowTypes == [], "nothing was restored")
        } else {
            await #expect(throws: ServiceError.self) { try await service.restore() }
        }
        #expect(service.gate.isOpen("export") != isOfOne)
        await service.stop()
    }

    // What becomes of the restore says nothing of the purchase yet.
    @Test func `that waits stands for no purchase of what it hands in`() async throws {
        let setup = ServiceSetup()
        setup.shop.tell(.verified(sampleTransaction()))
        await setup.shop.finish(sampleTransaction())
        let service = setup.service()
        await service.start()
        setup.server.answer("/restore", ScriptedServer.problem(.busy, retryAfter: 600))
        #expect(try await service.restore() == .waiting(1))
        setup.server.answer("/restore", Self.refusal("claimed_by_another"))
        setup.server.answer("/purchases", ScriptedServer.problem(.claimedByAnother))
        let flow = await service.purchase("pro.month") { true }
        let error = ServiceError(.purchaseInvalid, reason: .claimedByAnother)
        #expect(await flow.end() == .failed(error))
        await service.stop()
    }

    // row 6.6: what is refused for now only is handed in by itself
    @Test(arguments: [false, true])
    func `says how much waits of what is refused for now only`(_ isTaken: Bool) async throws {
        let setup = ServiceSetup()
        setup.shop.tell(.verified(sampleTransaction()))
        await setup.shop.finish(sampleTransaction())
        let service = setup.service()
        await service.start()
        setup.server.answer("/restore", Self.refusal("store_unavailable"))
        if !isTaken {
            let busy = ScriptedServer.problem(.storeUnavailable, retryAfter: 600)
            setup.server.answer("/purchases", busy)
        }
        // The control: by itself it is taken at once.
        #expect(try await service.restore() == (isTaken ? .restored(1) : .waiting(1)))
        await service.stop()
    }

    /// An answer that refuses the one transaction of a restore.
    private static func refusal(_ code: String) -> ClientResponse {
        let body = """
            {"recorded":0,"known":0,"refused":1,"items":[
              {"outcome":"refused","purchase":null,"sequence":null,"code":"\(code)"}]}
            """
        return ClientResponse(status: 200, body: Array(body.utf8))
    }

    // A server takes 500 transactions at once, and 4 MiB.
    @Test(arguments: [(501, 10), (40, 128 << 10)])
    func `of much goes in parts that a server takes`(_ count: Int, _ size: Int) async throws {
        let setup = ServiceSetup()
        for number in 1...count {
            let transaction = StoreTransaction(
                id: "\(number)",
                originalID: "\(number)",
                productID: "pro.month",
                expiresAt: nil,
                signed: String(repeating: "s", count: size)
            )
            setup.shop.tell(.verified(transaction))
            await setup.shop.finish(transaction)
        }
        let service = setup.service()
        await service.start()
        #expect(try await service.restore() == .restored(count))
        let bodies = setup.server.requests.filter { $0.url.contains("/restore") }.map(\.body)
        let counts = try bodies.map { body in
            try JSONValue(parsing: body ?? [])["transactions"]?.array?.count ?? 0
        }
        #expect(counts.count == 2 && counts.reduce(0, +) == count)
        #expect(counts.allSatisfy { $0 <= 500 })
        #expect(bodies.allSatisfy { $0?.count ?? 0 <= 4 << 20 })
        await service.stop()
    }

    @Test func `is refused by a code where nothing is sold or nobody is signed in`() async throws {
        var setup = ServiceSetup()
        setup.customer = nil
        let nobody = setup.service()
        await #expect(throws: ServiceError(.unknown, reason: .signedOut)) {
            try await nobody.restore()
        }
        setup.isEnabled = false
        let off = setup.service()
        await #expect(throws: ServiceError(.productUnavailable)) { try await off.restore() }
    }
}
