import Entitlements
package import LedgerAPI

extension ProductsAnswer {
    /// What stores say of what they sell, for people: who told when, then a line for each product.
    package var textLines: [String] {
        let rows = products.map(\.cells)
        let heading = ["PRODUCT", "NAME", "PRICE", "PERIOD", "KIND", "OPENS"]
        let table = rows.isEmpty ? [] : [""] + TextTable.lines([heading] + rows)
        let shown = offerings.map { offering in
            "offering \(offering.id)" + (offering.isCurrent ? " (current): " : ": ")
                + offering.packages.map(\.id).joined(separator: ", ")
        }
        let rest = untold.isEmpty ? [] : ["no store told of: " + untold.joined(separator: ", ")]
        let below = shown + rest
        return sources.flatMap(\.textLines) + table + (below.isEmpty ? [] : [""] + below)
    }
}

extension ProductsAnswer.Product {
    fileprivate var cells: [String] {
        let id = metadata.storeProductID + (metadata.plan.map { ":" + $0 } ?? "")
        let opens = features.isEmpty ? tier ?? "-" : features.joined(separator: " ")
        return [
            metadata.store + "/" + id, metadata.name ?? "-",
            metadata.price?.text ?? "-", metadata.period ?? "-",
            metadata.kind?.name ?? "-", productID == nil ? "not in the catalog" : opens,
        ]
    }
}

extension ProductsAnswer.Source {
    fileprivate var textLines: [String] {
        let name = source.rawValue
        var lines: [String] = []
        if isDamaged {
            lines.append("\(name): what was kept is damaged and does not count; load it again")
        } else if let loadedAt, let ageSeconds {
            lines.append(
                "\(name): \(products) products, loaded \(Self.age(ageSeconds)) ago (\(loadedAt))"
                    + (passedOver == 0 ? "" : "; \(passedOver) entries are not for sale")
            )
        } else {
            lines.append("\(name): nothing was loaded")
        }
        if let fault {
            lines.append(
                "  the load at \(fault.at) failed: \(fault.detail) (\(fault.code.rawValue))"
            )
        }
        return lines
    }

    /// An age in its largest unit, rounded down.
    private static func age(_ seconds: Int64) -> String {
        let units: [(size: Int64, name: String)] = [
            (86_400, "day"), (3600, "hour"), (60, "minute"),
        ]
        let unit = units.first { seconds >= $0.size } ?? (1, "second")
        let count = seconds / unit.size
        return "\(count) \(unit.name)" + (count == 1 ? "" : "s")
    }
}
