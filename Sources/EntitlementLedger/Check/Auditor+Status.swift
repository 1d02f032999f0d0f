import Encodings
import Entitlements
import EventLog
public import LedgerAPI

extension Auditor {
    /// How the ledger is.
    ///
    /// Cost: one pass over the log's headers, the first time; then over those that are new.
    public func status() throws -> StatusAnswer {
        let tally = try tallies.tally(of: questions.log, stores: storeStreams)
        var sources = tally.named
        // Of a store nothing else may have come than what was refused.
        for store in tally.refused.keys where sources[store] == nil {
            sources[store] = LogTally.Source()
        }
        let checkpoint = try prover.lastCheckpoint()
        // Gaps that a salvage left.
        let lost = tally.size - UInt64(tally.events) + (questions.knownLoss?.behindEnd ?? 0)
        return StatusAnswer(
            sequence: tally.size,
            environmentCounts: StatusAnswer.EnvironmentCounts(
                production: tally.events(in: .production),
                sandbox: tally.events(in: .sandbox),
                local: tally.events(in: .local)
            ),
            lastRecordedAt: try questions.lastRecordedAt(),
            views: StatusAnswer.ViewsStatus(
                position: questions.views.position,
                discarded: questions.views.discarded ?? questions.views.replaced
            ),
            checkpoint: checkpoint.map {
                StatusAnswer.SignedSize(size: $0.size, rootHash: $0.root.base64)
            },
            completeness: sources.sorted { $0.key < $1.key }.map { name, source in
                Keyed(
                    name.text,
                    StatusAnswer.Completeness(
                        of: name.text,
                        source,
                        lastRefusedAt: tally.refused[name].map { Instant(milliseconds: $0) }
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
    fileprivate init(of name: String, _ source: LogTally.Source, lastRefusedAt: Instant?) {
        let through = source.through.map { Instant(milliseconds: $0) }
        var gaps: [Gap] = []
        if Source.stores.contains(name) {
            if through == nil {
                gaps.append(Source.tellsAll(name) ? .neverAsked : .cannotBeAsked)
            }
            if let lastRefusedAt, through.map({ $0 < lastRefusedAt }) ?? true {
                gaps.append(.refused)
            }
        }
        self.init(
            events: source.events,
            lastRecordedAt: source.events > 0 ? Instant(milliseconds: source.recordedAt) : nil,
            through: through,
            lastRefusedAt: lastRefusedAt,
            gaps: gaps
        )
    }
}
