import Encodings
import Entitlements
import Stores

/// Fetches what an Apple Account bought of our apps.
struct AppStoreFetch {
    private let appStore: StoreClients.AppStore
    private let transactionID: String
    private let environment: StoreEnvironment
    private let asksForRefunds: Bool
    private let clock: @Sendable () -> Instant

    /// `asksForRefunds`: the history has them too, and the App Store allows fewer questions about them alone,
    /// so that whoever asks about everybody leaves them out.
    init(
        _ appStore: StoreClients.AppStore,
        of transactionID: String,
        in environment: StoreEnvironment,
        asksForRefunds: Bool,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.appStore = appStore
        self.transactionID = transactionID
        self.environment = environment
        self.asksForRefunds = asksForRefunds
        self.clock = clock
    }

    /// Fetches the history of its transactions, then its refunds and how its subscriptions stand.
    ///
    /// `take`: gets what each answer comes to, as it comes.
    ///
    /// - Returns: why the App Store did not tell all; nil: it did.
    func run(_ take: ([Submission]) async throws -> Void) async throws -> StoreFault? {
        do {
            var lists = [appStore.api.history(of: transactionID, in: environment)]
            if asksForRefunds {
                lists.append(appStore.api.refunds(of: transactionID, in: environment))
            }
            for var pages in lists {
                while let page = try await pages.next() { try await read(page, take) }
            }
            try await read(
                try await appStore.api.statuses(of: transactionID, in: environment),
                take
            )
            return nil
        } catch let fault as StoreFault {
            return fault
        }
    }

    /// What is signed counts, whatever else stands beside it.
    private func read(
        _ answer: JSONValue,
        _ take: ([Submission]) async throws -> Void
    ) async throws {
        let outcomes = await AppStoreImport.outcomes(
            of: answer,
            verifier: appStore.verifier,
            now: clock()
        )
        // Why one is refused makes no difference here.
        let submissions = outcomes.compactMap { try? $0.get() }
        try await take(submissions)
        // Signed by others, or about another app: what the App Store answers holds no such thing.
        if submissions.count < outcomes.count { throw StoreFault(.malformed) }
    }
}
