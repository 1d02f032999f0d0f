import Encodings
import Entitlements
import LedgerAPI

/// What is to come of a purchase that runs, in sentences.
struct HistoryLines {
    private let text: SoldText

    init(_ text: SoldText) { self.text = text }

    func lines(of purchase: OwnedPurchase) -> [String] {
        let state = purchase.state
        var lines: [Sentence] = []
        // A period that is paid for goes on until its grace ends; one that is not is over.
        let last = state.status == .grace ? purchase.periods.last?.graceUntil : state.expiresAt
        let end = state.status == .billingRetry ? nil : last.map { text.instants.day($0) }
        switch state.status {
        case .grace, .billingRetry: lines.append(HistoryWords.billing(end != nil))
        // A pause begins where what was paid ends.
        case .paused: break
        default: if end != nil { lines.append(HistoryWords.activeUntil) }
        }
        if state.willRenew == false, end != nil { lines.append(HistoryWords.willNotRenew) }
        let charge = state.willRenew == true ? nextCharge(purchase) : nil
        if state.willRenew == true, end != nil, state.status == .active {
            lines.append(charge == nil ? HistoryWords.nextDate : HistoryWords.nextCharge)
        }
        return lines.map { sentence in
            sentence.filled(text.language) { place in
                switch place {
                case "date": end
                case "amount": charge
                default: nil
                }
            }
        }
    }

    /// What the next period costs: as the last one was charged, where that was no offer and nothing else is
    /// to follow; nil: its store shows it, and nobody here invents it.
    private func nextCharge(_ purchase: OwnedPurchase) -> String? {
        guard let period = purchase.periods.last, period.offer == nil,
            purchase.state.nextProductID.map({ $0 == period.productID }) ?? true
        else { return nil }
        return text.charged(period)
    }
}

/// Where a store lets a purchase be managed and given back.
struct StoreLinks {
    typealias Link = (name: Sentence, url: String)

    let links: [Link]

    init(_ purchase: OwnedPurchase, packageName: String?) {
        let refund: Link
        var manage: Link
        switch purchase.state.purchase.prefix(while: { $0 != "/" }) {
        case "app_store", "mac_app_store":
            manage = (OwnWords.manage, Self.apple)
            refund = (OwnWords.requestRefund, Self.appleRefunds)
        case "play_store":
            manage = (OwnWords.manage, Self.google)
            if let product = purchase.state.productID, let packageName {
                manage.url += "?sku=" + product.pathSegment + "&package=" + packageName.pathSegment
            }
            refund = (OwnWords.requestRefund, Self.googleRefunds)
        default:
            links = []
            return
        }
        links = purchase.state.productKind == .autoRenewable ? [manage, refund] : [refund]
    }

    private static let apple = "https://apps.apple.com/account/subscriptions"
    private static let appleRefunds = "https://reportaproblem.apple.com"
    private static let google = "https://play.google.com/store/account/subscriptions"
    private static let googleRefunds = "https://play.google.com/store/account/orderhistory"
}
