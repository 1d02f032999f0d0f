import EntitlementLedger
package import Entitlements
package import LedgerAPI
package import Stores

extension StoreSync {
    /// Days by which a renewal date may be moved.
    package static let extensionDays = 1...90

    /// Asks the App Store to move a subscription's renewal date, and appends what it signs of it.
    ///
    /// `id`: the same again is the same request.
    ///
    /// - Returns: nil: the App Store cannot be asked.
    /// - Throws: `StoreFault` where it does not do it; `LedgerFault`, `LogStorageFault`.
    package func extend(
        _ purchase: PurchaseName,
        byDays days: Int,
        because reason: AppStoreExtensionReason,
        id: String,
        in environment: StoreEnvironment
    ) async throws -> ExtensionAnswer? {
        guard let appStore = clients.appStore else { return nil }
        let end = try await appStore.api.extend(
            purchase.originalID,
            byDays: days,
            because: reason,
            id: id,
            in: environment
        )
        let synced = end == nil ? [] : try await sync([purchase], in: environment)
        return ExtensionAnswer(id: id, endsAt: end, purchases: synced)
    }
}
