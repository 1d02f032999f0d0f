import Encodings
import EntitlementLedger
package import Entitlements
import EventLog
import LedgerAPI
import LedgerOperations
package import StoreSimulator
import Stores
import Synchronization

/// Plays a scenario against a ledger in memory, and holds what customers have against what they are
/// expected to.
package struct ScenarioRun {
    private let scenario: Scenario
    private let messages: [ScenarioMessage]
    private let accounts: [SimulatedAppleAccount]
    private let authority: SigningAuthority

    /// What does not hold.
    package struct Failure: Sendable, Hashable {
        /// Which expectation, from 0 on.
        package var expectation: Int
        /// What was expected, and what was found.
        package var detail: String
    }

    /// Plays the steps once; deliveries come after.
    ///
    /// - Throws: `InputFault` for a step about what is not there.
    package init(_ scenario: Scenario, authority: SigningAuthority) throws {
        let played = try ScenarioMessages(scenario, authority: authority)
        self.scenario = scenario
        self.authority = authority
        messages = played.messages
        accounts = played.accounts.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Certificates that hold ten years before and after an instant.
    package static func authority(
        around instant: Instant = Scenario.start
    ) throws -> SigningAuthority {
        let years = 3650 * Instant.millisecondsPerDay
        return try SigningAuthority(
            validity: instant.advanced(
                byMilliseconds: -years
            )..<instant.advanced(byMilliseconds: years)
        )
    }

    /// Delivers the messages; what was lost is fetched in the end.
    ///
    /// `changing`: plants a fault in what a message comes to.
    ///
    /// - Returns: what does not hold; nothing: all does.
    package func run(
        _ delivery: ScenarioDelivery,
        changing: (@Sendable (Submission) -> Submission)? = nil
    ) async throws -> [Failure] {
        let clock = ScenarioClock()
        let ledger = try Self.ledger(clock)
        let verifier = try AppStoreVerifier(
            AppStoreConfiguration(
                bundleIDs: [Self.store(authority).bundleID],
                appAppleID: Self.store(authority).appAppleID,
                roots: [authority.root]
            )
        )
        let published = try ledger.appender.publish(
            try ScenarioProducts.catalog(policy: scenario.policy),
            effective: nil,
            Request(id: "catalog", source: Source.catalog, environment: .production)
        )
        guard case .appended = published else { preconditionFailure("the catalog: \(published)") }
        for (number, delivery) in delivery.deliveries(of: messages).enumerated() {
            clock.now = max(clock.now, delivery.at)
            try await deliver(delivery.message, number, ledger, verifier, changing)
        }
        if delivery.losePercent > 0 {
            // The App Store tells of half a year.
            clock.now = max(clock.now, scenario.dayAfterLastStep)
            try await fetch(into: ledger, verifier, clock)
        }
        clock.now = max(clock.now, scenario.end)
        defer { try? ledger.close() }  // It is in memory alone.
        return try failures(of: ledger, delivery)
    }

    private func deliver(
        _ message: ScenarioMessage,
        _ number: Int,
        _ ledger: Ledger,
        _ verifier: AppStoreVerifier,
        _ changing: (@Sendable (Submission) -> Submission)?
    ) async throws {
        let now = message.at.advanced(byMilliseconds: Instant.millisecondsPerDay)
        func request(_ environment: StoreEnvironment = .production) -> Request {
            Request(id: "request-\(number)", source: Source.app, environment: environment)
        }
        switch message.content {
        case .notification(let body):
            let outcomes = await AppStoreImport.outcomes(
                of: try JSONValue(parsing: body),
                body: body,
                verifier: verifier,
                now: now
            )
            for outcome in outcomes {
                let submission = try outcome.get()
                _ = try ledger.appender.record(changing?(submission) ?? submission)
            }
        case .transaction(let jws, let customer):
            let found = await verifier.transaction(jws, now: now)
            guard case .success(let transaction) = found, let purchase = transaction.purchase
            else { return }
            let facts = AppStoreMapping.submission(for: transaction)
            _ = try ledger.appender.claim(
                VerifiedTransaction(purchase: purchase, facts: facts),
                for: customer,
                request(facts.environment)
            )
        case .claim(let originalID, let customer):
            _ = try ledger.appender.claim(
                PurchaseName(store: Source.appStore, originalID: originalID),
                for: customer,
                request()
            )
        }
    }

    /// Asks the App Store about everybody.
    private func fetch(
        into ledger: Ledger,
        _ verifier: AppStoreVerifier,
        _ clock: ScenarioClock
    ) async throws {
        let store = Self.store(authority)
        let simulated = SimulatedAppStoreAPI(store) { clock.now }
        simulated.set(accounts)
        let api = AppStoreServerAPI(
            try simulated.access(),
            bundleIDs: [store.bundleID],
            caller: StoreCaller(
                simulated.transport,
                clock: { clock.now },
                sleep: { _ in },
                random: { 0 }
            ),
            clock: { clock.now }
        )
        let sync = StoreSync(
            ledger,
            StoreClients(appStore: StoreClients.AppStore(api: api, verifier: verifier)),
            pool: DispatchPool(),
            clock: { clock.now },
            makeID: { String(UInt64.random(in: 0...(.max))) }
        )
        _ = try await StoreBackfill(sync, in: .production).run(
            since: nil,
            isInterrupted: { false },
            progress: { _, _, _ in }
        )
    }

    private func failures(of ledger: Ledger, _ delivery: ScenarioDelivery) throws -> [Failure] {
        var failures: [Failure] = []
        for (index, expected) in scenario.expectations.enumerated() {
            // What was known meanwhile depends on when messages came.
            if expected.known != nil, !delivery.isOrderly { continue }
            if !expected.isFetched, delivery.losePercent > 0 { continue }
            let shown = try ledger.questions.show(
                CustomerQuestion(
                    customer: expected.customer,
                    environment: .production,
                    point: BitemporalPoint(
                        at: expected.at,
                        knownAt: expected.known.map { .instant($0) } ?? .everything
                    )
                )
            ).answer.state
            let status = shown.purchases.first?.status.rawValue ?? "none"
            if shown.tier != expected.tier {
                failures.append(
                    Failure(
                        expectation: index,
                        detail: "tier \(shown.tier), expected \(expected.tier)"
                    )
                )
            } else if let wanted = expected.status, wanted != status, delivery.losePercent == 0 {
                failures.append(
                    Failure(expectation: index, detail: "status \(status), expected \(wanted)")
                )
            }
        }
        return failures
    }

    private static func store(_ authority: SigningAuthority) -> SimulatedAppStore {
        SimulatedAppStore(authority: authority)
    }

    private static func ledger(_ clock: ScenarioClock) throws -> Ledger {
        try Ledger(
            identity: LedgerIdentity(
                id: Array(repeating: 0, count: LedgerIdentity.idByteCount),
                origin: "scenario.example/log"
            ),
            log: MemoryLog(),
            vault: try MemoryVault(randomness: .system),
            options: Ledger.Options(
                viewsPath: nil,
                isReadOnly: false,
                clock: { clock.now }
            )
        )
    }
}

/// The time of a scenario, which passes as its messages come.
private final class ScenarioClock: Sendable {
    private let instant = Mutex(Scenario.start)

    var now: Instant {
        get { instant.withLock(\.self) }
        set { instant.withLock { $0 = newValue } }
    }
}
