import Encodings
import Entitlements
package import LedgerAPI

/// What is sold where a gate is closed, or at large (rows 4.4, 5.1 to 5.6, B7): plans as cards, the one that is
/// chosen with its details, what is charged, and a button that asks the app to sell it.
///
/// No script is needed: each plan has a link of its own, and the stylesheet shows that of the chosen one. The
/// ledger takes no money.
package struct PaywallPage: Sendable {
    /// How things are written.
    package var text: SoldText
    /// What is sold.
    package var offering: OfferingAnswer
    /// What the customer has now.
    package var state: StateContent
    /// Products of the catalog that the customer owns now.
    package var owned: [String]
    /// Whose prices are shown; nil: of the first store that says one.
    package var store: String?
    /// Whether the customer never subscribed: what comes first is for them alone.
    package var isNew: Bool
    /// Where texts of the app's maker are.
    package var links: Links
    /// Where the customer's other pages are.
    package var frame: PageFrame.Own

    /// Addresses of texts of the app's maker; nil: none was configured.
    package struct Links: Sendable {
        /// The terms of use.
        package var terms: String?
        /// What becomes of people's data.
        package var privacy: String?
        /// Who answers questions.
        package var support: String?

        /// None.
        package init() {}
    }

    /// Names what the page shows.
    package init(
        text: SoldText,
        offering: OfferingAnswer,
        state: StateContent,
        owned: [String],
        store: String?,
        isNew: Bool,
        links: Links,
        frame: PageFrame.Own
    ) {
        self.text = text
        self.offering = offering
        self.state = state
        self.owned = owned
        self.store = store
        self.isNew = isNew
        self.links = links
        self.frame = frame
    }

    private var language: Language { text.language }
    private var sentences: PaywallSentences { PaywallSentences(text: text) }

    /// What the customer does not have yet.
    private var plans: [PaywallPlan] {
        if let feature = offering.feature, isOpen(feature) { return [] }
        return offering.products
            // What can be bought again is there still.
            .filter { $0.kind == .consumable || !owned.holds($0.id) }
            .map { PaywallPlan($0, in: store, isNew: isNew) }
    }

    private func isOpen(_ feature: String) -> Bool {
        state.features.contains { $0.name.isSame(as: feature) && $0.value.isAllowed }
    }

    /// Writes what stands under the title.
    package func write(to page: inout XMLText) {
        let plans = plans
        page.element(
            "a",
            ["class": "close button", "href": "entitle://close", "data-bridge": "close"]
        ) { page in
            page.element("span", ["aria-hidden": "true"]) { $0.write("✕") }
            page.element("span", ["class": "hidden"]) { $0.write(OwnWords.close[language]) }
        }
        let hasSome = offering.feature.map(isOpen) ?? !owned.isEmpty
        if hasSome { OpenAccess(text: text, state: state).write(to: &page) }
        if plans.isEmpty, !hasSome {
            page.element("p") { $0.write(PaywallWords.nothing[language]) }
        }
        if !plans.isEmpty {
            writeBenefits(plans, to: &page)
            writePlans(plans, to: &page)
        }
        writeSmallPrint(to: &page)
        AppOverlay(language: language).write(to: &page)
    }

    private func writeBenefits(_ plans: [PaywallPlan], to page: inout XMLText) {
        var features = offering.feature.map { [$0] } ?? []
        for feature in plans.flatMap(\.product.features)
        where !features.holds(feature) && !isOpen(feature) {
            features.append(feature)
        }
        guard !features.isEmpty else { return }
        page.element("ul", ["class": "benefits", "aria-label": PaywallWords.opens[language]]) {
            page in
            for feature in features.prefix(Self.benefitLimit) {
                page.element("li") { $0.write(Self.words(feature)) }
            }
        }
    }

    /// Lines of what is opened; more are not read.
    private static let benefitLimit = 6

    /// A feature's id as words.
    private static func words(_ id: String) -> String {
        String(id.map { $0 == "_" || $0 == "-" ? " " : $0 })
    }

    // MARK: Plans

    private func writePlans(_ plans: [PaywallPlan], to page: inout XMLText) {
        page.element("fieldset", ["class": "plans"]) { page in
            page.element("legend", ["class": "hidden"]) { $0.write(PaywallWords.plans[language]) }
            page.element("div", ["class": "cards"]) { page in
                for (place, plan) in plans.enumerated() {
                    page.element("div", ["class": "plan"]) { page in
                        writeCard(plan, place, among: plans, to: &page)
                        writeChoice(plan, place, to: &page)
                    }
                }
            }
        }
    }

    private func writeCard(
        _ plan: PaywallPlan,
        _ place: Int,
        among plans: [PaywallPlan],
        to page: inout XMLText
    ) {
        page.element("label", ["class": "card choosable", "for": "plan-\(place)"]) { page in
            writeRadio(plan, place, to: &page)
            page.element("span", ["class": "name"]) { page in
                page.write(plan.name)
                if let kind = sentences.kind(plan) {
                    page.element("span", ["class": "quiet"]) { $0.write(" " + kind) }
                }
            }
            let price = sentences.price(plan)
            page.element("span", ["class": price == nil ? "quiet" : "price"]) {
                $0.write(price ?? PaywallWords.storeShowsPrice[language])
            }
            if let perMonth = sentences.perMonth(plan) {
                page.element("span", ["class": "quiet"]) { $0.write(perMonth) }
            }
            if let age = sentences.age(plan) {
                page.element("span", ["class": "quiet"]) { $0.write(age) }
            }
            if let percent = plan.saving(among: plans) {
                page.element("span", ["class": "badge"]) {
                    $0.write(PaywallWords.save.filled(language) { _ in String(percent) })
                }
            }
            if let trial = sentences.trial(plan) {
                page.element("span", ["class": "chip trial"]) { $0.write(trial) }
            }
        }
    }

    private func writeRadio(_ plan: PaywallPlan, _ place: Int, to page: inout XMLText) {
        let id = "plan-\(place)"
        // The first is what the catalog puts first.
        if place == 0 {
            page.element(
                "input",
                [
                    "type": "radio", "name": "plan", "id": id, "value": plan.product.id,
                    "checked": "checked",
                ]
            )
        } else {
            page.element(
                "input",
                ["type": "radio", "name": "plan", "id": id, "value": plan.product.id]
            )
        }
    }

    /// What stands below once the card is chosen (row 5.3), with the button (row 5.4).
    private func writeChoice(_ plan: PaywallPlan, _ place: Int, to page: inout XMLText) {
        page.element("div", ["class": "choice"]) { page in
            if let description = plan.description {
                page.element("p") { $0.write(description) }
            }
            if !plan.product.features.isEmpty {
                page.element("p", ["class": "quiet"]) { page in
                    page.write(PaywallWords.opens[language] + ": ")
                    page.write(plan.product.features.map(Self.words).joined(separator: " · "))
                }
            }
            page.element("p", ["class": "action"]) { page in
                // With a script a dialog asks first (row 2.1); without one the store does.
                page.element(
                    "a",
                    [
                        "class": "button primary", "href": address(plan),
                        "data-dialog": "confirm-\(place)",
                    ]
                ) { $0.write(sentences.action(plan)) }
            }
            page.element("p", ["class": "exact"]) { $0.write(sentences.charge(plan)) }
            if plan.isSubscription {
                page.element("p", ["class": "quiet"]) {
                    $0.write(PaywallWords.cancelAnytime[language])
                }
            }
        }
        writeConfirmation(plan, place, to: &page)
    }

    private func writeConfirmation(_ plan: PaywallPlan, _ place: Int, to page: inout XMLText) {
        page.element(
            "dialog",
            ["id": "confirm-\(place)", "aria-labelledby": "confirm-title-\(place)"]
        ) { page in
            page.element("h2", ["id": "confirm-title-\(place)"]) { page in
                page.write(PaywallWords.confirm.filled(language) { _ in plan.name })
            }
            page.element("p") { $0.write(sentences.charge(plan)) }
            page.element("p", ["class": "inline"]) { page in
                page.element(
                    "a",
                    [
                        "class": "button primary", "href": address(plan),
                        "data-bridge": "purchase", "data-product": plan.product.id,
                        "data-store": plan.metadata?.store ?? "",
                        "data-store-product": plan.metadata?.storeProductID ?? "",
                    ]
                ) { $0.write(sentences.action(plan)) }
                page.element("button", ["type": "button", "data-close": ""]) {
                    $0.write(PaywallWords.cancel[language])
                }
            }
        }
    }

    private func address(_ plan: PaywallPlan) -> String {
        "entitle://purchase?product=" + plan.product.id.pathSegment
            + (plan.metadata.map { "&storeProduct=" + $0.storeProductID.pathSegment } ?? "")
    }

    // MARK: Below

    private func writeSmallPrint(to page: inout XMLText) {
        page.element("p", ["class": "small"]) { page in
            page.element("a", ["href": "entitle://restore", "data-bridge": "restore"]) {
                $0.write(OwnWords.restore[language])
            }
            let links = [
                (PaywallWords.terms, self.links.terms), (PaywallWords.privacy, self.links.privacy),
                (OwnWords.support, self.links.support),
            ]
            for (name, url) in links {
                guard let url else { continue }
                page.element("a", ["href": url, "rel": "noreferrer"]) { $0.write(name[language]) }
            }
            page.element("a", ["href": frame.path("/account")]) {
                $0.write(OwnWords.account[language])
            }
        }
    }
}
