import AsyncHTTPClient
import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import NIOCore
import NIOHTTP1

/// Has the machine that leads note who looked at whom at this one.
struct AccessPassing: Sendable {
    let node: ClusterNode
    let ticket: NodeTicket
    private let ledger: Ledger
    private let clock: @Sendable () -> Instant

    /// nil: the server is no machine of a cluster.
    init?(_ options: LedgerServer.Options) {
        // Without the ledger's key nothing is passed on.
        guard let node = options.cluster, let ticket = try? NodeTicket(of: options.ledger) else {
            return nil
        }
        (self.node, self.ticket) = (node, ticket)
        (ledger, clock) = (options.ledger, options.clock)
    }

    private static let timeout = TimeAmount.seconds(10)
    private static let answerByteLimit = 64 << 10

    /// Records accesses, here where this machine leads.
    @Sendable func record(_ accesses: [CustomerAccess]) throws {
        guard node.isLeading else { return try pass(accesses, at: clock()) }
        try ledger.appender.logAccess(accesses)
    }

    /// Passes accesses on; blocks until they are noted.
    ///
    /// - Throws: `Problem.noLeader` where they are not.
    private func pass(_ accesses: [CustomerAccess], at now: Instant) throws {
        guard let address = node.leaderToAsk else { throw Problem(.noLeader) }
        var call = HTTPClientRequest(url: address + "/v1/cluster/accesses")
        call.method = .POST
        call.headers.add(name: "content-type", value: "application/json")
        call.headers.add(
            name: HTTPField.Name.ledgerNode.rawName,
            value: try ticket.text(of: node.name, for: .owner, at: now)
        )
        let body = JSONValue.members(["accesses": .array(accesses.map(\.passed))]).description
        call.body = .bytes(ByteBuffer(string: body))
        let (request, timeout) = (call, Self.timeout)
        let status = try Blocking.value {
            let answer = try await LeaderCall.http.execute(request, timeout: timeout)
            _ = try await answer.body.collect(upTo: Self.answerByteLimit)
            return answer.status
        }
        guard status == .ok else { throw Problem(.noLeader) }
    }
}
