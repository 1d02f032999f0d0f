import Encodings
import Entitlements
import LedgerAPI
import Testing

@testable import EntitlementClient

/// How long what the server is told of a purchase took.
struct `A purchase's stages` {
    // row 10.3: to keep it is a part of recording, and what is asked once it is recorded is none
    @Test(arguments: [true, false])
    func `take until what they are named after`(_ isRecorded: Bool) async throws {
        let time = HeldTime()
        var setup = ServiceSetup { _, _ in
            time.pass(to: time.now.plus(seconds: 1))
            return .success(sampleTransaction())
        }
        setup.time = time
        let server = setup.server
        if !isRecorded { server.answer("/purchases", ScriptedServer.problem(.busy)) }
        setup.transport = { request in
            if request.url.contains("/purchases") { time.pass(to: time.now.plus(seconds: 4)) }
            if request.url.contains("/snapshot") { time.pass(to: time.now.plus(seconds: 8)) }
            return await server.transport(request)
        }
        let service = setup.service()
        await service.start()
        setup.storage.beforeWrite = { time.pass(to: time.now.plus(seconds: 2)) }
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.end() == .done(isRecorded: isRecorded))
        #expect(await eventually { server.flows.count == 2 })
        let stages = server.flows.last?["stages"]
        #expect(stages?["store"]?.integer == 1000)
        #expect(stages?["verification"]?.integer == 0)
        // What is not recorded took no time to be.
        #expect(stages?["recording"]?.integer == (isRecorded ? 6000 : nil))
        await service.stop()
    }
}
