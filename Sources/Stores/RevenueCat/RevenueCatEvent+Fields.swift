import Encodings
import Entitlements

extension RevenueCatEvent: PayloadFields {
    /// An instant in milliseconds; nil if absent.
    ///
    /// - Throws: `InputFault` for another shape and outside 2000 to 2200.
    func instant(_ name: String) throws(InputFault) -> Instant? {
        switch try end(name) {
        case .unstated: nil
        case .never: throw InputFault(unusable: "\(name) is not within 2000 to 2200")
        case .at(let instant): instant
        }
    }

    /// An end in milliseconds, where after 2200 means never.
    ///
    /// - Throws: `InputFault` for another shape and before 2000.
    func end(_ name: String) throws(InputFault) -> StatedEnd {
        guard let value = self[name] else { return .unstated }
        guard case .number(let text) = value,
            let milliseconds = ExactDecimal(jsonNumber: text).integer
        else { throw InputFault(unusable: "\(name) is not a count of milliseconds") }
        guard let end = StatedEnd(Instant(milliseconds: milliseconds)) else {
            throw InputFault(unusable: "\(name) is not within 2000 to 2200")
        }
        return end
    }
}

extension RevenueCatEvent {
    /// `SANDBOX` and `PRODUCTION`; production where nothing is said; nil for any other word.
    ///
    /// Virtual currency says it as `purchase_environment`.
    var environment: StoreEnvironment? {
        guard let value = self["environment"] ?? self["purchase_environment"] else {
            return .production
        }
        return switch value.string {
        case "PRODUCTION": .production
        case "SANDBOX": .sandbox
        default: nil
        }
    }

    /// What names the purchase for life; the transaction's own id where no original one is given.
    var purchase: PurchaseName? {
        guard let store,
            let id = identifier("original_transaction_id") ?? identifier("transaction_id")
        else { return nil }
        return PurchaseName(store: store, originalID: id)
    }

    /// Who bought, as last seen.
    var customer: CustomerID? { self["app_user_id"]?.string.flatMap { CustomerID($0) } }

    /// Whether the event comes from a paywall, whose author names its types freely: such an
    /// event may be called `TRANSFER` and is none.
    var isFromPaywall: Bool { self["paywall_id"] != nil || self["session_id"] != nil }
}
