import Encodings
import Entitlements
import LedgerAPI

extension CustomerPage {
    /// What the customer owns, was given, tried, and is called.
    func writeBelongings(to page: inout XMLText) {
        writePurchases(to: &page)
        list(CustomerWords.grants, state.state.grants, to: &page) { grant, page in
            page.element("code") { $0.write(grant.grantID) }
            let given = [grant.tier].compactMap(\.self) + grant.features
            page.write(" · " + given.joined(separator: ", "))
            writeEnd(grant.expiresAt, to: &page)
            if !grant.isActive { page.write(" · " + CustomerWords.over[language]) }
        }
        list(CustomerWords.trials, state.state.trials, to: &page) { trial, page in
            page.element("code") { $0.write(trial.trialID) }
            let days = CustomerWords.daysLeft.counting(
                trial.remainingDays,
                one: CustomerWords.oneDayLeft,
                in: language
            )
            page.write(" · " + days)
        }
        list(CustomerWords.ids, ids, to: &page) { id, page in
            page.element("code") { $0.write(id) }
        }
    }

    private func writePurchases(to page: inout XMLText) {
        list(CustomerWords.purchases, state.state.purchases, to: &page) { purchase, page in
            page.chip(Standing(purchase.status), language)
            page.write(" ")
            page.element("code") { $0.write(purchase.purchase) }
            if let product = purchase.productID { page.write(" · " + product) }
            writeEnd(purchase.expiresAt, to: &page)
            switch purchase.willRenew {
            case true?: page.write(" · " + CustomerWords.renews[language])
            case false?: page.write(" · " + CustomerWords.ends[language])
            case nil: break
            }
            if purchase.isVerified { page.write(" · ✓ " + CustomerWords.verified[language]) }
            if let syncedAt = purchase.syncedAt {
                page.write(" · " + CustomerWords.asked[language] + " ")
                page.time(syncedAt, language)
            }
        }
    }

    private func writeEnd(_ end: Instant?, to page: inout XMLText) {
        guard let end else { return }
        page.write(" · " + CustomerWords.until[language] + " ")
        page.time(end, language)
    }

    /// Every id of the customer of which the timeline tells, the one that was asked for first.
    private var ids: [String] {
        var met: Set<Name> = []
        var ids: [String] = []
        func add(_ id: String?) {
            if let id, met.insert(Name(id)).inserted { ids.append(id) }
        }
        add(timeline.question.customer)
        for event in timeline.events {
            if case .customer(let id)? = Subject(event.subject) { add(id.text) }
            if event.type == EventKind.customerLinked.name { add(event.data["alias"]?.string) }
        }
        return ids
    }

    private func list<Item>(
        _ title: Sentence,
        _ items: [Item],
        to page: inout XMLText,
        _ write: (Item, inout XMLText) -> Void
    ) {
        guard !items.isEmpty else { return }
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(title[language]) }
            page.element("ul", ["class": "plain"]) { page in
                for item in items { page.element("li") { write(item, &$0) } }
            }
        }
    }
}
