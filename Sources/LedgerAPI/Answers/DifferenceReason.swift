package import Entitlements

/// Why entitlements here and at a provider differ.
package struct DifferenceReason: Described {
    /// What kind.
    package var code: Code
    /// The purchase, by its name here, else there; nil: it is about none.
    package var purchase: String?
    /// The event of a purchase that is missing.
    package var event: String?
    /// The purchase as it is here.
    package var here: PurchaseState?
    /// The purchase as it is there.
    package var there: PurchaseState?
    /// Other things that it is about: ids of products, grants, trials, customers or features.
    package var names: [String]

    /// Why something may differ.
    package enum Code: String, Sendable, CaseIterable {
        /// The provider knows of an event of a purchase that this log does not have.
        case missingHere = "missing_here"
        /// This log has an event of a purchase of which the provider says nothing.
        case missingThere = "missing_there"
        /// A purchase is in grace on one side alone.
        case grace
        /// The other side has the purchase in another environment.
        case sandbox
        /// The provider takes names for one customer's that are not linked here, or the reverse.
        case alias
        /// Another customer owns the purchase on one side.
        case owner
        /// The catalog here knows no product of this id, so that it unlocks nothing (K4).
        case catalog
        /// A grant or trial of this ledger, of which no provider knows.
        case grant
        /// Both sides know the same of every purchase: what they unlock began under other catalogs (K3).
        case terms
    }

    /// Makes a reason.
    package init(
        _ code: Code,
        purchase: String? = nil,
        event: EventKind? = nil,
        here: PurchaseState? = nil,
        there: PurchaseState? = nil,
        names: [String] = []
    ) {
        self.init(
            code: code,
            purchase: purchase,
            event: event?.name,
            here: here,
            there: there,
            names: names
        )
    }

    private init(
        code: Code,
        purchase: String?,
        event: String?,
        here: PurchaseState?,
        there: PurchaseState?,
        names: [String]
    ) {
        self.code = code
        self.purchase = purchase
        self.event = event
        self.here = here
        self.there = there
        self.names = names
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "DifferenceReason",
        "Why entitlements here and at a provider differ",
        Self.init
    ) {
        Field("code", \.code, .word)
        Field("purchase", \.purchase, .orAbsent(.source))
        Field("event", \.event, .orAbsent(.name), "The type of the event that is missing")
        Field("here", \.here, .orAbsent(.object))
        Field("there", \.there, .orAbsent(.object))
        Field(
            "names",
            \.names,
            .list(.text),
            "Ids of products, grants, trials, customers or features that it is about"
        )
    }
}
