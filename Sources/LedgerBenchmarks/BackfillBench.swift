import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import StoreSimulator
import Stores

/// A backfill of purchases that the ledger has not heard of, beside fetching alone (row 6.2).
///
/// The App Store is simulated in this process: its answers are signed anew for both sides, and come without a
/// network, so that both need all of the processor; and once more as late as one from somewhere else.
struct BackfillBench {
    let plan: BenchPlan

    private static let month = 30 * Instant.millisecondsPerDay
    private static let product = SimulatedAppleAccount.Product(
        id: "premium_monthly",
        type: "Auto-Renewable Subscription",
        period: month,
        price: 4_990
    )
    /// Periods of a purchase.
    private static let periodCount = 3
    /// Purchases that the reference fetches at once, as a backfill does.
    private static let parallel = 8

    /// An answer of a store in the same region at best.
    private static let distance = Duration.milliseconds(20)

    func rows() throws -> [BenchRow] {
        try rows("backfill", answersTaking: nil)
            + rows("backfill-distant", answersTaking: Self.distance)
    }

    private func rows(_ name: String, answersTaking delay: Duration?) throws -> [BenchRow] {
        let headings = BenchHeading.events(
            name,
            unit: "purchases/s",
            against: "the same client, which only fetches, the same purchases"
        )
        let simulated = try Simulated(count: max(200, plan.events / 100), answersTaking: delay)
        return try plan.rows(headings) { _ in
            let reference = try Stopwatch.seconds { try fetch(simulated) }
            return try backfill(simulated)
                .runs(of: Double(simulated.purchases.count), reference: reference)
        }
    }

    /// An App Store with one subscription for each account.
    private struct Simulated {
        let clients: StoreClients
        let api: AppStoreServerAPI
        let purchases: [PurchaseName]
        let now: Instant

        init(count: Int, answersTaking delay: Duration?) throws {
            let start = BenchStory.start
            // Fits: a few months.
            let now = start.advanced(byMilliseconds: Int64(periodCount) * month)
            self.now = now
            let authority = try SigningAuthority(
                validity: start.advanced(
                    byMilliseconds: -month
                )..<now.advanced(byMilliseconds: month)
            )
            let store = SimulatedAppStore(authority: authority)
            let accounts = (1...count).map { number in
                var account = SimulatedAppleAccount(number, token: nil, of: store)
                account.buy(product, at: start)
                for period in 1..<periodCount {
                    // Fits: a few months.
                    account.renew(0, at: start.advanced(byMilliseconds: Int64(period) * month))
                }
                return account
            }
            purchases = accounts.compactMap {
                $0.originals.first?["transactionId"]?.string
                    .map { PurchaseName(store: Source.appStore, originalID: $0) }
            }
            let simulated = SimulatedAppStoreAPI(store) { now }
            simulated.set(accounts)
            // At an address that is named, a store sets no pace.
            api = AppStoreServerAPI(
                try simulated.access(apiURL: AppStoreServerAPI.productionURL),
                bundleIDs: [store.bundleID],
                caller: StoreCaller(
                    Self.transport(of: simulated, answersTaking: delay),
                    clock: { now },
                    sleep: { _ in },
                    random: { 0 }
                ),
                clock: { now }
            )
            let verifier = try AppStoreVerifier(
                AppStoreConfiguration(
                    bundleIDs: [store.bundleID],
                    appAppleID: store.appAppleID,
                    roots: [authority.root]
                )
            )
            clients = StoreClients(
                appStore: StoreClients.AppStore(api: api, verifier: verifier)
            )
        }

        private static func transport(
            of api: SimulatedAppStoreAPI,
            answersTaking delay: Duration?
        ) -> StoreTransport {
            let transport = api.transport
            guard let delay else { return transport }
            return { request in
                // Nobody ends the task.
                try? await Task.sleep(for: delay)
                return await transport(request)
            }
        }
    }

    /// Asks what a backfill asks, and does nothing with it.
    private func fetch(_ simulated: Simulated) throws {
        let api = simulated.api
        let pages = try Blocking.value {
            try await withThrowingTaskGroup(of: Int.self) { tasks in
                var (pages, started) = (0, 0)
                for purchase in simulated.purchases {
                    if started >= Self.parallel { pages += try await tasks.next() ?? 0 }
                    started += 1
                    tasks.addTask {
                        var list = api.history(of: purchase.originalID, in: .production)
                        var count = 0
                        while try await list.next() != nil { count += 1 }
                        _ = try await api.statuses(of: purchase.originalID, in: .production)
                        return count
                    }
                }
                return try await tasks.reduce(pages, +)
            }
        }
        try requireRight(pages == simulated.purchases.count, "a page for each purchase")
    }

    /// What it costs until all stands durably in a new ledger.
    private func backfill(_ simulated: Simulated) throws -> Cost {
        let bench = try BenchLedger(making: plan.fresh("ledger"))
        let now = simulated.now
        let backfill = StoreBackfill(
            StoreSync(
                bench.ledger,
                simulated.clients,
                pool: DispatchPool(),
                clock: { now },
                makeID: { String(UInt64.random(in: 0...(.max))) }
            ),
            in: .production
        )
        let cost = try Stopwatch.cost {
            let answer = try Blocking.value {
                try await backfill.run(
                    about: simulated.purchases,
                    isInterrupted: { false },
                    progress: { _, _ in }
                )
            }
            try requireRight(
                answer.reconciled == simulated.purchases.count,
                "each purchase is reconciled"
            )
        }
        try bench.discard()
        return cost
    }
}
