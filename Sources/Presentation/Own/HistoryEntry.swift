import Entitlements
import LedgerAPI

/// One charge in a customer's history, with its details (row 7.2).
struct HistoryEntry {
    let text: SoldText
    let purchase: OwnedPurchase
    let period: PurchasePeriod
    let frame: PageFrame.Own

    private var language: Language { text.language }
    private var name: String { text.name(period.productID, of: purchase.state.purchase) }

    func write(to page: inout XMLText) {
        let (state, shape) = HistoryWords.charge(period)
        page.element("div", ["class": "charge"]) { page in
            page.element("span", ["class": "what"]) { $0.write(name) }
            page.element("span", ["class": "amount"]) { $0.write(text.charged(period) ?? "–") }
            page.element("span", ["class": "quiet"]) {
                $0.write(text.instants.day(period.startsAt))
            }
            page.element("span", ["class": "chip " + shape]) { $0.write(state[language]) }
        }
        page.element("details", ["class": "detail", "data-close-label": OwnWords.close[language]]) {
            page in
            page.element("summary") { page in
                page.write(HistoryWords.details[language])
                page.element("span", ["class": "hidden"]) {
                    $0.write(" " + name + ", " + text.instants.day(period.startsAt))
                }
            }
            page.element("div") { writeDetails(state, to: &$0) }
        }
    }

    private func writeDetails(_ state: Sentence, to page: inout XMLText) {
        page.element("dl", ["class": "pairs"]) { page in
            for (label, value) in pairs(state) {
                page.element("dt") { $0.write(label[language]) }
                page.element("dd") { $0.write(value) }
            }
        }
        page.element("p") { page in
            let path = frame.path("/history/receipts", naming: purchase.state.purchase)
            page.element("a", ["href": path]) {
                $0.write(HistoryWords.receipt[language])
            }
        }
    }

    /// What is known of the charge, each with its label.
    func pairs(_ state: Sentence) -> [(label: Sentence, value: String)] {
        var pairs: [(Sentence, String?)] = [
            (HistoryWords.product, name), (HistoryWords.state, state[language]),
            (HistoryWords.amount, text.charged(period)),
            (HistoryWords.bought, text.instants(period.startsAt)),
            (HistoryWords.until, period.expiresAt.map { text.instants($0) }),
            (HistoryWords.store, OwnWords.store(purchase.state.purchase)),
            (HistoryWords.transaction, period.transactionID),
        ]
        if let quantity = period.quantity, quantity != 1 {
            pairs.append((HistoryWords.quantity, String(quantity)))
        }
        if let revocation = period.revocation {
            pairs.append((HistoryWords.takenBack, text.instants(revocation.at)))
            if let micros = revocation.priceMicros, let currency = revocation.currencyCode {
                pairs.append((HistoryWords.givenBack, text.amount(micros, currency)))
            }
        }
        return pairs.compactMap { label, value in value.map { (label, $0) } }
    }
}
