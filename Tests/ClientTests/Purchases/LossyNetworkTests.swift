import Encodings
import Entitlements
import LedgerAPI
import ModelSupport
import Synchronization
import Testing

@testable import EntitlementClient

/// A network that loses calls and answers, repeats, cuts off and says that something else failed.
struct `A purchase over a bad network` {
    /// What stands between both; a seed throws its dice.
    private final class BadNetwork: Sendable {
        private let state: Mutex<(random: SplitMix64, badPercent: Int)>
        private let inner: ClientTransport

        init(_ seed: UInt64, _ inner: @escaping ClientTransport) {
            state = Mutex((SplitMix64(seed: seed), 60))
            self.inner = inner
        }

        func mend() { state.withLock { $0.badPercent = 0 } }

        var transport: ClientTransport {
            { [self] request in
                let fault = state.withLock { state -> Int? in
                    guard state.random.chance(state.badPercent) else { return nil }
                    return Int.random(in: 0..<7, using: &state.random)
                }
                switch fault {
                case nil: return await inner(request)
                case 0?: return nil
                case 1?:
                    // The server heard it, and the answer is lost.
                    _ = await inner(request)
                    return nil
                case 2?:
                    _ = await inner(request)
                    return await inner(request)
                case 3?:
                    guard var response = await inner(request) else { return nil }
                    response.body.removeLast(response.body.count / 2)
                    return response
                case 6?:
                    // A network that has its guests sign in: the server heard nothing.
                    return ClientResponse(status: 200, body: Array("<html>".utf8))
                case 4?: return ClientResponse(status: 502, body: Array("<html>".utf8))
                default: return ScriptedServer.problem(.busy, retryAfter: 1)
                }
            }
        }
    }

    // rows 3.4, 3.5, 8.1, ES5
    @Test func `is recorded once, finished once, and open from the store's word on`() async throws {
        var (provisional, retried) = (0, 0)
        for seed in 0..<200 as Range<UInt64> {
            var setup = ServiceSetup { _, _ in .success(sampleTransaction()) }
            let network = BadNetwork(seed, setup.server.transport)
            setup.transport = network.transport
            let service = setup.service()
            await service.start()
            let flow = await service.purchase("pro.month") { true }
            let end = await flow.end()
            // The store sells each time: whatever the network says, that is no failure.
            guard case .done(let isRecorded) = end else {
                Issue.record("seed \(seed): \(end)")
                await service.stop()
                continue
            }
            #expect(service.gate.isOpen("export"), "seed \(seed): at once")
            if !isRecorded { provisional += 1 }
            for day in 1...4 as ClosedRange<Int64> where await !service.queue.calls.isEmpty {
                setup.time.pass(to: noon.plus(days: day))
                await service.retry()
                retried += 1
                #expect(service.gate.isOpen("export"), "seed \(seed): day \(day)")
            }
            network.mend()
            setup.time.pass(to: noon.plus(days: 5))
            await service.retry()
            #expect(await eventually { await service.queue.calls.isEmpty }, "seed \(seed)")
            #expect(setup.server.recorded.map(\.value.count) == [1], "seed \(seed): one key")
            #expect(setup.shop.finished.count == 1, "seed \(seed): finished once")
            #expect(service.gate.decision("export").source == .server, "seed \(seed)")
            await service.stop()
        }
        // The control: much went wrong on the way.
        #expect(provisional > 40 && retried > 40)
    }
}
