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

    /// Streams of the subject and of all that the event names, the subject's first; new ones are
    /// reserved.
    func streams(of event: Event) throws -> (subject: UInt64, others: [Field: [UInt64]]) {
        let subject = try stream(event.subject, event.environment)
        var others: [Field: [UInt64]] = [:]
        for entry in event.data.entries where entry.field.placement == .stream {
            let names =
                switch entry.value {
                case .text(let name): [name]
                case .texts(let names): names
                default: [String]()
                }
            others[entry.field] = try names.map { name in
                try vault.reserveStream(
                    of: StreamName(
                        environment: event.environment.rawValue,
                        subject: Self.prefix(of: entry.field, in: event) + name
                    )
                )
            }
        }
        return (subject, others)
    }

    private func stream(_ subject: Subject, _ environment: StoreEnvironment) throws -> UInt64 {
        if subject == .catalog { return StreamNumber.catalog }
        return try vault.reserveStream(
            of: StreamName(subject, in: environment)
        )
    }

    /// What stands before a name in a stream field to make it a subject.
    static func prefix(of field: Field, in event: Event) -> String {
        switch field {
        case .purchase: "purchase/"
        case .alias: event.subject.kind == .purchase ? "purchase/" : "customer/"
        default: "customer/"
        }
    }

    /// Seals one event; nil if its record would be longer than one may be.
    ///
    /// `signal`: the digest of its id, where it is known.
    ///
    /// - Throws: what the vault throws.
    mutating func seal(
        _ event: Event,
        signal: SignalDigest? = nil,
        attached: Attached?
    ) throws -> SealedRecord? {
        let (subject, others) = try streams(of: event)
        let isCatalog = subject == StreamNumber.catalog
        let keys = isCatalog ? nil : try vault.keys(of: subject)
        let header = SealedRecord.Header(
            time: event.time.milliseconds,
            observedAt: event.observedAt.milliseconds,
            stream: subject,
            kind: event.kind.rawValue,
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
        if case .purchase(let name) = event.subject {
            facts.append(RecordMark.store, text: name.store)
        }
        for entry in event.data.entries {
            switch entry.field.placement {
            case .clear: facts.append(entry)
            case .sealed: identity.append(entry)
            case .tagged:
                identity.append(entry)
                if case .text(let id) = entry.value, let keys {
                    facts.append(entry.field, number: keys.tag(id))
                }
            case .stream: facts.append(entry.field, streams: others[entry.field] ?? [])
            }
        }
        return try SealedRecord(
            header: header,
            signal: signal ?? self.signal(of: event),
            facts: facts.bytes,
            identity: identity.bytes,
            key: keys,
            nonce: SealingNonce(using: &randomness),
            attached: attached?.kind ?? .none,
            attachedDigest: attached?.digest,
            otherStreams: others.values.flatMap { $0 }
        )
    }

    /// The digest that stands for the event's signal (E1).
    private func signal(of event: Event) -> SignalDigest {
        vault.digestSecret.signal(
            environment: event.environment.rawValue,
            source: event.source,
            id: event.id
        )
    }
}
