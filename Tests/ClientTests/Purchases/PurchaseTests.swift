import Encodings
import Entitlements
import LedgerAPI
import Testing

@testable import EntitlementClient

/// One purchase from its confirmation until it is recorded.
struct `A purchase` {
    // row 2.1, row 2.6, rows 2.3, ES1, ES5, 10.1, 10.3: each stage is shown as it begins
    @Test func `goes from its confirmation to what the server says`() async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        #expect(!service.gate.isOpen("export"))
        let flow = await service.purchase("pro.month") {
            setup.time.pass(to: noon.plus(seconds: 2))
            return true
        }
        #expect(
            await flow.states() == [
                .confirming, .inStore, .verifying, .recording, .done(isRecorded: true),
            ]
        )
        #expect(service.gate.decision("export").source == .server)
        #expect(setup.shop.finished == [sampleTransaction()])
        #expect(await eventually { setup.flowTypes == ["started", "succeeded"] })
        let stages = setup.server.flows.last?["stages"]?.members?.map(\.name)
        #expect(stages == ["store", "verification", "recording"])
        #expect(await eventually { await service.queue.calls.isEmpty })
        await service.stop()
    }

    // row ES5: a server that was restored to less before an answer had seen it
    @Test func `that its server lost is handed in again, under the same key`() async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        setup.server.answer("/snapshot", ScriptedServer.problem(.behind))
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.end() == .done(isRecorded: true))
        #expect(await service.queue.recorded.count == 1)
        setup.server.answer("/snapshot", nil)
        setup.server.set(until: noon)
        let asked = setup.server.count("/purchases")
        await service.sync()
        #expect(setup.server.count("/purchases") == asked + 1)
        #expect(setup.server.recorded.values.map(\.count) == [1])
        await service.sync()
        #expect(await eventually { await service.queue.calls.isEmpty })
        #expect(setup.server.count("/purchases") == asked + 1)
        #expect(setup.shop.finished.count == 1)
        #expect(service.gate.decision("export").source == .server)
        await service.stop()
    }

    // rows CL5, ES5: the token is another customer's, or the address another server's
    @Test(arguments: [ProblemCode.notFound, .methodNotAllowed])
    func `that is answered as what is not there waits`(_ code: ProblemCode) async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        setup.server.answer("/purchases", ScriptedServer.problem(code))
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.end() == .done(isRecorded: false))
        #expect(service.gate.decision("export").source == .provisional)
        setup.server.answer("/purchases", nil)
        await service.retry()
        #expect(setup.server.recorded.count == 1 && setup.shop.finished.count == 1)
        await service.stop()
    }

    // row ES5: what stands between answers everything, in whatever form
    @Test(arguments: ["{}", #"{"message":"maintenance"}"#, "[]", "<html>"])
    func `that something else answers is not recorded`(_ body: String) async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        let answer = ClientResponse(status: 200, body: Array(body.utf8))
        for path in ["/purchases", "/restore"] { setup.server.answer(path, answer) }
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.end() == .done(isRecorded: false))
        #expect(try await service.restore() == .waiting(1))
        #expect(setup.shop.finished.isEmpty && service.gate.isOpen("export"))
        for path in ["/purchases", "/restore"] { setup.server.answer(path, nil) }
        await service.retry()
        #expect(setup.shop.finished.contains(sampleTransaction()))
        await service.stop()
    }

    // row 3.4: another device handed the renewal in and finished it
    @Test(arguments: [("1", true), ("9", false)])
    func `that was renewed elsewhere is open at a start without a network`(
        _ originalID: String,
        _ isOpen: Bool
    ) async throws {
        let setup = ServiceSetup()
        let end = noon.plus(days: 30)
        let text = try setup.server.authority.sign(SnapshotAuthority.owningClaims(until: end))
        setup.server.answer("/snapshot", ClientResponse(status: 200, body: Array(text.utf8)))
        let first = setup.service()
        #expect(await first.start() == .refreshed(noon))
        #expect(first.store.current.purchases.count == 1)
        await first.stop()
        let renewal = StoreTransaction(
            id: "2",
            originalID: originalID,
            productID: "pro.month",
            expiresAt: noon.plus(days: 60),
            signed: "signed-2"
        )
        setup.shop.tell(.verified(renewal))
        await setup.shop.finish(renewal)
        setup.server.isAway = true
        setup.time.pass(to: noon.plus(days: 31))
        let second = setup.service()
        await second.start()
        #expect(second.gate.isOpen("export") == isOpen)
        // The server's word, once seen, wins: it was given back.
        setup.server.isAway = false
        setup.server.answer("/snapshot", nil)
        setup.server.set(until: end, at: setup.time.now)
        await second.retry()
        #expect(!second.gate.isOpen("export"))
        await second.stop()
    }

    // row 2.1, row 2.4
    @Test func `that is not confirmed asks no store, and the next may begin`() async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        let flow = await service.purchase("pro.month") { false }
        #expect(await flow.states() == [.confirming, .cancelled])
        #expect(setup.shop.finished.isEmpty && setup.server.recorded.isEmpty)
        #expect(await eventually { setup.flowTypes == ["cancelled"] })
        let next = await service.purchase("pro.month") { true }
        #expect(await next.end() == .done(isRecorded: true))
        await service.stop()
    }

    // rows ES2, 2.4, B9: each of the closed set
    @Test(
        arguments: [
            (.userCancelled, .cancelled, "cancelled"), (.pending, .pending, "pending"),
            (
                .failed(ServiceError(.storeProblem, nativeCode: "SKErrorDomain/2")),
                .failed(ServiceError(.storeProblem, nativeCode: "SKErrorDomain/2")), "failed"
            ),
            (
                .failed(ServiceError(.verificationFailed)),
                .failed(ServiceError(.verificationFailed)), "failed"
            ),
        ] as [(PurchaseResult, PurchaseFlow.State, String)]
    )
    func `that the store does not make grants nothing and is noted`(
        _ result: PurchaseResult,
        _ end: PurchaseFlow.State,
        _ type: String
    ) async throws {
        let setup = ServiceSetup(result)
        let service = setup.service()
        await service.start()
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.states() == [.confirming, .inStore, end])
        #expect(!service.gate.isOpen("export") && setup.server.recorded.isEmpty)
        #expect(await eventually { setup.flowTypes == ["started", type] })
        await service.stop()
    }

    // row 2.2
    @Test func `runs alone`() async throws {
        let (stream, open) = AsyncStream.makeStream(of: Void.self)
        let setup = ServiceSetup { _, _ in
            for await _ in stream { break }
            return .success(sampleTransaction())
        }
        let service = setup.service()
        await service.start()
        let first = await service.purchase("pro.month") { true }
        let second = await service.purchase("pro.month") { true }
        #expect(
            await second.states() == [.failed(ServiceError(.storeProblem, isRetryable: true))]
        )
        open.yield()
        #expect(await first.end() == .done(isRecorded: true))
        // The server's own lock: another device of the customer buys.
        setup.server.answer("/flows", ScriptedServer.problem(.purchaseInProgress, retryAfter: 600))
        let third = await service.purchase("pro.month") { true }
        guard case .failed(let error) = await third.end() else {
            Issue.record("another flow runs")
            return
        }
        #expect(error.code == .storeProblem && error.isRetryable)
        #expect(setup.shop.finished.count == 1)
        await service.stop()
    }

    // rows 3.4, 3.5, ES5: the network is away, and comes back
    @Test func `without a network opens at once, and reaches the server once it is back`()
        async throws
    {
        let setup = ServiceSetup()
        await setup.service().start()
        setup.server.isAway = true
        let service = setup.service()
        await service.start()
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.end() == .done(isRecorded: false))
        #expect(service.gate.decision("export").source == .provisional)
        #expect(setup.shop.finished.isEmpty, "it is not recorded yet")
        await service.stop()
        // The app begins anew, still without a network: five days later, and three days after that,
        // the store verifies it again.
        for days in [5, 8] as [Int64] {
            setup.time.pass(to: noon.plus(days: days))
            let again = setup.service()
            await again.start()
            #expect(again.gate.isOpen("export"), "\(days) days")
            await again.stop()
        }
        let last = setup.service()
        await last.start()
        setup.time.pass(to: noon.plus(days: 16))
        #expect(!last.gate.isOpen("export"), "a week after the store verified it last")
        setup.server.isAway = false
        await last.retry()
        #expect(last.gate.decision("export").source == .server && last.gate.isOpen("export"))
        #expect(setup.server.recorded.map(\.value.count) == [1], "under one key")
        #expect(setup.shop.finished == [sampleTransaction()])
        #expect(await last.queue.provisional() == [])
        await last.stop()
    }

    // rows 8.1, 3.4: a refusal ends what was opened, and is told once
    @Test func `that the server refuses opens nothing, is not finished and told once`() async throws
    {
        let setup = ServiceSetup()
        setup.server.answer("/purchases", ScriptedServer.problem(.claimedByAnother))
        let service = setup.service()
        await service.start()
        let told = service.notices
        let flow = await service.purchase("pro.month") { true }
        let error = ServiceError(.purchaseInvalid, reason: .claimedByAnother)
        #expect(await flow.end() == .failed(error))
        #expect(!service.gate.isOpen("export") && setup.shop.finished.isEmpty)
        var notices = told.makeAsyncIterator()
        #expect(await notices.next() == .refused(error))
        await service.stop()
        // The store hands it in at each start: the server is not asked again.
        let before = setup.server.count("/purchases")
        let again = setup.service()
        await again.start()
        #expect(await again.queue.calls.contains { $0.phase == .refused })
        #expect(setup.server.count("/purchases") == before && !again.gate.isOpen("export"))
        await again.stop()
    }

    // row ES5: what the store tells by itself
    @Test func `that the store tells later is recorded and finished, an unverified one neither`()
        async throws
    {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        var notices = service.notices.makeAsyncIterator()
        setup.shop.tell(.unverified)
        #expect(await notices.next() == .unverifiedTransaction)
        #expect(setup.server.recorded.isEmpty)
        setup.shop.tell(.verified(sampleTransaction()))
        #expect(await eventually { setup.shop.finished.count == 1 })
        #expect(service.gate.isOpen("export"))
        await service.stop()
    }

    // row ES4: many at once go together
    @Test func `that comes with many others is asked about with them`() async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        let before = setup.server.count("/snapshot")
        setup.server.hold()
        for number in 1...20 { setup.shop.tell(.verified(sampleTransaction("\(number)"))) }
        #expect(await eventually { await service.queue.calls.count == 20 })
        #expect(await eventually { setup.server.heldCount == 1 })
        setup.server.release()
        #expect(await eventually { await service.queue.calls.isEmpty })
        #expect(setup.shop.finished.count == 20 && service.gate.isOpen("export"))
        let asked = setup.server.count("/snapshot") - before
        // On a busy machine they come in more than one burst.
        #expect((1...10).contains(asked), "\(asked) calls for 20 transactions")
        await service.stop()
    }

    // row ES7
    @Test func `cannot begin where purchases are off, and nothing else changes`() async throws {
        var setup = ServiceSetup()
        setup.server.set(until: noon.plus(days: 30))
        setup.isEnabled = false
        let service = setup.service()
        #expect(await service.start() == .refreshed(noon))
        #expect(service.gate.isOpen("export") && service.gate.isOpen("scan"))
        setup.shop.tell(.verified(sampleTransaction()))
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.states() == [.failed(ServiceError(.productUnavailable))])
        #expect(setup.server.recorded.isEmpty && setup.server.flows.isEmpty)
        await service.stop()
        // Control: on, the same is recorded.
        setup.isEnabled = true
        let other = setup.service()
        await other.start()
        #expect(await eventually { setup.server.recorded.count == 1 })
        await other.stop()
    }

    // rows 3.4, 6.3, row B8: the system empties folders of caches
    @Test func `is open where its files are gone and nobody is reached`() async throws {
        var setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.end() == .done(isRecorded: true))
        await service.stop()
        (setup.storage, setup.server.isAway) = (MemoryStorage(), true)
        let again = setup.service()
        await again.start()
        #expect(again.gate.decision("export").source == .provisional)
        // Whoever signs in then is somebody else: nothing was verified for them.
        await again.switchCustomer(to: "bob-1")
        #expect(!again.gate.isOpen("export"))
        await again.stop()
        // The server's word, once seen, wins: it was given back.
        setup.server.isAway = false
        setup.server.set(until: noon)
        let last = setup.service()
        await last.start()
        #expect(!last.gate.isOpen("export"))
        await last.stop()
    }

    // row 3.4: the store tells of a refund, and the server is not reached
    @Test(arguments: [false, true])
    func `that was refunded opens nothing more`(_ isHeldAtStart: Bool) async throws {
        let setup = ServiceSetup()
        setup.server.isAway = true
        if isHeldAtStart {
            setup.shop.tell(.verified(sampleTransaction()))
            await setup.shop.finish(sampleTransaction())
        }
        let service = setup.service()
        await service.start()
        if !isHeldAtStart { setup.shop.tell(.verified(sampleTransaction())) }
        #expect(await eventually { service.gate.decision("export").source == .provisional })
        setup.shop.tell(.verified(sampleTransaction(expiresAt: noon)))
        #expect(await eventually { !service.gate.isOpen("export") })
        #expect(await !service.queue.calls.isEmpty, "the control: the server is to be told")
        await service.stop()
    }

    // row 3.4: what the store said before it told of the refund counts no more
    @Test func `that was refunded while it starts opens nothing more`() async throws {
        let setup = ServiceSetup()
        setup.server.answer("/purchases", ScriptedServer.problem(.busy, retryAfter: 600))
        setup.shop.tell(.verified(sampleTransaction()))
        setup.server.hold()
        let service = setup.service()
        let started = Task { await service.start() }
        #expect(await eventually { setup.server.heldCount == 1 })
        #expect(await eventually { await service.queue.calls.count == 1 })
        #expect(await eventually { service.gate.decision("export").source == .provisional })
        setup.time.pass(to: noon.plus(seconds: 1))
        setup.shop.tell(.verified(sampleTransaction(expiresAt: noon)))
        #expect(await eventually { !service.gate.isOpen("export") })
        setup.time.pass(to: noon.plus(seconds: 2))
        setup.server.release()
        #expect(await started.value == .refreshed(noon))
        #expect(await service.queue.calls.count == 2, "the control: the server has neither")
        #expect(!service.gate.isOpen("export"))
        await service.stop()
    }

    // row CL5
    @Test func `of one customer leaves nothing to the next`() async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        setup.server.isAway = true
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.end() == .done(isRecorded: false))
        #expect(setup.storage[.queue] != nil && service.gate.isOpen("export"))
        #expect(await service.switchCustomer(to: nil) == .signedOut)
        #expect(setup.storage[.queue] == nil && !service.gate.isOpen("export"))
        #expect(await service.queue.calls.isEmpty && setup.shop.finished.isEmpty)
        await service.stop()
    }
}
