import Encodings
import Entitlements

/// Who tells of a step.
package enum ScenarioStore: String, CaseIterable, Sendable {
    case appStore = "app_store"
    case playStore = "play_store"
    /// RevenueCat, of a purchase on the App Store.
    case revenueCat = "revenuecat"

    /// What `store` says; nil: nothing.
    init?(_ reader: ObjectReader) throws(InputFault) {
        let names = Self.allCases.map(\.rawValue).joined(separator: ", ")
        let store = try reader.optional("store", "expected one of " + names) {
            $0.string.flatMap { ScenarioStore(rawValue: $0) }
        }
        guard let store else { return nil }
        self = store
    }

    /// What can happen there.
    var actions: Set<ScenarioStep.Action> {
        switch self {
        case .appStore:
            [
                .buy, .resubscribe, .renew, .fail, .endGrace, .expire, .cancel, .uncancel,
                .upgrade, .downgrade, .extend, .refund, .reverseRefund, .leaveFamily, .note,
                .claim, .handIn, .sandbox, .forge,
            ]
        case .playStore:
            [
                .buy, .pend, .pay, .abandon, .renew, .fail, .endGrace, .pause, .expire, .cancel,
                .uncancel, .upgrade, .revoke, .refund, .refundPart, .handIn,
            ]
        case .revenueCat:
            [.buy, .renew, .fail, .expire, .cancel, .uncancel, .refund, .transfer]
        }
    }

    /// Whether its messages say what happened; else they hint at it, and what is true then is asked for:
    /// what came and went before a hint arrives is told by nobody (Stores, rule 3).
    var tellsFacts: Bool { self != .playStore }
}
