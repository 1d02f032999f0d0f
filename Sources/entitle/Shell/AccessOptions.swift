import ArgumentParser
import EntitlementLedger
import Entitlements
import Foundation
import LedgerOperations

/// Why somebody looks at a customer by a command.
struct AccessOptions: ParsableArguments {
    @Option(help: "Why; noted as an access.logged of the customer (default: nothing is). No ids.")
    var reason: String?

    /// Who looked, as the ledger notes it: nobody signs in to a command.
    static let actor = "command"

    /// Whether the ledger is written to.
    var isNoted: Bool { reason != nil }

    func validate() throws {
        guard let reason else { return }
        guard (1...Self.byteLimit).contains(reason.utf8.count) else {
            throw ValidationError("--reason has 1 to \(Self.byteLimit) bytes")
        }
    }

    private static let byteLimit = 1024

    /// Notes the access where a reason was given.
    func note(
        _ action: String,
        of customer: CustomerID,
        _ environment: StoreEnvironment,
        _ ledger: Ledger
    ) throws {
        guard let reason else { return }
        try ledger.appender.logAccess([
            CustomerAccess(
                id: "access/" + UUID().uuidString.lowercased(),
                customer: customer,
                environment: environment,
                actor: Self.actor,
                action: action,
                reason: reason,
                time: SystemClock.now()
            )
        ])
    }
}
