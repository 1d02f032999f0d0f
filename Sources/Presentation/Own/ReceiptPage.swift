package import Entitlements
package import LedgerAPI

/// A purchase with every charge, to print.
package struct ReceiptPage: Sendable {
    private let text: SoldText
    private let purchase: OwnedPurchase
    private let customer: CustomerID
    private let frame: PageFrame.Own

    /// Names whose receipt it is, and of what.
    package init(
        text: SoldText,
        purchase: OwnedPurchase,
        customer: CustomerID,
        frame: PageFrame.Own
    ) {
        self.text = text
        self.purchase = purchase
        self.customer = customer
        self.frame = frame
    }

    /// The page's title.
    package static func title(in language: Language) -> String {
        HistoryWords.receiptTitle[language]
    }

    /// Writes what stands under the title.
    package func write(to page: inout XMLText) {
        let language = text.language
        page.element("section", ["class": "card"]) { page in
            page.element("dl", ["class": "pairs"]) { page in
                let pairs = [
                    (
                        HistoryWords.product,
                        text.name(purchase.state.productID, of: purchase.state.purchase)
                    ),
                    (HistoryWords.purchase, purchase.state.purchase),
                    (AccountWords.id, customer.text),
                ]
                for (label, value) in pairs {
                    page.element("dt") { $0.write(label[language]) }
                    page.element("dd") { $0.write(value) }
                }
            }
        }
        for period in purchase.periods.reversed() {
            page.element("section", ["class": "card"]) { page in
                page.element("h2") { $0.write(text.instants.day(period.startsAt)) }
                page.element("dl", ["class": "pairs"]) { page in
                    let entry = HistoryEntry(
                        text: text,
                        purchase: purchase,
                        period: period,
                        frame: frame
                    )
                    for (label, value) in entry.pairs(HistoryWords.charge(period).name) {
                        page.element("dt") { $0.write(label[language]) }
                        page.element("dd") { $0.write(value) }
                    }
                }
            }
        }
        page.element("p", ["class": "quiet"]) { $0.write(HistoryWords.receiptNote[language]) }
        page.element("p") { page in
            page.element(
                "button",
                ["type": "button", "data-print": "", "data-script": "", "hidden": "hidden"]
            ) { $0.write(OwnWords.print[language]) }
            page.write(" ")
            page.element("a", ["class": "button", "href": frame.path("/history")]) {
                $0.write(OwnWords.history[language])
            }
        }
    }
}
