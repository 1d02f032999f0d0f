import Crypto
import Entitlements
import EventLog

/// Turns events into sealed records.
struct EventSealer {
    let resolver: StreamResolver
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
        let keys = event.isOfCatalog ? nil : try resolver.keys(of: event.stream)
        return try SealedRecord(
            header: SealedRecord.Header(
                time: event.time.milliseconds,
                observedAt: event.observedAt.milliseconds,
                stream: event.stream,
                kind: event.data.kind.rawValue,
                source: SourceCode.code(of: event.source),
                environment: event.environment.rawValue
            ),
            signal: event.signal,
            key: keys,
            nonce: SealingNonce(using: &randomness),
            attached: attached?.kind ?? .none,
            attachedDigest: attached?.digest,
            otherStreams: event.others.flatMap(\.streams),
            facts: { $0.append(factsOf: event, keys) },
            identity: { $0.append(identityOf: event) }
        )
    }
}

extension NumberedEvent {
    /// The catalog's stream needs no key, for its events name nobody.
    fileprivate var isOfCatalog: Bool { stream == StreamNumber.catalog }
}

extension FactsWriter {
    /// What stands in clear of an event; its ids only in the catalog's stream.
    fileprivate mutating func append(factsOf event: NumberedEvent, _ keys: StreamKeys?) {
        if event.isOfCatalog { append(id: event.id, source: event.source) }
        if let store = event.store { append(RecordMark.store, text: store) }
        for entry in event.data.entries {
            switch entry.field.placement {
            case .clear: append(entry)
            case .sealed: break
            case .tagged:
                if case .text(let id) = entry.value, let keys {
                    append(entry.field, number: keys.tag(id))
                }
            case .stream: append(entry.field, streams: event.others(of: entry.field))
            }
        }
    }

    /// What of it is sealed.
    fileprivate mutating func append(identityOf event: NumberedEvent) {
        append(id: event.id, source: event.source)
        for entry in event.data.entries
        where entry.field.placement == .sealed || entry.field.placement == .tagged {
            append(entry)
        }
    }
}
