import Crypto
import Entitlements
import EventLog

/// Turns events into sealed records.
struct EventSealer {
    let vault: any Vault
    var randomness: RandomSource

    /// What stands beside the records of one submission.
    struct Attached {
        var kind: RecordHeader.Attached
        var digest: EventLog.Digest
    }

    /// Seals one event; nil if its record would be longer than one may be.
    ///
    /// - Throws: what the vault throws.
    mutating func seal(_ event: NumberedEvent, attached: Attached?) throws -> SealedRecord? {
        let isCatalog = event.stream == StreamNumber.catalog
        let keys = isCatalog ? nil : try vault.keys(of: event.stream)
        let header = SealedRecord.Header(
            time: event.time.milliseconds,
            observedAt: event.observedAt.milliseconds,
            stream: event.stream,
            kind: event.data.kind.rawValue,
            source: SourceCode.code(of: event.source),
            environment: event.environment.rawValue
        )
        var facts = FactsWriter()
        var identity = FactsWriter()
        if isCatalog {
            facts.append(id: event.id, source: event.source)
        } else {
            identity.append(id: event.id, source: event.source)
        }
        if let store = event.store { facts.append(RecordMark.store, text: store) }
        for entry in event.data.entries {
            switch entry.field.placement {
            case .clear: facts.append(entry)
            case .sealed: identity.append(entry)
            case .tagged:
                identity.append(entry)
                if case .text(let id) = entry.value, let keys {
                    facts.append(entry.field, number: keys.tag(id))
                }
            case .stream: facts.append(entry.field, streams: event.others(of: entry.field))
            }
        }
        return try SealedRecord(
            header: header,
            signal: event.signal,
            facts: facts.bytes,
            identity: identity.bytes,
            key: keys,
            nonce: SealingNonce(using: &randomness),
            attached: attached?.kind ?? .none,
            attachedDigest: attached?.digest,
            otherStreams: event.others.flatMap(\.streams)
        )
    }
}
