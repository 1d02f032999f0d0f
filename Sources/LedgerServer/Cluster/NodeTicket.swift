import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// What a machine of a cluster says of itself where it passes a call on: it is sealed under the ledger's key,
/// so that no other machine says it.
struct NodeTicket: Sendable {
    private let sealer: CustomerTicket.Sealer

    /// How long one counts, milliseconds.
    private static let lifetime: Int64 = 60_000
    /// What one says whose call came over the socket of its ledger's directory.
    private static let owner = "owner"

    /// Sealed by a ledger's key.
    ///
    /// - Throws: `LogStorageFault` where the key is not at hand.
    init(of ledger: Ledger) throws { sealer = try ledger.prover.tickets(for: .nodes) }

    /// The text of one.
    ///
    /// `isOwners`: whether the call is of whoever may read the node's directory.
    func text(of node: String, isOwners: Bool, at now: Instant) throws -> String {
        guard let name = CustomerID(node) else { throw Problem(.internal) }
        return try sealer.text(
            of: CustomerTicket(
                customer: name,
                environment: .local,
                keyID: nil,
                end: now.advanced(byMilliseconds: Self.lifetime),
                digest: isOwners ? Self.owner : nil
            )
        )
    }

    /// Whether headers carry one that counts: for which kind of call.
    func isPassedOn(_ headers: HTTPFields, at now: Instant) -> (isPassedOn: Bool, isOwners: Bool) {
        guard let text = headers[.ledgerNode], let ticket = sealer.ticket(text), now < ticket.end
        else { return (false, false) }
        return (true, ticket.digest == Self.owner)
    }
}
