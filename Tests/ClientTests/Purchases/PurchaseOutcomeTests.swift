import Encodings
import Entitlements
import LedgerAPI
import Testing

@testable import EntitlementClient

/// What is told of a purchase, and what its end says.
extension `A purchase` {
    // rows B7, PL5: conversion is measured by what an app's flows name
    @Test(arguments: ["order/coffee-first", nil] as [String?])
    func `names the experiment that led to it wherever it is told of`(
        _ experiment: String?
    ) async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        let flow = await service.purchase("pro.month", experiment: experiment) { true }
        #expect(await flow.end() == .done(isRecorded: true))
        #expect(await eventually { setup.flowTypes == ["started", "succeeded"] })
        let told = setup.server.flows
        #expect(told.map { $0["experiment"]?.string } == [experiment, experiment])
        #expect(told.allSatisfy { $0["productId"] == "pro.month" })
        await service.stop()
    }

    // rows B7, 3.5: what nobody was told is told by the program that begins next
    @Test func `names its experiment when it is told later`() async throws {
        var setup = ServiceSetup()
        let server = setup.server
        setup.transport = { _ in nil }
        let first = setup.service()
        await first.start()
        let flow = await first.purchase("pro.month", experiment: "order") { true }
        #expect(await flow.end() == .done(isRecorded: false))
        // Its end is written by then, in place of what was when it began.
        #expect(
            await eventually { await first.queue.calls.allSatisfy { $0.phase != .prepared } }
        )
        await first.stop()
        setup.transport = nil
        let second = setup.service()
        await second.start()
        await second.retry()
        #expect(await eventually { server.flows.count == 2 })
        #expect(server.flows.map { $0["type"]?.string } == ["started", "succeeded"])
        #expect(server.flows.allSatisfy { $0["experiment"] == "order" })
        await second.stop()
    }

    // row CL4: it was given back by the time that the server was told of it
    @Test(arguments: [("refunded", true), ("revoked", true), ("active", false)])
    func `that was taken back is invalid`(_ status: String, _ isTakenBack: Bool) async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        let claims = SnapshotAuthority.owningClaims()
            .replacing(#""status":"active""#, with: #""status":"\#(status)""#)
            .replacing(#""sequence":7"#, with: #""sequence":8"#)
        let text = try setup.server.authority.sign(claims)
        setup.server.answer("/snapshot", ClientResponse(status: 200, body: Array(text.utf8)))
        let flow = await service.purchase("pro.month") { true }
        let invalid = ServiceError(.purchaseInvalid, reason: .revoked)
        #expect(await flow.end() == (isTakenBack ? .failed(invalid) : .done(isRecorded: true)))
        #expect(await eventually { setup.flowTypes.count == 2 })
        let code = isTakenBack ? "PURCHASE_INVALID" : nil
        #expect(setup.server.flows.last?["errorCode"]?.string == code)
        // It was recorded, so that the store is done with it (row ES5).
        #expect(setup.shop.finished == [sampleTransaction()])
        await service.stop()
    }

    // P9: what is said of its purchase is of an older period, by a clock that is behind
    @Test func `is not invalid for what became of the one before it`() async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        let claims = SnapshotAuthority.owningClaims(until: noon.plus(days: -1))
            .replacing(#""status":"active""#, with: #""status":"refunded""#)
            .replacing(#""sequence":7"#, with: #""sequence":8"#)
        let text = try setup.server.authority.sign(claims)
        setup.server.answer("/snapshot", ClientResponse(status: 200, body: Array(text.utf8)))
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.end() == .done(isRecorded: true))
        await service.stop()
    }
}
