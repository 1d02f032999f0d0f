import DurableFiles
import Encodings
package import Entitlements

/// How far a backfill came that was ended, kept beside the ledger: the next one goes on there.
///
/// Whoever loses the file asks about some purchases again, and appends nothing twice.
package struct BackfillProgress: Sendable {
    private let path: String
    private let environment: StoreEnvironment
    private let clock: @Sendable () -> Instant

    /// Milliseconds after which it is begun anew: stores have told more since.
    private static let lifetime = Instant.millisecondsPerDay

    /// That of a ledger's directory; `clock`: when each place is reached.
    package init(
        ofLedgerAt ledgerPath: String,
        _ environment: StoreEnvironment,
        clock: @escaping @Sendable () -> Instant
    ) {
        path = ledgerPath + "/backfill.json"
        self.environment = environment
        self.clock = clock
    }

    /// The stream's number with which to go on; 0: from the beginning.
    package func next() throws -> UInt64 {
        guard let bytes = try DurableFile.read(path),
            // What is not ours to read is begun anew.
            let json = try? JSONValue(parsing: bytes),
            json["environment"]?.string == environment.name,
            let reachedAt = json["reachedAt"]?.string.flatMap({ Instant(rfc3339: $0) }),
            clock() <= reachedAt.advanced(byMilliseconds: Self.lifetime),
            let next = json["next"]?.string.flatMap({ UInt64($0) })
        else { return 0 }
        return next
    }

    /// Keeps how far it came; 0: it is done, and nothing is kept.
    package func reach(_ next: UInt64) throws {
        guard next > 0 else { return DurableFile.remove(path) }
        let json = JSONValue.members([
            "environment": .string(environment.name), "reachedAt": .string(clock().description),
            "next": .string(String(next)),
        ])
        try DurableFile.replace(path, with: Array((json.description + "\n").utf8))
    }
}
