import Entitlements
import LedgerAPI
import LedgerOperations
import StoreSimulator
import Stores
import Synchronization
import Testing

/// Where what a store sent is held up.
extension `A backfill` {
    // Asked again a moment later, it would ask about everybody each time.
    @Test func `asks about nobody twice while only what was sent is not told`() async throws {
        let story = try AppStoreStory.wholeLife()
        try await story.ledger(on: 120, told: [0]) { scratch, api in
            let (path, transport) = ("notifications/history", api.transport)
            let held: StoreTransport = { request in
                guard request.url.contains(path) else { return await transport(request) }
                return StoreResponse(status: 429)
            }
            var next: UInt64 = 0
            func run(by transport: StoreTransport?) async throws -> BackfillAnswer {
                try await StoreBackfill(
                    try story.storeSync(scratch, api, by: transport),
                    in: .production
                ).run(
                    since: nil,
                    from: next,
                    isInterrupted: { false },
                    progress: { next = $2 }
                )
            }
            let first = try await run(by: held)
            #expect(first.sources.map(\.code) == [.rateLimited] && first.failed == 0)
            let asked = api.requests.count
            #expect(asked > 0)
            let second = try await run(by: held)
            #expect(second.sources.map(\.code) == [.rateLimited] && api.requests.count == asked)
            #expect(try await run(by: nil).isWhole)
            #expect(api.requests.count > asked)
            #expect(api.requests[asked...].allSatisfy { $0.url.contains(path) })
            // What comes a week later asks about everybody again.
            #expect(next == 0)
        }
    }

    // A server that stops ends its task: of whom it was about to ask nothing was heard.
    @Test func `keeps its place where nobody waits for it any longer`() async throws {
        let story = try AppStoreStory.wholeLife()
        try await story.ledger(on: 120, told: [0]) { scratch, api in
            let (path, transport) = ("notifications/history", api.transport)
            let begun = Mutex<Task<BackfillAnswer, any Error>?>(nil)
            let ending: StoreTransport = { request in
                if request.url.contains(path) { return await transport(request) }
                while begun.withLock({ $0 == nil }) { await Task.yield() }
                begun.withLock { $0?.cancel() }
                return nil
            }
            let reached = Mutex<[UInt64]>([])
            let sync = try story.storeSync(scratch, api, by: ending)
            let running = Task {
                try await StoreBackfill(sync, in: .production).run(
                    since: nil,
                    isInterrupted: { false },
                    progress: { _, _, next in reached.withLock { $0.append(next) } }
                )
            }
            begun.withLock { $0 = running }
            let answer = try await running.value
            #expect(answer.remaining == 1 && reached.withLock(\.self) == [])
            let whole = try await StoreBackfill(story.storeSync(scratch, api), in: .production)
                .run(
                    since: nil,
                    isInterrupted: { false },
                    progress: { _, _, next in reached.withLock { $0.append(next) } }
                )
            #expect(whole.isWhole && reached.withLock(\.self) == [0], "the control")
        }
    }
}
