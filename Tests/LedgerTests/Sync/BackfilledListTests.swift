import Entitlements
import LedgerAPI
import LedgerOperations
import StoreSimulator
import Stores
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
}
