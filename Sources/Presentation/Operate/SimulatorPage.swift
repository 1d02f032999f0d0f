package import Entitlements
package import LedgerAPI

/// A simulated store, for development: what its customers bought, what can happen to it, the time, and what
/// the ledger was told (Z7).
package struct SimulatorPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// What the simulator says.
    package var state: State
    /// What was searched for; nil: nothing.
    package var search: String?
    /// Where forms go and what they send back; nil: whoever looks is not signed in.
    package var form: (path: @Sendable (Form) -> String, token: String)?
    /// The page of a customer.
    package var customer: @Sendable (CustomerID) -> String
    /// The page of an event.
    package var event: @Sendable (UInt64) -> String

    /// What can be done, each by a form of its own.
    package enum Form: String, CaseIterable, Sendable { case buy, step, clock }

    /// What a simulator says of itself.
    package struct State: Sendable {
        /// The time, and the milliseconds by which it was turned ahead.
        package var now: Instant
        package var ahead: Int64
        /// What is sold.
        package var products: [String]
        /// What was bought, as far as it is shown, the newest customers first; and of how many.
        package var purchases: [Purchase]
        package var purchaseCount: Int
        /// What the ledger was told, the newest first.
        package var told: [Told]

        /// Says it.
        package init(
            now: Instant,
            ahead: Int64,
            products: [String],
            purchases: [Purchase],
            purchaseCount: Int,
            told: [Told]
        ) {
            self.now = now
            self.ahead = ahead
            self.products = products
            self.purchases = purchases
            self.purchaseCount = purchaseCount
            self.told = told
        }
    }

    /// What somebody bought.
    package struct Purchase: Sendable {
        package var customer: CustomerID
        package var id: String
        package var product: String
        package var standing: Standing
        /// When its period ends; nil: it has none.
        package var end: Instant?

        /// Names it.
        package init(
            customer: CustomerID,
            id: String,
            product: String,
            standing: Standing,
            end: Instant?
        ) {
            self.customer = customer
            self.id = id
            self.product = product
            self.standing = standing
            self.end = end
        }
    }

    /// What the ledger was told, and what it answered.
    package struct Told: Sendable {
        package var at: Instant
        package var customer: CustomerID
        package var what: String
        package var outcome: String
        /// Its first event; nil: there is none.
        package var sequence: UInt64?

        /// Names it.
        package init(
            at: Instant,
            customer: CustomerID,
            what: String,
            outcome: String,
            sequence: UInt64?
        ) {
            self.at = at
            self.customer = customer
            self.what = what
            self.outcome = outcome
            self.sequence = sequence
        }
    }

    /// Names what the page shows.
    package init(
        language: Language,
        state: State,
        customer: @escaping @Sendable (CustomerID) -> String,
        event: @escaping @Sendable (UInt64) -> String
    ) {
        self.language = language
        self.state = state
        self.customer = customer
        self.event = event
    }

    /// The title of the page.
    package static func title(in language: Language) -> String {
        PageWords.section(.simulator)[language]
    }

    /// Writes the page.
    package func write(to page: inout XMLText) {
        page.card(SimulatorWords.clock[language], id: "clock") { writeClock(to: &$0) }
        page.card(SimulatorWords.purchases[language], id: "purchases") { writePurchases(to: &$0) }
        page.card(SimulatorWords.told[language], id: "told") { writeTold(to: &$0) }
    }

    private func writeClock(to page: inout XMLText) {
        page.pairs([
            (SimulatorWords.now[language], .instant(state.now)),
            (
                SimulatorWords.ahead[language],
                .words(SimulatorWords.span(state.ahead, language))
            ),
        ])
        write(.clock, to: &page) { fields in
            fields.choice(
                SimulatorWords.turn[language],
                "ahead",
                Self.spans.map { (String($0), SimulatorWords.span($0, language)) },
                String(Instant.millisecondsPerDay)
            )
        }
        page.element("p", ["class": "quiet"]) { $0.write(SimulatorWords.dueHappens[language]) }
    }

    /// By how much the clock can be turned: an hour, a day, a week, a month.
    package static let spans: [Int64] =
        [3_600_000]
        + [1, 7, 30].map {
            // Fits: a month.
            $0 * Instant.millisecondsPerDay
        }

    private func writePurchases(to page: inout XMLText) {
        page.element("form", ["class": "inline", "method": "get"]) { form in
            form.input(EventWords.customer[language], "q", search)
            form.element("button") { $0.write(EventWords.show[language]) }
        }
        if form != nil { writeForms(to: &page) }
        page.rows(
            SimulatorWords.purchases[language],
            [
                EventWords.customer, SimulatorWords.product, SimulatorWords.standing,
                SimulatorWords.end, EventWords.id,
            ]
            .map { PageColumn($0[language]) },
            state.purchases.map { purchase in
                let (words, mark) = SimulatorWords.standing(purchase.standing)
                return [
                    PageCell.code(purchase.customer.text).leading(to: customer(purchase.customer)),
                    .code(purchase.product), PageCell.words(words[language]).marked(mark),
                    .instant(purchase.end), .code(purchase.id),
                ]
            },
            empty: SimulatorWords.noPurchases[language]
        )
        let hidden = state.purchaseCount - state.purchases.count
        if hidden > 0 {
            page.element("p", ["class": "quiet"]) { page in
                page.write(SimulatorWords.more.filled(language) { _ in String(hidden) })
            }
        }
    }

    private func writeForms(to page: inout XMLText) {
        if !state.purchases.isEmpty {
            page.element("h3") { $0.write(SimulatorWords.step[language]) }
            write(.step, to: &page) { fields in
                fields.choice(
                    EventWords.purchase[language],
                    "purchase",
                    state.purchases.map { ($0.id, $0.customer.text + " · " + $0.product) },
                    nil
                )
                fields.choice(
                    SimulatorWords.step[language],
                    "step",
                    Step.allCases.map { ($0.rawValue, SimulatorWords.step($0)[language]) },
                    nil
                )
            }
            page.element("p", ["class": "quiet"]) {
                $0.write(SimulatorWords.turnsClock[language])
            }
        }
        page.element("h3") { $0.write(SimulatorWords.buy[language]) }
        write(.buy, to: &page) { fields in
            fields.input(EventWords.customer[language], "customer")
            fields.choice(
                SimulatorWords.product[language],
                "product",
                state.products.map { ($0, $0) },
                nil
            )
        }
    }

    private func writeTold(to page: inout XMLText) {
        page.rows(
            SimulatorWords.told[language],
            [
                SimulatorWords.sent, EventWords.customer, SimulatorWords.signal,
                DeliveryWords.outcome, EventWords.sequence,
            ]
            .map { PageColumn($0[language]) },
            state.told.map { told in
                [
                    .instant(told.at),
                    PageCell.code(told.customer.text).leading(to: customer(told.customer)),
                    .code(told.what),
                    PageCell.code(told.outcome).marked(told.sequence == nil ? .plain : .ok),
                    PageCell.number(told.sequence).leading(to: told.sequence.map(event)),
                ]
            },
            empty: SimulatorWords.nothingTold[language]
        )
    }

    /// A form with its button, for whoever is signed in.
    private func write(_ kind: Form, to page: inout XMLText, fields: (inout XMLText) -> Void) {
        guard let form else { return }
        page.element(
            "form",
            ["class": "inline", "method": "post", "action": form.path(kind)]
        ) { page in
            page.formToken(form.token)
            page.keep("q", search)
            fields(&page)
            page.element("button", ["class": "primary"]) { page in
                page.write(SimulatorWords.does(kind)[language])
            }
        }
    }
}
