import Encodings

/// Money as it comes in and is given back, step by step (row 10.2).
extension RevenueReport {
    /// Adds the steps of a purchase, or of several that a link ever joined (P13): `facts` as
    /// `RevenueTally.add` takes them.
    ///
    /// Cost: in the statements of each transaction, and the links of the purchase that join something, times
    /// the transaction's instants, times the days on which either was told; where some name no transaction,
    /// in those of the whole purchase.
    package static func addSteps(
        of facts: [MoneyFact],
        _ names: FactNames,
        to table: inout StepTable
    ) {
        for facts in parts(facts) {
            var last: [RevenueTally.Key: Line] = [:]
            // Names are one at every T, whenever they became so.
            let told = facts.lazy.filter { $0.fact.kind != .purchaseLinked }
            for instant in Set(told.map(\.fact.time)).sorted() {
                var tally = RevenueTally(
                    at: instant,
                    range: Interval(start: Instant(milliseconds: .min), end: nil)
                )
                tally.add(facts)
                let lines = tally.lines
                for key in Set(last.keys).union(lines.keys) {
                    let (old, new) = (last[key] ?? Line(), lines[key] ?? Line())
                    guard old != new else { continue }
                    let named = key.named(names)
                    for (figure, (old, new)) in zip(old.figures, new.figures).enumerated()
                    where old != new {
                        table.add(
                            new - old,
                            to: ReportCell(
                                UInt8(figure),
                                named.store,
                                named.productID,
                                named.currencyCode
                            ),
                            from: instant,
                            day: key.day
                        )
                    }
                }
                last = lines
            }
        }
    }

    /// Statements that say nothing of each other's money: a transaction's are alone with the links if all name
    /// one.
    private static func parts(_ facts: [MoneyFact]) -> [[MoneyFact]] {
        var names = Links()
        // Those that say again what stands change nothing: stores tell them with each answer.
        let links = facts.filter { $0.fact.kind == .purchaseLinked && names.add($0.fact) }
        let told = facts.filter { $0.fact.kind != .purchaseLinked }
        if told.contains(where: { $0.fact.transaction == nil }) { return [facts] }
        return Dictionary(grouping: told) { $0.fact.transaction }.values.map { own in
            links.isEmpty ? own : (links + own).sorted { $0.fact.sequence < $1.fact.sequence }
        }
    }

    /// The report by months that sums of steps give; each key's day is the month's first.
    package init(_ sums: [CalendarDay: CellSums]) {
        var figures: [Key: [Int128]] = [:]
        for (month, sums) in sums {
            for (cell, sum) in sums where cell.figure < Line.figureCount {
                let key = Key(
                    day: month,
                    store: cell.first?.text ?? "",
                    productID: cell.second?.text ?? "",
                    currencyCode: cell.third?.text
                )
                let none = [Int128](repeating: 0, count: Line.figureCount)
                figures[key, default: none][Int(cell.figure)] += sum
            }
        }
        self.init(lines: figures.mapValues { Line($0) }.filter { $0.value != Line() })
    }
}

extension RevenueReport.Line {
    fileprivate static let figureCount = 19

    private static let amounts: [any WritableKeyPath<Self, RevenueReport.Amount> & Sendable] = [
        \.taken, \.refundedOfPurchases, \.refunded, \.reversed, \.bookedTaken, \.bookedRefunded,
    ]

    /// The figures in the order of their numbers.
    fileprivate var figures: [Int128] {
        [Int128(unpriced)]
            + Self.amounts.map { self[keyPath: $0] }.flatMap {
                [Int128($0.count), Int128($0.units), $0.micros]
            }
    }

    /// The line of such figures.
    fileprivate init(_ figures: [Int128]) {
        unpriced = Int(clamping: figures[0])
        for (number, amount) in Self.amounts.enumerated() {
            let first = 1 + 3 * number
            self[keyPath: amount].count = Int(clamping: figures[first])
            self[keyPath: amount].units = Int64(clamping: figures[first + 1])
            self[keyPath: amount].micros = figures[first + 2]
        }
    }
}
