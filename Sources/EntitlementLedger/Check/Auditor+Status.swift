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
        var recorded: [String: Int64] = [:]
        var refused: [String: Int64] = [:]
        let stores = try storeStreams()
        try questions.log.scan(from: 0, upTo: end.size) { header, record in
            counts[header.environment, default: 0] += 1
            let source = SourceCode.name(of: header.source) ?? "other"
            events[source, default: 0] += 1
            // Recorded time never goes back (law 2).
            recorded[source] = header.recordedAt
            let kind = try header.eventKind()
            if kind == .syncCompleted || kind == .syncReconciled,
                let instant = try header.through(record)
            {
                through[source] = max(through[source] ?? .min, instant.milliseconds)
            }
            if kind == .signalNoted, let store = stores[header.stream],
                try header.notesRefusals(record)
            {
                refused[store] = max(refused[store] ?? .min, header.time)
                // Of a store nothing else may have come.
                events[store, default: 0] += 0
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
                Keyed(
                    source,
                    StatusAnswer.Completeness(
                        of: source,
                        events: count,
                        lastRecordedAt: recorded[source].map { Instant(milliseconds: $0) },
                        through: through[source].map { Instant(milliseconds: $0) },
                        lastRefusedAt: refused[source].map { Instant(milliseconds: $0) }
                    )
                )
            },
            lost: lost
        )
    }

    /// Bytes of the vault that the ids of transactions take, by which a search finds them; nil: they stand on
    /// no disk, or behind the master key.
    ///
    /// Cost: one small read.
    package func identifiersByteCount() throws -> Int64? {
        try questions.vault.identifiersByteCount().map(Int64.init)
    }

    /// The stores by the streams that are about them.
    private func storeStreams() throws -> [UInt64: String] {
        var stores: [UInt64: String] = [:]
        for store in Source.stores {
            for environment in StoreEnvironment.allCases {
                let name = StreamName(.store(store), in: environment)
                if let stream = try questions.vault.stream(of: name) { stores[stream] = store }
            }
        }
        return stores
    }
}

extension StatusAnswer.Completeness {
    /// How complete a source is; of what is no store nothing can be missing in this way.
    fileprivate init(
        of source: String,
        events: Int,
        lastRecordedAt: Instant?,
        through: Instant?,
        lastRefusedAt: Instant?
    ) {
        var gaps: [Gap] = []
        if Source.stores.contains(source) {
            if through == nil { gaps.append(.neverAsked) }
            if let lastRefusedAt, through.map({ $0 < lastRefusedAt }) ?? true {
                gaps.append(.refused)
            }
        }
        self.init(
            events: events,
            lastRecordedAt: lastRecordedAt,
            through: through,
            lastRefusedAt: lastRefusedAt,
            gaps: gaps
        )
    }
}

extension RecordHeader {
    /// Whether a `signal.noted` says that signals were refused.
    fileprivate func notesRefusals(_ record: Span<UInt8>) throws -> Bool {
        var opened = OpenedEvent(header: self, kind: try eventKind())
        try opened.read(record, facts) { _ in nil }
        return opened.values[.name] == .text(RefusalNote.name)
    }

    /// `through` of a sync event.
    fileprivate func through(_ record: Span<UInt8>) throws -> Instant? {
        var opened = OpenedEvent(header: self, kind: try eventKind())
        try opened.read(record, facts) { _ in nil }
        guard case .instant(let instant)? = opened.values[.through] else { return nil }
        return instant
    }
}
