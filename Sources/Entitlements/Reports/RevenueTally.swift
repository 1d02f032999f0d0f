/// Adds up the money of purchases, one after the other.
package struct RevenueTally: Sendable {
    /// The effective instant that is asked about (T).
    private let at: Instant
    /// Instants that count.
    private let range: Interval
    private(set) var lines: [Key: RevenueReport.Line] = [:]

    /// As `RevenueReport.Key`, in the numbers of one table of names.
    struct Key: Hashable {
        var day: CalendarDay
        var store: FactName
        var product: FactName
        var currency: FactName?
    }

    /// Makes an empty tally.
    ///
    /// - Parameters:
    ///   - at: T: what starts, is refunded or is reversed later does not count yet.
    ///   - range: what started, was refunded or reversed, or became known in it counts.
    package init(at: Instant, range: Interval) {
        self.at = at
        self.range = range
    }

    /// Adds a purchase, or several that a link ever joined (P13).
    ///
    /// `facts`: all that say something of their money and their names, ascending by sequence, of one
    /// table of names; transaction tags of names that became one compare.
    ///
    /// Cost: linear in the statements, but for transactions that are spoken of on many days, and
    /// for purchases with several names: these are read anew for each day.
    package mutating func add(_ facts: [MoneyFact]) {
        guard let first = facts.first else { return }
        let isLinked = facts.contains {
            $0.fact.kind == .purchaseLinked || $0.fact.subject != first.fact.subject
        }
        var books: [Entry: Booked] = [:]
        var single = PurchaseMoney()
        for (index, fact) in facts.enumerated() {
            single.add(fact)
            let booking = booking(fact)
            if index + 1 < facts.count, self.booking(facts[index + 1]) == booking { continue }
            let changes =
                isLinked
                ? changes(Array(facts[...index]), books) : changes(&single, fact.fact)
            for (entry, takings) in changes { book(takings, entry, &books, booking) }
        }
        for booked in books.values { add(booked.takings, booked.store) }
    }

    /// A transaction of a purchase.
    private struct Entry: Hashable {
        var purchase: UInt64
        var place: Int
    }

    /// What stands in the books of a transaction.
    private struct Booked: Hashable {
        var takings: Takings
        var store: FactName
    }

    /// Where something becomes known.
    private struct Booking: Equatable {
        var day: CalendarDay
        var counts: Bool
    }

    private func booking(_ fact: MoneyFact) -> Booking {
        Booking(
            day: CalendarDay(fact.recordedAt),
            counts: range.contains(fact.recordedAt)
        )
    }

    /// What may have changed of a purchase with one name.
    private func changes(_ money: inout PurchaseMoney, _ fact: Fact) -> [(Entry, Booked?)] {
        guard let store = fact.store else { return [] }
        return money.takeTouched().map { place in
            let takings = money.takings(of: place, at: at)
            return (
                Entry(purchase: fact.subject, place: place),
                takings.map { Booked(takings: $0, store: store) }
            )
        }
    }

    /// What stands, and what stood, of purchases that links join and part: read as they were known.
    private func changes(
        _ facts: [MoneyFact],
        _ books: [Entry: Booked]
    ) -> [(Entry, Booked?)] {
        let links = Links(facts.map(\.fact), of: .purchaseLinked)
        var changes = books.mapValues { _ in Booked?.none }
        for (purchase, own) in Dictionary(grouping: facts, by: { links.canonical($0.fact.subject) })
        {
            guard
                let store = own.first(where: { $0.fact.subject == purchase })?.fact.store
            else { continue }
            var money = PurchaseMoney()
            for fact in own { money.add(fact) }
            for place in money.transactions.indices {
                guard let takings = money.takings(of: place, at: at) else { continue }
                let booked = Booked(takings: takings, store: store)
                changes.updateValue(booked, forKey: Entry(purchase: purchase, place: place))
            }
        }
        return changes.map { ($0.key, $0.value) }
    }

    /// Books what changed: takes out what was booked of a transaction, and puts in what it is now.
    private mutating func book(
        _ booked: Booked?,
        _ entry: Entry,
        _ books: inout [Entry: Booked],
        _ booking: Booking
    ) {
        let old = books[entry]
        guard old != booked else { return }
        books[entry] = booked
        guard booking.counts else { return }
        if let old { enter(old.takings, old.store, booking.day, times: -1) }
        if let booked { enter(booked.takings, booked.store, booking.day, times: 1) }
    }

    private mutating func enter(
        _ takings: Takings,
        _ store: FactName,
        _ day: CalendarDay,
        times: Int
    ) {
        guard let product = takings.statement.fact.label else { return }
        let key = Key(
            day: day,
            store: store,
            product: product,
            currency: takings.statement.currency
        )
        lines[key, default: RevenueReport.Line()].bookedTaken.add(
            takings.statement.priceMicros ?? 0,
            units: takings.statement.quantity ?? 1,
            times: times
        )
        for refund in takings.refunds where refund.reversedAt == nil {
            var key = key
            key.currency = refund.currency
            lines[key, default: RevenueReport.Line()].bookedRefunded.add(
                refund.micros,
                times: times
            )
        }
    }

    /// Counts a transaction on its own dates.
    private mutating func add(_ takings: Takings, _ store: FactName) {
        let statement = takings.statement
        guard let product = statement.fact.label else { return }
        func key(_ instant: Instant, _ currency: FactName?) -> Key {
            Key(
                day: CalendarDay(instant),
                store: store,
                product: product,
                currency: currency
            )
        }
        func change(_ key: Key, _ body: (inout RevenueReport.Line) -> Void) {
            body(&lines[key, default: RevenueReport.Line()])
        }
        let isInRange = range.contains(statement.fact.time)
        if isInRange {
            change(key(statement.fact.time, statement.currency)) { line in
                line.taken.add(statement.priceMicros ?? 0, units: statement.quantity ?? 1)
                if statement.priceMicros == nil { line.unpriced += 1 }
            }
        }
        for refund in takings.refunds {
            if isInRange, refund.reversedAt == nil {
                change(key(statement.fact.time, refund.currency)) {
                    $0.refundedOfPurchases.add(refund.micros)
                }
            }
            if range.contains(refund.time) {
                change(key(refund.time, refund.currency)) { $0.refunded.add(refund.micros) }
            }
            if let reversedAt = refund.reversedAt, range.contains(reversedAt) {
                change(key(reversedAt, refund.currency)) { $0.reversed.add(refund.micros) }
            }
        }
    }

    /// The report, with the texts of the names.
    package func report(_ names: FactNames) -> RevenueReport {
        var report: [RevenueReport.Key: RevenueReport.Line] = [:]
        for (key, line) in lines where line != RevenueReport.Line() {
            report[key.named(names)] = line
        }
        return RevenueReport(lines: report)
    }
}

extension RevenueTally.Key {
    /// The key with the texts of its names.
    func named(_ names: FactNames) -> RevenueReport.Key {
        RevenueReport.Key(
            day: day,
            store: names[store],
            productID: names[product],
            currencyCode: currency.map { names[$0] }
        )
    }
}
