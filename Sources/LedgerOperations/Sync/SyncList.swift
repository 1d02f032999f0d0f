package import Entitlements

/// Purchases that somebody lists to be asked about, such as a store's console exports.
package enum SyncList {
    /// The purchase that a line names; nil: none.
    ///
    /// A line is `STORE/ORIGINAL_ID`, a transaction id of the App Store, a purchase token or an order of
    /// Google Play, or has one of these in a cell between commas. A name with U+FFFD in it is none.
    package static func purchase(inLine line: String) -> PurchaseName? {
        let cells = line.split(separator: ",").map { String($0.trimmed(of: " \t\r\"")) }
        for cell in cells where PlayFetch.isOrder(cell) || isTransaction(cell) {
            return purchase(named: cell)
        }
        return cells.count == 1 ? purchase(named: cells[0]) : nil
    }

    private static func purchase(named name: String) -> PurchaseName? {
        // What is not UTF-8 was read so: the store would be asked about another purchase.
        guard !name.unicodeScalars.contains("\u{FFFD}") else { return nil }
        if isTransaction(name) { return PurchaseName(store: Source.appStore, originalID: name) }
        if let purchase = PurchaseName(name),
            [Source.appStore, Source.playStore].contains(purchase.store)
        {
            return purchase
        }
        guard Identifier.isValid(name), !name.contains(" ") else { return nil }
        return PurchaseName(store: Source.playStore, originalID: name)
    }

    /// Digits, as many as the App Store's ids have at least.
    private static func isTransaction(_ text: String) -> Bool {
        text.utf8.count >= 9 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

extension Substring {
    /// Without such characters at either end.
    fileprivate func trimmed(of characters: String) -> Substring {
        var rest = drop { characters.contains($0) }
        while let last = rest.last, characters.contains(last) { rest.removeLast() }
        return rest
    }
}
