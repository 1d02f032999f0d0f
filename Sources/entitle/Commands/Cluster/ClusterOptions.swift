import ArgumentParser
import Entitlements
import EventLog
import LedgerOperations
import PostgresStorage

/// Which PostgreSQL holds a cluster's log.
struct ClusterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "libpq's connection string, with all hosts; the password in a passfile.",
            valueName: "string"
        )
    )
    var postgres: String

    @Option(help: "The schema (default: \(JournalSchema.usualName)).")
    var schema = JournalSchema.usualName

    func validate() throws {
        guard JournalSchema(schema) != nil else {
            throw ValidationError(
                "--schema takes lower-case letters, digits and _, at most 63, no digit first"
            )
        }
        switch ConnectionText.fault(in: postgres) {
        case .password:
            throw ValidationError(
                "--postgres takes no password: name a passfile in it, or a service"
            )
        case .malformed:
            throw ValidationError("--postgres takes libpq's connection string or URI")
        case nil: break
        }
    }

    /// The schema that is named.
    func place() throws -> JournalSchema {
        guard let place = JournalSchema(schema) else {
            throw OperationFault(.usage, "not the name of a schema", place: "--schema")
        }
        return place
    }

    /// What could lose something that was acknowledged.
    func findings() throws -> [ClusterFinding] {
        ClusterCheck.findings(
            of: postgres,
            schema: try place(),
            now: SystemClock.now().milliseconds
        )
    }
}

extension OperationFault {
    /// What a cluster's database refused.
    init(_ fault: JournalFault) {
        self.init(
            Code("cluster_" + fault.code.rawValue, fault.isLasting ? .misconfigured : .tryAgain),
            fault.message,
            hint: "`entitle cluster check` says what is the matter with the database"
        )
    }
}
