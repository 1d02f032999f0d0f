import Crypto
public import Entitlements
import EventLog

/// What folding everything again gave.
public struct ReplayReport: Sendable {
    /// Events that were folded.
    public var events: UInt64
    /// Customers whose state was answered.
    public var customers: Int
    /// SHA-256 over all answers, in the order of the streams: two replays of one prefix agree.
    public var answersDigest: String
    /// Where the views say other than the log.
    public var differences: [String]

    /// The `replay` shape.
    public var json: JSONValue {
        .members([
            "ok": .bool(differences.isEmpty), "events": .integer(events),
            "customers": .integer(customers), "answersDigest": .string(answersDigest),
            "differences": .strings(differences),
        ])
    }
}

extension Ledger {
    /// Folds the log again up to a prefix, answers every customer at T and compares the views
    /// with the log; writes nothing.
    public func replay(
        point: BitemporalPoint,
        environment: StoreEnvironment,
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> ReplayReport {
        let size = try prefix(knownAt: point.knownAt)
        var hash = SHA256()
        var asked: Set<UInt64> = []
        try log.scan(from: 0, upTo: size) { header, _ in
            guard header.environment == environment.rawValue else { return true }
            asked.insert(header.stream)
            return true
        }
        var customers = 0
        for (index, stream) in asked.sorted().enumerated() {
            guard let subject = try vault.name(of: stream)?.subject,
                case .customer(let id)? = Subject(subject)
            else { continue }
            customers += 1
            let answer = try show(
                CustomerQuestion(
                    customer: id,
                    environment: environment,
                    point: BitemporalPoint(at: point.at, knownAt: .sequence(size))
                )
            )
            hash.update(data: Array(answer.description.utf8))
            if index % 256 == 0 { progress(UInt64(index), UInt64(asked.count)) }
        }
        return ReplayReport(
            events: size,
            customers: customers,
            answersDigest: hash.finalize().map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined(),
            // Damage that a question met: by now it was answered from views made anew.
            differences: (views.replaced.map { [$0] } ?? [])
                + (try viewDifferences().map { difference in
                    difference.sequence.map { "\($0): \(difference.detail)" } ?? difference.detail
                })
        )
    }

    /// Writes the views anew from the log, beside the old ones, and switches at once.
    ///
    /// - Returns: the number of events that they hold.
    public func rebuild(
        progress: (_ done: UInt64, _ of: UInt64) throws -> Void = { _, _ in }
    ) throws -> UInt64 {
        try requireWriter()
        try views.rebuild(progress: progress)
        return views.position
    }
}
