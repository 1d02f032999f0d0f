package import Encodings
package import Entitlements

/// Lets things happen in the simulated App Store because somebody wants to see them, and tells a backend of
/// each as the App Store would: in the order of time, each at its own.
package actor SimulatedAppStoreDesk {
    private let store: SimulatedAppStore
    private let devices: SimulatedDeviceAPI
    private let clock: SimulatedClock
    private let products: [SimulatedProduct]
    /// The newest last.
    private var told: [Told] = []

    /// What was told, and what became of it.
    package struct Told: Sendable {
        package var at: Instant
        package var customer: CustomerID
        /// The notification's type, with its subtype behind a slash; `claim` of what an app hands in.
        package var what: String
        package var outcome: Outcome
    }

    /// What a backend answers.
    package struct Outcome: Sendable {
        /// A word for it.
        package var word: String
        /// Its first event; nil: there is none.
        package var sequence: UInt64?

        /// Names it.
        package init(word: String, sequence: UInt64?) {
            self.word = word
            self.sequence = sequence
        }
    }

    /// Who is told.
    package struct Backend: Sendable {
        /// Takes the body of a notification.
        package var notification: @Sendable (JSONValue) async -> Outcome
        /// Takes the transaction that a customer's app hands in.
        package var claim:
            @Sendable (_ customer: CustomerID, _ transaction: String) async -> Outcome

        /// Names who is told.
        package init(
            notification: @escaping @Sendable (JSONValue) async -> Outcome,
            claim:
                @escaping @Sendable (_ customer: CustomerID, _ transaction: String) async -> Outcome
        ) {
            self.notification = notification
            self.claim = claim
        }
    }

    /// What was told that is remembered.
    private static let toldLimit = 200

    /// Works with what devices have bought, by their clock.
    package init(
        _ store: SimulatedAppStore,
        _ devices: SimulatedDeviceAPI,
        products: [SimulatedProduct],
        clock: SimulatedClock
    ) {
        (self.store, self.devices, self.products, self.clock) = (store, devices, products, clock)
    }

    /// All that customers have bought, the newest customers first.
    package var bought: [(customer: CustomerID, purchase: SimulatedAppleAccount.Bought)] {
        accounts.reversed().flatMap { customer, account in
            account.bought.reversed().map { (customer, $0) }
        }
    }

    /// Devices are called by their customers here.
    private var accounts: [(customer: CustomerID, purchases: SimulatedAppleAccount)] {
        devices.accounts.compactMap { name, account in CustomerID(name).map { ($0, account) } }
    }

    /// What was told last, the newest first.
    package var lately: [Told] { told.reversed() }

    /// Buys for a customer, whose app claims it.
    ///
    /// - Returns: false: it is not sold, or the customer's device has no more room.
    package func buy(
        _ productID: String,
        for customer: CustomerID,
        telling backend: Backend
    ) async throws -> Bool {
        guard let product = products.first(where: { $0.id.isSame(as: productID) }) else {
            return false
        }
        let now = clock.now
        var transaction: JSONValue?
        let notifications = devices.change(customer.text) { account in
            account.buy(product, at: now)
            transaction = account.transactions.last
        }
        guard let notifications, let transaction else { return false }
        let signed = try store.authority.sign(transaction)
        let outcome = await backend.claim(customer, String(decoding: signed, as: UTF8.self))
        note(Told(at: now, customer: customer, what: "claim", outcome: outcome))
        try await tell(notifications, of: customer, backend)
        return true
    }

    /// Lets a step happen to a purchase, once the time has come for it.
    ///
    /// - Returns: false: it cannot happen, as the purchase stands.
    package func take(
        _ step: SimulatedStep,
        to id: String,
        telling backend: Backend
    ) async throws -> Bool {
        let found = accounts.first { account in
            account.purchases.bought.contains { $0.id.isSame(as: id) }
        }
        guard let (customer, account) = found,
            let time = account.time(of: step, to: id, at: clock.now)
        else { return false }
        try await turn(to: time, except: id, telling: backend)
        let now = clock.now
        var isPossible = false
        let notifications = devices.change(customer.text) { account in
            // Another step may have come between while a backend was told.
            isPossible = account.time(of: step, to: id, at: now) != nil
            guard isPossible else { return }
            // Whoever does not renew has said so before.
            if step == .expire, account.time(of: .cancel, to: id, at: now) != nil {
                account.take(.cancel, to: id, at: now)
            }
            account.take(step, to: id, at: now)
        }
        try await tell(notifications ?? [], of: customer, backend)
        return isPossible
    }

    /// Turns the clock ahead: what is due until then happens.
    ///
    /// `excepted`: the first transaction of a subscription to which nothing happens by itself.
    package func turn(
        to later: Instant,
        except excepted: String? = nil,
        telling backend: Backend
    ) async throws {
        // Looked for anew each time: another turn may have come between while a backend was told.
        while let (customer, due) = next(except: excepted), due.at <= later {
            // What was due before the clock began is told now.
            let time = max(due.at, clock.now)
            clock.turn(to: time)
            let notifications = devices.change(customer.text) { account in
                account.take(due.step, due.place, at: time)
            }
            try await tell(notifications ?? [], of: customer, backend)
        }
        clock.turn(to: later)
    }

    /// What is due first.
    private func next(
        except excepted: String?
    ) -> (customer: CustomerID, due: SimulatedAppleAccount.Due)? {
        accounts.compactMap { customer, account in
            account.due(except: excepted).map { (customer: customer, due: $0) }
        }
        .min { $0.due.at < $1.due.at }
    }

    private func tell(
        _ notifications: [SimulatedAppleAccount.Notification],
        of customer: CustomerID,
        _ backend: Backend
    ) async throws {
        for notification in notifications {
            let signed = String(decoding: try store.signed(notification), as: UTF8.self)
            let outcome = await backend.notification(
                .members(["signedPayload": .string(signed)])
            )
            let words = [notification.type] + (notification.subtype.map { [$0] } ?? [])
            note(
                Told(
                    at: notification.time,
                    customer: customer,
                    what: words.joined(separator: "/"),
                    outcome: outcome
                )
            )
        }
    }

    private func note(_ one: Told) {
        told.append(one)
        if told.count > Self.toldLimit { told.removeFirst() }
    }
}
