import Encodings

/// Customers as they come to stand, step by step (K7, P9, C1).
extension CustomerReport {
    private enum Figure {
        static let tier: UInt8 = 0
        static let purchases: UInt8 = 1
        static let owners: UInt8 = 2
        static let ownersOfStatus: UInt8 = 3
    }

    /// Adds a customer's steps.
    ///
    /// Cost: a look at the customer for each instant at which something of theirs changes.
    package static func addSteps(of timeline: CustomerTimeline, to table: inout StepTable) {
        var reader = GateReader(timeline)
        var last: Standing?
        let start = Instant(milliseconds: .min)
        for instant in Set(timeline.changeInstants + [start]).sorted() {
            let standing = Standing(timeline, &reader, at: instant)
            guard standing != last else { continue }
            if let last { add(last, -1, from: instant, to: &table) }
            add(standing, 1, from: instant, to: &table)
            last = standing
        }
    }

    private static func add(
        _ standing: Standing,
        _ amount: Int128,
        from instant: Instant,
        to table: inout StepTable
    ) {
        func add(_ cell: ReportCell) { table.add(amount, to: cell, from: instant) }
        add(ReportCell(Figure.tier, standing.tier))
        for product in standing.owned { add(cell(Figure.purchases, product)) }
        for product in Set(standing.owned) { add(cell(Figure.owners, product)) }
        for status in Set(standing.owned.map(\.status)) {
            add(ReportCell(Figure.ownersOfStatus, status.rawValue))
        }
    }

    private static func cell(_ figure: UInt8, _ product: Product) -> ReportCell {
        ReportCell(figure, product.status.rawValue, product.store, product.productID)
    }

    /// The report that sums of steps give.
    package init(_ sums: CellSums) {
        var tiers: [Name: Int] = [:]
        var statuses: [PurchaseStatus: Owned] = [:]
        var products: [Product: Owned] = [:]
        for (cell, sum) in sums {
            guard let name = cell.first else { continue }
            let count = Int(clamping: sum)
            if cell.figure == Figure.tier { tiers[name] = count }
            guard let status = PurchaseStatus(rawValue: name.text) else { continue }
            let product = Product(
                store: cell.second?.text,
                productID: cell.third?.text,
                status: status
            )
            switch cell.figure {
            case Figure.purchases:
                products[product, default: Owned()].purchases += count
                statuses[status, default: Owned()].purchases += count
            case Figure.owners: products[product, default: Owned()].customers += count
            case Figure.ownersOfStatus: statuses[status, default: Owned()].customers += count
            default: break
            }
        }
        self.init(
            tiers: tiers.filter { $0.value != 0 },
            statuses: statuses.filter { $0.value != Owned() },
            products: products.filter { $0.value != Owned() }
        )
    }
}
