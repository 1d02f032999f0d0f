import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// What a machine of a cluster says of itself, and of who asks, where it passes a call on: it is sealed under the
/// ledger's key, so that no other machine says it.
struct NodeTicket: Sendable {
    private let sealer: CustomerTicket.Sealer

    /// As whom a machine passes a call on.
    enum Holder: Sendable {
        /// Whoever the call's own credential says.
        case credential
        /// Whoever may read the directory of the machine's ledger.
        case owner
        /// Who is signed in to the machine's pages: what its forms send back is known there alone.
        case session(PageSessions.Session)
    }

    /// How long one counts, milliseconds.
    private static let lifetime: Int64 = 60_000
    /// What one says whose call came over the socket of its ledger's directory.
    private static let owner = "owner"
    /// What stands before the token of forms: of the console's, and of a customer's own pages.
    private static let console = "console/"
    private static let account = "account/"

    /// Sealed by a ledger's key.
    ///
    /// - Throws: `LogStorageFault` where the key is not at hand.
    init(of ledger: Ledger) throws { sealer = try ledger.prover.tickets(for: .nodes) }

    /// The text of one.
    func text(of node: String, for holder: Holder, at now: Instant) throws -> String {
        guard let name = CustomerID(node) else { throw Problem(.internal) }
        var (subject, keyID, digest): (CustomerID, String?, String?) = (name, nil, nil)
        switch holder {
        case .credential: break
        case .owner: digest = Self.owner
        case .session(let session):
            if case .customer(let id) = session.caller {
                (subject, keyID) = (id, session.linkKeyID)
                digest = Self.account + session.formToken
            } else {
                (keyID, digest) = (session.caller.keyID, Self.console + session.formToken)
            }
        }
        return try sealer.text(
            of: CustomerTicket(
                customer: subject,
                environment: .local,
                keyID: keyID,
                end: now.advanced(byMilliseconds: Self.lifetime),
                digest: digest
            )
        )
    }

    /// As whom another machine passes a call on; nil: none does.
    ///
    /// `scopes`: of a key, by its id; nil: it does not count any more.
    func holder(
        _ headers: HTTPFields,
        at now: Instant,
        scopes: (_ keyID: String) -> ScopeSet?
    ) -> Holder? {
        guard let text = headers[.ledgerNode], let ticket = sealer.ticket(text), now < ticket.end
        else { return nil }
        guard let digest = ticket.digest else { return .credential }
        if digest == Self.owner { return .owner }
        func session(of caller: Caller, behind word: String) -> Holder {
            let token = String(digest.dropFirst(word.count))
            return .session(PageSessions.Session(passedOnFor: caller, formToken: token, at: now))
        }
        if digest.hasPrefix(Self.account) {
            // Who came by a link is in for as long as the key that made it counts here.
            if let id = ticket.keyID,
                scopes(id)?.allows(anyOf: CustomerTicket.linkScopes) != true
            {
                return .credential
            }
            return session(of: .customer(id: ticket.customer), behind: Self.account)
        }
        // A later program's.
        guard digest.hasPrefix(Self.console) else { return .credential }
        // Who came by a link of the ledger's owner has no key.
        guard let id = ticket.keyID else { return session(of: .console, behind: Self.console) }
        guard let scopes = scopes(id) else { return .credential }
        return session(of: .key(id: id, scopes: scopes), behind: Self.console)
    }
}
