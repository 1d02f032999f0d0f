package import Entitlements

/// What purchases brought in, counted again from the events, slowly and by the words of the rules.
package struct SlowRevenue {
    /// The prefix known at R, in sequence order (T4).
    let log: [RecordedEvent]
    let environment: StoreEnvironment
    let at: Instant
    let range: Interval

    package init(
        log: [RecordedEvent],
        environment: StoreEnvironment,
        at: Instant,
        range: Interval
    ) {
        self.log = log
        self.environment = environment
        self.at = at
        self.range = range
    }

    /// Figures by `MONTH STORE PRODUCT CURRENCY`, then by name; those that are 0 are left out.
    package typealias Figures = [String: [String: Int]]

    /// What one transaction brought in.
    private struct Sale {
        var store: String
        var statement: RecordedEvent
        var refunds: [Refund] = []

        func key(_ instant: Instant, _ currency: String?) -> String {
            let month = instant.description.prefix(7)
            let product = statement.data.text(.productID) ?? ""
            return "\(month) \(store) \(product) \(currency ?? "-")"
        }
        var currency: String? { statement.data.text(.currencyCode) }
        var price: Int { Int(statement.data.integer(.priceMicros) ?? 0) }
        var quantity: Int { Int(statement.data.integer(.quantity) ?? 1) }
    }

    private struct Refund {
        var date: Instant
        var putBack: Instant?
        var amount: Int
        var currency: String?
    }

    package var figures: Figures {
        var figures: Figures = [:]
        func add(_ key: String, _ name: String, _ number: Int) {
            figures[key, default: [:]][name, default: 0] += number
        }
        for sale in sales(known: log) {
            if range.contains(sale.statement.time) {
                let key = sale.key(sale.statement.time, sale.currency)
                add(key, "purchases", 1)
                add(key, "units", sale.quantity)
                add(key, "gross", sale.price)
                if sale.statement.data.integer(.priceMicros) == nil { add(key, "unpriced", 1) }
            }
            for refund in sale.refunds {
                if range.contains(sale.statement.time), refund.putBack == nil {
                    let key = sale.key(sale.statement.time, refund.currency)
                    add(key, "refunds of purchases", 1)
                    add(key, "refunded of purchases", refund.amount)
                }
                if range.contains(refund.date) {
                    let key = sale.key(refund.date, refund.currency)
                    add(key, "refunds", 1)
                    add(key, "refunded", refund.amount)
                }
                if let putBack = refund.putBack, range.contains(putBack) {
                    let key = sale.key(putBack, refund.currency)
                    add(key, "reversals", 1)
                    add(key, "reversed", refund.amount)
                }
            }
        }
        for (key, names) in booked {
            for (name, number) in names { add(key, name, number) }
        }
        return figures.mapValues { $0.filter { $0.value != 0 } }.filter { !$0.value.isEmpty }
    }

    /// For each month what the sum of everything changed by through what was recorded in it.
    private var booked: Figures {
        var figures: Figures = [:]
        var before: Figures = [:]
        for (index, event) in log.enumerated() {
            let after = standing(Array(log[...index]))
            defer { before = after }
            guard range.contains(event.recordedAt) else { continue }
            let month = String(event.recordedAt.description.prefix(7))
            for key in Set(before.keys).union(after.keys) {
                for name in Set((before[key] ?? [:]).keys).union((after[key] ?? [:]).keys) {
                    let change = (after[key]?[name] ?? 0) - (before[key]?[name] ?? 0)
                    figures[month + key, default: [:]][name, default: 0] += change
                }
            }
        }
        return figures
    }

    /// All that stands when so much is known, whatever its date: by the key without its month.
    private func standing(_ known: [RecordedEvent]) -> Figures {
        var figures: Figures = [:]
        func add(_ key: String, _ name: String, _ number: Int) {
            figures[String(key.dropFirst(7)), default: [:]][name, default: 0] += number
        }
        for sale in sales(known: known) {
            let key = sale.key(sale.statement.time, sale.currency)
            add(key, "booked purchases", 1)
            add(key, "booked units", sale.quantity)
            add(key, "booked gross", sale.price)
            for refund in sale.refunds where refund.putBack == nil {
                let key = sale.key(sale.statement.time, refund.currency)
                add(key, "booked refunds", 1)
                add(key, "booked refunded", refund.amount)
            }
        }
        return figures
    }

    private func sales(known: [RecordedEvent]) -> [Sale] {
        SlowWorld(log: known, customer: "nobody", environment: environment).purchases.flatMap {
            purchase in
            purchase.periods.compactMap { period -> Sale? in
                // P1, P7; and what a family shares was paid for elsewhere.
                guard period.start <= at, purchase.isVerified(period, at: at),
                    period.statement.data.text(.ownership) != "family_shared"
                else { return nil }
                return Sale(
                    store: purchase.name.store,
                    statement: period.statement,
                    refunds: refunds(of: period, purchase)
                )
            }
        }
    }

    /// Walks through time: a refund opens one, more refunds restate it, a reversal puts it back.
    private func refunds(of period: SlowPeriod, _ purchase: SlowPurchase) -> [Refund] {
        let told = purchase.events.filter { event in
            switch event.kind {
            case .revocationRefunded: true
            case .revocationRevoked: event.data.integer(.priceMicros) != nil
            default: false
            }
        }
        .filter {
            $0.time <= at && purchase.transactionSpokenOf(by: $0) == period.transaction
        }
        let reversals = purchase.events.of(.revocationReversed).filter {
            let transaction = $0.data.text(.transactionID)
            return $0.time <= at && (transaction == nil || transaction == period.transaction)
        }
        var refunds: [Refund] = []
        var open: [RecordedEvent] = []
        for instant in Set((told + reversals).map(\.time)).sorted() {
            let isReversed = reversals.contains { $0.time == instant }
            if isReversed, !open.isEmpty {
                refunds.append(refund(open, period, putBack: instant))
                open = []
            }
            if !isReversed { open += told.filter { $0.time == instant } }
        }
        if !open.isEmpty { refunds.append(refund(open, period, putBack: nil)) }
        return refunds
    }

    private func refund(
        _ told: [RecordedEvent],
        _ period: SlowPeriod,
        putBack: Instant?
    ) -> Refund {
        let newest = told.newest
        let stated = newest?.data.integer(.priceMicros)
        let own = period.statement.data.text(.currencyCode)
        return Refund(
            date: told.map(\.time).min() ?? period.start,
            putBack: putBack,
            amount: Int(stated ?? period.statement.data.integer(.priceMicros) ?? 0),
            currency: stated == nil ? own : newest?.data.text(.currencyCode) ?? own
        )
    }
}
