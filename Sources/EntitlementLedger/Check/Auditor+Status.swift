import Encodings
import Entitlements
import EventLog
public import LedgerAPI

extension Auditor {
    /// How the ledger is.
    ///
    /// Cost: one pass over the log's headers.
    public func status() throws -> StatusAnswer {
        let end = try questions.log.end()
        var counts: [UInt8: Int] = [:]
        var through: [String: Int64] = [:]
        var events: [String: Int] = [:]
        try questions.log.scan(from: 0, upTo: end.size) { header, record in
            counts[header.environment, default: 0] += 1
            let source = SourceCode.name(of: header.source) ?? "other"
            events[source, default: 0] += 1
            let kind = try header.eventKind()
            if kind == .syncCompleted || kind == .syncReconciled,
                let instant = try header.through(record)
            {
                through[source] = max(through[source] ?? .min, instant.milliseconds)
            }
            return true
        }
        let checkpoint = try prover.lastCheckpoint()
        // Gaps that a salvage left.
        let lost =
            end.size - UInt64(counts.values.reduce(0, +)) + (questions.knownLoss?.behindEnd ?? 0)
        return StatusAnswer(
            sequence: end.size,
            environmentCounts: StatusAnswer.EnvironmentCounts(
                production: counts[StoreEnvironment.production.rawValue] ?? 0,
                sandbox: counts[StoreEnvironment.sandbox.rawValue] ?? 0,
                local: counts[StoreEnvironment.local.rawValue] ?? 0
            ),
            lastRecordedAt: try questions.lastRecordedAt(),
            views: StatusAnswer.ViewsStatus(
                position: questions.views.position,
                discarded: questions.views.discarded ?? questions.views.replaced
            ),
            checkpoint: checkpoint.map {
                StatusAnswer.SignedSize(size: $0.size, rootHash: $0.root.base64)
            },
            completeness: events.sorted { $0.key < $1.key }.map { source, count in
                let instant = through[source].map { Instant(milliseconds: $0) }
                return Keyed(source, StatusAnswer.Completeness(events: count, through: instant))
            },
            lost: lost
        )
    }
}

extension RecordHeader {
    /// `through` of a sync event.
    fileprivate func through(_ record: Span<UInt8>) throws -> Instant? {
        var opened = OpenedEvent(header: self, kind: try eventKind())
        try opened.read(record, facts) { _ in nil }
        guard case .instant(let instant)? = opened.values[.through] else { return nil }
        return instant
    }
}
