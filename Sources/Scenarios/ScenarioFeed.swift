import Encodings
package import Entitlements
package import StoreSimulator
package import Stores

/// Sends to a backend what stores send in scenarios, while their APIs answer as of then.
///
/// Only what stores send: what customers ask their backend is not sent, since only their apps know how.
package struct ScenarioFeed: Sendable {
    private let stores: SimulatedStores
    private let plays: [ScenarioMessages]
    private let delivery: ScenarioDelivery
    private let clock: ScenarioClock
    private let end: Instant

    /// What became of an attempt.
    package struct Attempt: Sendable {
        /// By the scenarios' time.
        package var at: Instant
        package var scenario: String
        package var store: ScenarioStore
        /// From 1 on.
        package var number: Int
        /// Nil: there was no whole answer.
        package var response: StoreResponse?

        /// Whether the store takes the answer for success.
        package var isTaken: Bool { response.map { store.takes(status: $0.status) } ?? false }
    }

    /// How often one message is sent: the App Store and RevenueCat give up then, Pub/Sub later.
    private static let attemptLimit = 6

    /// Plays scenarios that are placed apart; `clock`: their time.
    ///
    /// - Throws: `InputFault` for a step about what is not there.
    package init(
        _ scenarios: [Scenario],
        _ stores: SimulatedStores,
        _ delivery: ScenarioDelivery,
        clock: ScenarioClock
    ) throws {
        self.stores = stores
        self.delivery = delivery
        self.clock = clock
        plays = try scenarios.map { try ScenarioMessages($0, stores.keys) }
        end = scenarios.map(\.dayAfterLastStep).max() ?? clock.now
    }

    /// How many messages are to be sent, and how many are asked by apps and are not.
    package var counts: (sent: Int, asked: Int) {
        let messages = plays.flatMap(\.messages)
        let sent = messages.count { $0.sender != nil }
        return (sent, messages.count - sent)
    }

    /// Lets all of it have happened, without sending anything.
    package func finish() {
        clock.pass(to: end)
        stores.isOut = false
        stores.set(self.accounts)
    }

    /// Sends everything, and ends.
    ///
    /// - Parameters:
    ///   - url: Where a store's messages go; nil: nowhere.
    ///   - now: The real time, by which tokens are good.
    ///   - reach: Waits until it is so late in the scenarios.
    ///   - send: Carries a message to the backend.
    ///   - tell: Told of each attempt.
    /// - Returns: how many messages were never taken.
    /// - Throws: what signing and `reach` throw.
    package func run(
        to url: (ScenarioStore) -> String?,
        now: () -> Instant,
        reach: (Instant) async throws -> Void,
        send: StoreTransport,
        tell: (Attempt) -> Void
    ) async throws -> Int {
        var untaken = 0
        let messages = plays.flatMap(\.messages).filter { $0.sender != nil }
            .sorted { $0.at < $1.at }
        var outage = delivery.outage(of: messages)
        var queue = delivery.deliveries(of: messages)
            .map { Waiting(at: $0.at, sentAt: $0.at, message: $0.message, number: 1) }
        while !queue.isEmpty {
            let next = queue.removeFirst()
            if let stretch = outage, next.at >= stretch.lowerBound {
                try await pass(to: stretch.lowerBound, reach)
                stores.isOut = true
                try await pass(to: stretch.upperBound, reach)
                stores.isOut = false
                outage = nil
            }
            try await pass(to: next.at, reach)
            guard let store = next.message.sender, let url = url(store) else { continue }
            let request = try request(next.message, to: url, now())
            let attempt = Attempt(
                at: next.at,
                scenario: next.message.scenario,
                store: store,
                number: next.number,
                response: await send(request)
            )
            tell(attempt)
            if attempt.isTaken { continue }
            guard let again = next.again else {
                untaken += 1
                continue
            }
            let place = queue.firstIndex { $0.at > again.at } ?? queue.count
            queue.insert(again, at: place)
        }
        finish()
        return untaken
    }

    /// A message that is to be sent.
    private struct Waiting {
        var at: Instant
        /// When it was sent first.
        var sentAt: Instant
        var message: ScenarioMessage
        var number: Int

        /// The next attempt; nil: it was the last.
        var again: Waiting? {
            guard let store = message.sender, number < ScenarioFeed.attemptLimit,
                number <= store.retries.count
            else { return nil }
            var again = self
            again.at = sentAt.advanced(byMilliseconds: store.retries[number - 1])
            again.number += 1
            return again
        }
    }

    private func pass(to time: Instant, _ reach: (Instant) async throws -> Void) async throws {
        try await reach(time)
        clock.pass(to: time)
        stores.set(accounts)
    }

    /// What all accounts have bought by now.
    private var accounts: SimulatedAccounts {
        var accounts = SimulatedAccounts()
        for play in plays {
            let played = play.accounts(at: clock.now)
            accounts.appStore.merge(played.appStore) { $1 }
            accounts.playStore.merge(played.playStore) { $1 }
            accounts.revenueCat.merge(played.revenueCat) { $1 }
        }
        return accounts
    }

    /// A message as its store sends it.
    private func request(
        _ message: ScenarioMessage,
        to url: String,
        _ now: Instant
    ) throws -> StoreRequest {
        var request = StoreRequest(.post, url, headers: ["Content-Type": "application/json"])
        switch message.content {
        case .notification(let body): request.body = body
        case .push(let body):
            request.body = body
            let token = try stores.keys.playStore.token(at: now)
            request.headers["Authorization"] = "Bearer " + token
        case .webhook(let body):
            request.body = body
            request.headers["Authorization"] = stores.keys.revenueCatAuthorization
        case .transaction, .token, .claim: break
        }
        return request
    }
}
