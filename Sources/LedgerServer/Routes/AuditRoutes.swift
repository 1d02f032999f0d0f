import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Synchronization

/// An audit of the ledger that is served.
extension RouteTable {
    static let auditRoutes = [
        Route(
            method: .get,
            template: "/v1/audit",
            operation: "auditLedger",
            summary: "Checks the ledger against its hashes, keys and views; one audit at a time.",
            access: .keys([.audit]),
            parameters: [
                Route.Parameter(
                    name: "scope",
                    text: "What is looked at (default: everything)",
                    shape: .choice(AuditScope.allCases.map { "\($0)" })
                )
            ],
            answers: [Route.Reply(status: 200, text: "What was found", shape: .named("Audit"))],
            problems: [.invalidValue],
            handler: audit
        )
    ]

    @Sendable
    private static func audit(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let name = call.query[.scope] ?? "\(AuditScope.everything)"
        guard let scope = AuditScope.allCases.first(where: { "\($0)" == name }) else {
            throw Problem(
                .invalidValue,
                "expected everything, hashes or quick",
                path: "scope"
            )
        }
        return Answer(try await service.audit(scope, .asked))
    }
}

/// Lets one audit run at a time: it reads the whole log, on all cores.
final class AuditGate: Sendable {
    private let isRunning = Atomic(false)
    private let blocking: Blocking

    /// Does what waits for the disk.
    typealias Blocking =
        @Sendable (
            _ body: @escaping @Sendable () throws -> AuditAnswer
        ) async throws -> AuditAnswer

    private static let retrySeconds = 30

    init(_ blocking: @escaping Blocking) { self.blocking = blocking }

    /// Runs an audit.
    ///
    /// - Throws: `Problem.busy` while another one runs; what the body throws.
    func run(_ body: @escaping @Sendable () throws -> AuditAnswer) async throws -> AuditAnswer {
        guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else {
            throw Problem(.busy, "an audit runs already", retryAfter: Self.retrySeconds)
        }
        defer { isRunning.store(false, ordering: .releasing) }
        return try await blocking(body)
    }
}
