import Encodings
import Entitlements
import LedgerAPI
import Synchronization
import Testing

@testable import EntitlementClient

/// The server lets one flow of a customer run at a time (row 2.2).
struct `A purchase behind another` {
    /// A server's lock of flows: the one that runs.
    private final class FlowLock: Sendable {
        private let running = Mutex<JSONValue?>(nil)

        /// Whether a call is let through.
        func admits(_ request: ClientRequest) -> Bool {
            guard request.url.contains("/flows"),
                let body = try? JSONValue(parsing: request.body ?? [])
            else { return true }
            return running.withLock { running in
                if body["type"] == "started" {
                    guard running == nil || running == body["flowId"] else { return false }
                    running = body["flowId"]
                } else if running == body["flowId"] {
                    running = nil
                }
                return true
            }
        }
    }

    // row 2.2: one at a time, not none
    @Test func `tells first how the one before it ended`() async throws {
        let server = ScriptedServer()
        let isFirst = Mutex(true)
        var setup = ServiceSetup { _, _ in
            let wasFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard wasFirst else { return .success(sampleTransaction()) }
            server.isAway = true
            return .userCancelled
        }
        server.set(until: noon)
        let lock = FlowLock()
        setup.server = server
        setup.transport = { request in
            if !server.isAway, !lock.admits(request) {
                return ScriptedServer.problem(.purchaseInProgress, retryAfter: 600)
            }
            return await server.transport(request)
        }
        let service = setup.service()
        await service.start()
        #expect(await (await service.purchase("pro.month") { true }).end() == .cancelled)
        #expect(await eventually { await service.queue.calls.contains { $0.attempts > 0 } })
        server.isAway = false
        let second = await service.purchase("pro.month") { true }
        #expect(await second.end() == .done(isRecorded: true))
        await service.stop()
    }

    // row 2.2: the end of the one before it was told while the server said that it runs
    @Test func `asks again where the one before it has ended meanwhile`() async throws {
        let isFirst = Mutex(true)
        var setup = ServiceSetup()
        let server = setup.server
        setup.transport = { request in
            guard request.url.contains("/flows") else { return await server.transport(request) }
            let isRefused = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if isRefused { return ScriptedServer.problem(.purchaseInProgress, retryAfter: 600) }
            return await server.transport(request)
        }
        let service = setup.service()
        await service.start()
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.end() == .done(isRecorded: true))
        await service.stop()
    }
}
