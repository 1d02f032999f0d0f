/// What a simulated store sells.
package struct SimulatedProduct: Sendable {
    package var id: String
    /// `Auto-Renewable Subscription` and the like, as the App Store calls them.
    package var type: String
    /// Milliseconds of a period; nil: without end.
    package var period: Int64?
    /// Thousandths of a dollar.
    package var price: Int64

    /// Names a product.
    package init(id: String, type: String, period: Int64?, price: Int64) {
        self.id = id
        self.type = type
        self.period = period
        self.price = price
    }

    /// Whether it is a subscription that renews by itself.
    var isRenewable: Bool { type == "Auto-Renewable Subscription" }
}
