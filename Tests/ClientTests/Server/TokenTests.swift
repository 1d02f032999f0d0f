import Entitlements
import LedgerAPI
import Synchronization
import Testing

@testable import EntitlementClient

/// A token provider of the app's own, which may do whatever it likes (row CL5).
struct `A customer's token` {
    /// Hands out tokens when a test says so, and counts.
    private final class Backend: Sendable {
        private let state = Mutex((count: 0, waiting: [CheckedContinuation<String, any Error>]()))

        var count: Int { state.withLock { $0.count } }

        func token() async throws -> String {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { state in
                    state.count += 1
                    state.waiting.append(continuation)
                }
            }
        }

        func answer(_ result: Result<String, any Error>) {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume(with: result) }
        }
    }

    private struct Broken: Error {}

    @Test func `that hangs is waited for no longer than a time, and hangs once`() async throws {
        let (backend, time) = (Backend(), HeldTime())
        let tokens = TokenSource(time.time) { try await backend.token() }
        for round in 1...3 {
            let token = Task { try await tokens.token() }
            let end = time.now.advanced(byMilliseconds: TokenSource.patience)
            #expect(await eventually { time.alarms.contains(end) }, "round \(round)")
            time.pass(to: end)
            await #expect(throws: TokenSource.Overdue.self) { try await token.value }
        }
        #expect(backend.count == 1, "one is under way")
        // Once it comes, it is used, and the next is asked for anew.
        let token = Task { try await tokens.token() }
        #expect(await eventually { !time.alarms.isEmpty })
        backend.answer(.success("token"))
        #expect(try await token.value == "token")
        let next = Task { try await tokens.token() }
        #expect(await eventually { backend.count == 2 })
        backend.answer(.failure(Broken()))
        await #expect(throws: Broken.self) { try await next.value }
    }

    @Test func `under way at a switch is nobody's`() async throws {
        let (backend, time) = (Backend(), HeldTime())
        let tokens = TokenSource(time.time) { try await backend.token() }
        let first = Task { try await tokens.token() }
        #expect(await eventually { backend.count == 1 })
        await tokens.forget()
        await #expect(throws: TokenSource.Overdue.self) { try await first.value }
        let second = Task { try await tokens.token() }
        #expect(await eventually { backend.count == 2 })
        backend.answer(.success("theirs"))
        // Both are answered: whose the first was makes no difference by now, and nobody waits for it.
        #expect(try await second.value == "theirs")
    }

    // row CL5: gates answer meanwhile, and what is known stays
    @Test func `that hangs or is not to be had closes nothing`() async throws {
        let setup = ServiceSetup()
        setup.server.set(until: noon.plus(days: 30))
        await setup.service().start()
        let backend = Backend()
        var hanging = setup
        hanging.token = { try await backend.token() }
        let service = hanging.service()
        async let started = service.start()
        #expect(await eventually { backend.count == 1 })
        #expect(service.gate.isOpen("export"), "while it hangs")
        // What fails is the network's to mend.
        backend.answer(.failure(Broken()))
        #expect(await started == .kept(ServiceError(.networkError)))
        #expect(service.gate.isOpen("export"))
        await service.stop()
    }
}
