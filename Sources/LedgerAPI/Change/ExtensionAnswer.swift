package import Entitlements

/// What became of a renewal date that a store was asked to move: `extend`.
package struct ExtensionAnswer: Described {
    /// The request's id, by which the store knows it again.
    package var id: String
    /// The new end; nil: the store did not move it.
    package var endsAt: Instant?
    /// What the store signed of it since.
    package var purchases: [SyncedPurchase]

    /// Makes an answer.
    package init(id: String, endsAt: Instant?, purchases: [SyncedPurchase]) {
        self.id = id
        self.endsAt = endsAt
        self.purchases = purchases
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "Extension",
        "What became of a renewal date",
        Self.init
    ) {
        Field("id", \.id, .identifier)
        Field("endsAt", \.endsAt, .orNull(.instant), "null: the store did not move it")
        Field("purchases", \.purchases, .list(.object), "What the store signed of it since")
    }
}
