import Entitlements
package import LedgerAPI

/// What a customer bought, for themselves (rows 6.1, 7.1, 7.2): what is open, every charge by month, and
/// where purchases are managed, restored and given back.
package struct HistoryPage: Sendable {
    /// How things are written.
    package var text: SoldText
    /// What the customer has now.
    package var state: StateContent
    /// What the customer bought.
    package var purchases: [OwnedPurchase]
    /// What came of asking the stores a moment ago; nil: they were not asked.
    package var restored: Restored?
    /// What a form sends back; nil: no session made the page, and there are no forms.
    package var formToken: String?
    /// Where the customer's other pages are.
    package var frame: PageFrame.Own
    /// Google Play's name of the app; nil: unknown.
    package var packageName: String?

    /// What came of a restore.
    package enum Restored: String, CaseIterable, Sendable {
        /// Something was missing here, and is there now.
        case found
        /// Everything was known.
        case known
        /// The stores know of no purchase (row 6.4).
        case nothing
        /// A store did not answer (row 6.6).
        case failed
        /// No store can be asked from here.
        case unavailable
    }

    /// Names what the page shows.
    package init(
        text: SoldText,
        state: StateContent,
        purchases: [OwnedPurchase],
        restored: Restored?,
        formToken: String?,
        frame: PageFrame.Own,
        packageName: String?
    ) {
        self.text = text
        self.state = state
        self.purchases = purchases
        self.restored = restored
        self.formToken = formToken
        self.frame = frame
        self.packageName = packageName
    }

    private var language: Language { text.language }

    /// Writes what stands under the title.
    package func write(to page: inout XMLText) {
        if let restored { writeRestored(restored, to: &page) }
        OpenAccess(text: text, state: state).write(to: &page)
        writeCurrent(to: &page)
        writeMonths(to: &page)
        writeRestore(to: &page)
        AppOverlay(language: language).write(to: &page)
    }

    // MARK: What runs

    private func writeCurrent(to page: inout XMLText) {
        let current = purchases.filter { $0.state.isCurrent }
        guard !current.isEmpty else { return }
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(HistoryWords.running[language]) }
            page.element("ul", ["class": "listed"]) { page in
                for purchase in current {
                    page.element("li", ["class": "running"]) { writeCurrent(purchase, to: &$0) }
                }
            }
        }
    }

    private func writeCurrent(_ purchase: OwnedPurchase, to page: inout XMLText) {
        let state = purchase.state
        let (name, shape) = OwnWords.status(state.status, offer: purchase.periods.last?.offer)
        page.element("p") { page in
            page.element("strong") { $0.write(text.name(state.productID, of: state.purchase)) }
            page.write(" ")
            page.element("span", ["class": "chip " + shape]) { $0.write(name[language]) }
        }
        for line in HistoryLines(text).lines(of: purchase) {
            page.element("p") { $0.write(line) }
        }
        page.element("p", ["class": "inline"]) { page in
            for link in StoreLinks(purchase, packageName: packageName).links {
                page.element("a", ["class": "button", "href": link.url, "rel": "noreferrer"]) {
                    $0.write(link.name[language])
                }
            }
        }
    }

    // MARK: What was

    private func writeMonths(to page: inout XMLText) {
        page.element("section") { page in
            page.element("h2") { $0.write(HistoryWords.charges[language]) }
            let entries = purchases.flatMap { purchase in
                purchase.periods.map { (purchase: purchase, period: $0) }
            }
            .sorted { $0.period.startsAt > $1.period.startsAt }
            if entries.isEmpty { page.element("p") { $0.write(HistoryWords.none[language]) } }
            var rest = entries[...]
            while let first = rest.first {
                let month = text.instants.month(first.period.startsAt)
                let same = rest.prefix { text.instants.month($0.period.startsAt) == month }
                rest = rest.dropFirst(same.count)
                page.element("h3") { $0.write(month) }
                page.element("ul", ["class": "card charges"]) { page in
                    for entry in same {
                        page.element("li") {
                            HistoryEntry(
                                text: text,
                                purchase: entry.purchase,
                                period: entry.period,
                                frame: frame
                            )
                            .write(to: &$0)
                        }
                    }
                }
            }
        }
    }

    // MARK: Restore

    private func writeRestore(to page: inout XMLText) {
        guard let formToken else { return }
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(OwnWords.restore[language]) }
            page.element("p") { $0.write(HistoryWords.whyRestore[language]) }
            page.element(
                "form",
                [
                    "method": "post", "action": frame.path("/history/restore"),
                    "data-busy": OwnWords.working[language], "data-bridge": "restore",
                ]
            ) { page in
                page.formToken(formToken)
                page.element("button", ["class": "primary"]) {
                    $0.write(
                        (restored == .failed ? OwnWords.again : OwnWords.restore)[language]
                    )
                }
            }
        }
    }

    private func writeRestored(_ restored: Restored, to page: inout XMLText) {
        let isGood = restored == .found || restored == .known
        page.element(
            "p",
            ["class": "card answer " + (isGood ? "ok" : "warn"), "role": "status"]
        ) { $0.write(HistoryWords.restored(restored)[language]) }
    }
}

extension PurchaseState {
    /// Whether it is not over: it gives something, or would with a payment.
    var isCurrent: Bool {
        switch status {
        case .active, .grace, .billingRetry, .paused, .pending: true
        case .none, .refunded, .revoked, .unverified, .expired: false
        }
    }
}
