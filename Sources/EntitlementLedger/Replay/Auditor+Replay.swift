import Crypto
import Encodings
package import Entitlements
import EventLog
package import LedgerAPI

extension Auditor {
    /// Reads a prefix anew, to hold against it what was and is answered.
    ///
    /// Cost: one pass over it; memory grows with its events.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    package func replay(knownAt known: BitemporalPoint.Known) throws -> AuditReplay {
        try AuditReplay(self, knownAt: known)
    }

    /// Folds the log again up to a prefix, answers every customer at T and compares the views
    /// with the log; writes nothing.
    package func replay(
        point: BitemporalPoint,
        environment: StoreEnvironment,
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> ReplayAnswer {
        var report = try replay(
            point: point,
            environment: environment,
            customer: nil,
            against: nil,
            progress: progress
        )
        // Damage that a question met: by now it was answered from views made anew.
        report.differences +=
            (questions.views.replaced.map { [$0] } ?? [])
            + (try viewDifferences().map { difference in
                difference.sequence.map { "\($0): \(difference.detail)" } ?? difference.detail
            })
        return report
    }

    /// Answers at a point about everybody of a prefix, or one customer.
    ///
    /// `other`: whose answers are held against ours; nil: nobody's.
    func replay(
        point: BitemporalPoint,
        environment: StoreEnvironment,
        customer: CustomerID?,
        against other: Questions?,
        progress: (_ done: UInt64, _ of: UInt64) -> Void
    ) throws -> ReplayAnswer {
        let size = try questions.prefix(knownAt: point.knownAt)
        var report = ReplayAnswer(events: size, customers: 0, answersDigest: "", differences: [])
        var hash = SHA256()
        let streams =
            try customer.map { try [stream(of: $0, environment)].compactMap(\.self) }
            ?? subjects(below: size, environment)
        for (index, stream) in streams.enumerated() {
            guard let id = try questions.vault.customer(of: stream) else { continue }
            report.customers += 1
            let question = CustomerQuestion(
                customer: id,
                environment: environment,
                point: BitemporalPoint(at: point.at, knownAt: .sequence(size))
            )
            let answer = try questions.show(question).text.bytes
            hash.update(data: answer)
            if let other, try other.show(question).text.bytes != answer {
                report.differences.append("stream \(stream): the views answer otherwise")
            }
            if index % 256 == 0 { progress(UInt64(index), UInt64(streams.count)) }
        }
        report.answersDigest = Hexadecimal.encode(hash.finalize())
        return report
    }

    private func stream(of customer: CustomerID, _ environment: StoreEnvironment) throws -> UInt64?
    {
        try questions.vault.stream(
            of: StreamName(.customer(customer), in: environment)
        )
    }

    /// The streams that are subjects of a prefix's events, or that a store names, ascending.
    private func subjects(
        below size: UInt64,
        _ environment: StoreEnvironment
    ) throws -> [UInt64] {
        var subjects: Set<UInt64> = []
        try questions.log.scan(from: 0, upTo: size) { header, record in
            guard header.environment == environment.rawValue else { return true }
            subjects.insert(header.stream)
            if try header.eventKind().givesPeriod {
                try subjects.formUnion(header.otherStreams(record))
            }
            return true
        }
        return subjects.sorted()
    }

    /// Records between two looks at whether somebody ends it.
    private static let stepLength: UInt64 = 65_536

    /// Writes the views anew from the log, beside the old ones, and switches at once.
    ///
    /// A log with a damaged record keeps the old ones: with them it answers what does not meet it.
    ///
    /// - Returns: the number of events that they hold.
    /// - Throws: `DecodingFault` for a record that is not what was written, `LedgerFault`,
    ///   `LogStorageFault`.
    ///
    /// Cost: one pass over the log more than the views take.
    package func rebuild(
        progress: (_ done: UInt64, _ of: UInt64) throws -> Void = { _, _ in }
    ) throws -> UInt64 {
        _ = try appending.whole
        let (log, views) = (questions.log, questions.views)
        let end = try log.end().size
        try log.scan(from: 0, upTo: end) { header, record in
            _ = try RecordHeader(checking: record)
            // Whoever waits may end it.
            if header.sequence % Self.stepLength == Self.stepLength - 1 { try progress(0, end) }
            return true
        }
        try views.rebuild(progress: progress)
        return views.position
    }
}
