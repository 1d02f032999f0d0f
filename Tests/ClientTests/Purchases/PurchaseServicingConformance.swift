import Encodings
import EntitlementClient
import Entitlements
import LedgerAPI

/// A store to be held against what every one of them must do (row ES1).
struct StoreUnderTest: Sendable {
    let purchases: any PurchaseServicing
    /// What somebody does before the sheet from now on.
    let answer: @Sendable (SimulatedPurchases.SheetAnswer) -> Void
    /// Somebody agrees to what waits.
    let approve: @Sendable () async -> Void
    /// What it sells.
    let product: String

    /// What it does otherwise than every store must; empty: nothing.
    func violations() async -> [String] {
        var found: [String] = []
        func hold(_ isSo: Bool, _ rule: String) { if !isSo { found.append(rule) } }

        let products = try? await purchases.products(for: ["no such", product])
        hold(products?.map(\.id) == [product], "lists what it sells, and leaves out the rest")
        hold(
            await purchases.purchase("no such", for: customer)
                == .failed(ServiceError(.productUnavailable)),
            "says that something is not sold"
        )
        answer(.cancel)
        hold(await buy() == .userCancelled, "says that the sheet was closed")
        answer(.fail)
        if case .failed = await buy() {} else { found.append("says that it did not work") }
        hold(await held() == [], "holds nothing that was not bought")

        answer(.ask)
        let stream = purchases.transactions
        hold(await buy() == .pending, "says that somebody has to agree")
        hold(await held() == [], "holds nothing that waits")
        await approve()
        let told = await Self.first(of: stream)
        hold(told?.productID == product, "tells what was allowed later")
        guard let told else { return found }
        hold(await held() == [told.id], "holds what was bought")

        let again = await Self.first(of: purchases.transactions)
        hold(again?.id == told.id, "tells anew what was not finished")
        await purchases.finish(told)
        // As after an end of the program behind the finishing, and before its note.
        await purchases.finish(told)
        hold(await held() == [told.id], "holds what is finished")
        let silent = await Self.first(of: purchases.transactions, within: .milliseconds(200))
        hold(silent == nil, "tells no more what is finished")

        answer(.buy)
        if case .success(let bought) = await buy() {
            hold(bought.productID == product && !bought.signed.isEmpty, "gives what was signed")
        } else {
            found.append("sells")
        }
        return found
    }

    private let customer = SnapshotAuthority.customer

    private func buy() async -> PurchaseResult { await purchases.purchase(product, for: customer) }

    /// The ids of what the account holds; nil: the store does not say.
    private func held() async -> [String]? {
        // Why it does not makes no difference here.
        try? await purchases.currentEntitlements().map(\.id)
    }

    /// The first transaction that is told; nil: none within a time, or what is told is unverified.
    private static func first(
        of stream: AsyncStream<TransactionUpdate>,
        within time: Duration = .seconds(300)
    ) async -> StoreTransaction? {
        await withTaskGroup(of: StoreTransaction?.self) { group in
            group.addTask {
                for await case .verified(let transaction) in stream { return transaction }
                return nil
            }
            group.addTask {
                // Called off where the other was first.
                try? await Task.sleep(for: time)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
