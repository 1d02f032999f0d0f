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

    /// Says once that it is the first time.
    private final class FirstTime: Sendable {
        private let isAhead = Mutex(true)

        func take() -> Bool {
            isAhead.withLock { isAhead in
                defer { isAhead = false }
                return isAhead
            }
        }
    }

    /// Carries calls to a server that lets one flow run at a time.
    private static func transport(to server: ScriptedServer) -> ClientTransport {
        let lock = FlowLock()
        return { request in
            if !server.isAway, !lock.admits(request) { return Self.busy }
            return await server.transport(request)
        }
    }

    private static var busy: ClientResponse {
        ScriptedServer.problem(.purchaseInProgress, retryAfter: 600)
    }

    // row 2.2: one at a time, not none
    @Test func `tells first how the one before it ended`() async throws {
        let server = ScriptedServer()
        let first = FirstTime()
        var setup = ServiceSetup { _, _ in
            guard first.take() else { return .success(sampleTransaction()) }
            server.isAway = true
            return .userCancelled
        }
        server.set(until: noon)
        setup.server = server
        setup.transport = Self.transport(to: server)
        let service = setup.service()
        await service.start()
        #expect(await (await service.purchase("pro.month") { true }).end() == .cancelled)
        #expect(await eventually { await service.queue.calls.contains { $0.attempts > 0 } })
        server.isAway = false
        let second = await service.purchase("pro.month") { true }
        #expect(await second.end() == .done(isRecorded: true))
        await service.stop()
    }

    // row 2.2: killed while the store's sheet is open
    @Test func `is not shut out by one that the program's end cut short`() async throws {
        let (sheet, close) = AsyncStream.makeStream(of: Void.self)
        let first = FirstTime()
        var setup = ServiceSetup { _, _ in
            guard first.take() else { return .success(sampleTransaction()) }
            for await _ in sheet { break }
            return .userCancelled
        }
        let server = setup.server
        setup.transport = Self.transport(to: server)
        let killed = setup.service()
        await killed.start()
        let cut = await killed.purchase("pro.month") { true }
        #expect(await eventually { server.flows.count == 1 })
        // The program begins anew, with the file that the killed one left.
        let service = setup.service()
        await service.start()
        let next = await service.purchase("pro.month") { true }
        #expect(await next.end() == .done(isRecorded: true))
        #expect(setup.flowTypes.prefix(3) == ["started", "failed", "started"])
        let ids = server.flows.prefix(3).compactMap { $0["flowId"]?.string }
        #expect(ids.count == 3 && ids[0] == ids[1] && ids[1] != ids[2])
        await service.stop()
        close.yield()
        #expect(await cut.end() == .cancelled)
        await killed.stop()
    }

    // row 2.2: the end of the one before it was told while the server said that it runs
    @Test func `asks again where the one before it has ended meanwhile`() async throws {
        let first = FirstTime()
        var setup = ServiceSetup()
        let server = setup.server
        setup.transport = { request in
            let isRefused = request.url.contains("/flows") && first.take()
            return isRefused ? Self.busy : await server.transport(request)
        }
        let service = setup.service()
        await service.start()
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.end() == .done(isRecorded: true))
        await service.stop()
    }
}
