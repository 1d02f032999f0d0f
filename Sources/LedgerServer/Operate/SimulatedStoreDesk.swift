package import Entitlements
package import Presentation

/// A simulated store beside a server, of which the console has a page.
///
/// It is for development: a server of real customers has none, and no such page (Z7). Who is told of what
/// happens is the server, at the address that it listens at.
package protocol SimulatedStoreDesk: Sendable {
    /// The time by which the server goes, which can be turned ahead.
    var clock: @Sendable () -> Instant { get }

    /// What its page shows: so many purchases at the most.
    ///
    /// - Parameters:
    ///   - customer: Whose purchases alone; nil: everybody's.
    ///   - limit: So many of them at the most.
    /// - Returns: what it says of itself.
    func state(of customer: CustomerID?, limit: Int) async -> SimulatorPage.State

    /// Buys a product for a customer.
    ///
    /// - Parameters:
    ///   - product: Its id.
    ///   - customer: Whose it is then.
    ///   - address: Where the server is told.
    /// - Returns: false: that is not sold.
    /// - Throws: what signing throws.
    func buy(
        _ product: String,
        for customer: CustomerID,
        telling address: String
    ) async throws -> Bool

    /// Lets something happen to what was bought.
    ///
    /// - Parameters:
    ///   - step: What happens.
    ///   - purchase: Its id.
    ///   - address: Where the server is told.
    /// - Returns: false: it cannot happen, as the purchase stands.
    /// - Throws: what signing throws.
    func take(
        _ step: SimulatorPage.Step,
        to purchase: String,
        telling address: String
    ) async throws -> Bool

    /// Turns the clock ahead: what is due until then happens.
    ///
    /// - Parameters:
    ///   - milliseconds: By how much.
    ///   - address: Where the server is told.
    /// - Throws: what signing throws.
    func turn(by milliseconds: Int64, telling address: String) async throws
}
