import Entitlements
import HTTPTypes
import LedgerOperations

/// A server that is one machine of a cluster.
extension LedgerService {
    /// What passes a call on to the machine that leads; nil: this one does, or there is no cluster.
    var leaderCall: LeaderCall? {
        guard let cluster, !cluster.isLeading, let nodeTicket else { return nil }
        return LeaderCall(service: self, node: cluster, ticket: nodeTicket)
    }

    /// Whether what changes the ledger is done here.
    var leads: Bool { cluster?.isLeading ?? true }

    /// Whether another machine passes on a call of its ledger's owner.
    func isOwners(_ headers: HTTPFields, at now: Instant) -> Bool {
        nodeTicket?.isPassedOn(headers, at: now).isOwners ?? false
    }

    /// Makes sure that what was decided here was decided by who leads, before its caller is told.
    func confirmLease() async throws {
        guard let cluster else { return }
        try await blocking { try cluster.confirmLease() }
    }
}
