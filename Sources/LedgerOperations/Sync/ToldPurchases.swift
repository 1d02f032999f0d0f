import Entitlements
import Synchronization

/// Purchases of which their own stores told beside others: the history of one is that of all that its Apple
/// Account bought, so they need not be asked about where it was told whole.
///
/// Several batches share it. One that is told while it is asked about is fetched twice, which adds nothing.
final class ToldPurchases: Sendable {
    private let names = Mutex<Set<PurchaseName>>([])

    /// Notes all but the one that was asked about, which nobody asks about again.
    func insert(_ told: Set<PurchaseName>, besides asked: PurchaseName) {
        let others = told.subtracting([asked])
        guard !others.isEmpty else { return }
        names.withLock { $0.formUnion(others) }
    }

    /// Whether one of a purchase's names was told.
    func contains(_ purchase: [PurchaseName]) -> Bool {
        names.withLock { !$0.isDisjoint(with: purchase) }
    }
}
