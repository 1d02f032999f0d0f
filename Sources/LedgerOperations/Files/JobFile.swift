import DurableFiles
import Encodings
import Entitlements
package import LedgerAPI

/// When a server last did what it does by itself, kept so that one which is started often does it all the
/// same.
///
/// Stands in the ledger's directory as `jobs.json`: names, times and results, nothing of anybody.
package struct JobFile: Sendable {
    /// The file's name.
    package static let name = "jobs.json"

    private let path: String

    /// The file of a ledger.
    package init(ofLedgerAt path: String) { self.path = path + "/" + Self.name }

    /// What is kept; nothing where there is no file, or one that is none: then it is done sooner.
    ///
    /// - Throws: `FileFault`.
    package func read() throws -> [JobStatus] {
        // One that a power cut emptied is none.
        guard let bytes = try DurableFile.read(path), let json = try? JSONValue(parsing: bytes)
        else { return [] }
        return (json["jobs"]?.array ?? []).compactMap { entry in
            guard let name = entry["name"]?.string else { return nil }
            func instant(_ member: String) -> Instant? {
                entry[member]?.string.flatMap { Instant(rfc3339: $0) }
            }
            var job = JobStatus(name: name)
            job.lastRunAt = instant("lastRunAt")
            job.lastDoneAt = instant("lastDoneAt")
            job.result = entry["result"]?.string.flatMap { JobStatus.Result(rawValue: $0) }
            return job
        }
    }

    /// Keeps when each job ran last, durably, in place of what was kept.
    ///
    /// - Throws: `FileFault`.
    package func write(_ jobs: [JobStatus]) throws {
        let entries = jobs.map { job in
            JSONValue.members([
                "name": .string(job.name),
                "result": job.result.map { .string($0.rawValue) } ?? .null,
                "lastRunAt": job.lastRunAt.map { .string($0.description) } ?? .null,
                "lastDoneAt": job.lastDoneAt.map { .string($0.description) } ?? .null,
            ])
        }
        let json = JSONValue.members(["jobs": .array(entries)])
        try DurableFile.replace(path, with: Array((json.description + "\n").utf8))
    }
}
