import Entitlements
import LedgerAPI
import LedgerOperations
import Presentation
import StoreSimulator
import Stores
import Testing

/// What is said of a purchase of which its store knows nothing, or no more (Stores, rule 9).
struct `A purchase that its store does not know` {
    // row 8.1: whoever asks again hears the same
    @Test(arguments: [
        (404, false, "not known to its store, or no more (not_found)"),
        (503, true, "not fetched whole (unavailable)"),
    ])
    func `is no reason to ask again`(
        _ status: Int,
        _ isToAskAgain: Bool,
        _ words: String
    ) async throws {
        var story = try AppStoreStory()
        story.account.buy(AppStoreStory.month, at: Sample.day(1))
        try await story.ledger(on: 10, told: [0]) { scratch, api in
            api.fail(with: Array(repeating: StoreResponse(status: status), count: 100))
            let answer = try await story.sync(scratch, api)
            #expect(answer.purchases.map(\.outcome) == [.failed] && !answer.isWhole)
            #expect(answer.isToAskAgain == isToAskAgain)
            #expect(answer.textLines.first?.hasSuffix(words) == true, "\(answer.textLines)")
        }
    }

    @Test func `is no reason to ask again about everybody, nor hides one`() async throws {
        let story = try AppStoreStory.wholeLife()
        try await story.ledger(on: 120, told: []) { scratch, api in
            let (away, transport) = ("2000000777", api.transport)
            let halfway: StoreTransport = { request in
                if request.url.contains(away) { return StoreResponse(status: 503) }
                return await transport(request)
            }
            let sync = try story.storeSync(scratch, api, by: halfway)
            func run(_ listed: [String]) async throws -> BackfillAnswer {
                try await StoreBackfill(sync, in: .production).run(
                    about: listed.compactMap { PurchaseName("app_store/" + $0) },
                    isInterrupted: { false },
                    progress: { _, _ in }
                )
            }
            // More than are listed, and as many as are asked about at once.
            let unknown = (0..<200).map { "99999\(1000 + $0)" }
            let told = try await run(unknown)
            #expect(told.failed == 200 && !told.isWhole && !told.isToAskAgain)
            let answer = try await run(unknown + [away])
            #expect(answer.failed == 201)
            #expect(answer.failures.count == BackfillAnswer.failureLimit)
            #expect(answer.failures.last?.code == .unavailable && answer.isToAskAgain)
        }
    }

    // A key of another app is told as much of each purchase.
    @Test func `is one where everybody was asked about and nobody is known`() {
        var answer = BackfillAnswer(environment: .production, at: Sample.day(1))
        let unknown = SyncedPurchase(purchase: "app_store/1", outcome: .failed, code: .notFound)
        answer.count([unknown])
        #expect(!answer.isToAskAgain, "the control: of a list all may be unknown")
        answer.sources = [BackfilledSource(store: "app_store", since: Sample.day(0))]
        #expect(answer.isToAskAgain)
        answer.count([SyncedPurchase(purchase: "app_store/2", outcome: .completed)])
        #expect(!answer.isToAskAgain)
    }
}
