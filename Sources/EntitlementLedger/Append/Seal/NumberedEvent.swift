import Entitlements
import EventLog

/// An event whose names are numbers: nothing is left to do but to seal it.
struct NumberedEvent {
    var id: String
    var source: String
    var environment: StoreEnvironment
    /// The digest of its signal.
    var signal: SignalDigest
    /// The subject's stream.
    var stream: UInt64
    /// The store of a subject that is a purchase (K9).
    var store: String?
    var time: Instant
    var observedAt: Instant
    var data: EventData
    /// The streams that its data names, by field.
    var others: [(field: Field, streams: [UInt64])]

    /// The streams that a field names.
    func others(of field: Field) -> [UInt64] {
        others.first { $0.field == field }?.streams ?? []
    }

    /// All streams that it names, the subject's first.
    var streams: [UInt64] { [stream] + others.flatMap(\.streams) }
}

extension StreamResolver {
    /// Numbers an event; streams that are new are reserved.
    ///
    /// `signal`: the digest of its id, where it is known.
    func numbered(_ event: Event, signal: SignalDigest? = nil) throws -> NumberedEvent {
        var store: String?
        if case .purchase(let name) = event.subject { store = name.store }
        return NumberedEvent(
            id: event.id,
            source: event.source,
            environment: event.environment,
            signal: signal
                ?? vault.digestSecret.signal(
                    environment: event.environment.rawValue,
                    source: event.source,
                    id: event.id
                ),
            stream: event.subject == .catalog
                ? StreamNumber.catalog
                : try reserveStream(of: StreamName(event.subject, in: event.environment)),
            store: store,
            time: event.time,
            observedAt: event.observedAt,
            data: event.data,
            others: try others(of: event)
        )
    }

    private func others(of event: Event) throws -> [(field: Field, streams: [UInt64])] {
        var others: [(field: Field, streams: [UInt64])] = []
        for entry in event.data.entries where entry.field.placement == .stream {
            let names =
                switch entry.value {
                case .text(let name): [name]
                case .texts(let names): names
                default: [String]()
                }
            let prefix = Self.prefix(of: entry.field, in: event)
            let streams = try names.map { name in
                try reserveStream(
                    of: StreamName(
                        environment: event.environment.rawValue,
                        subject: prefix + name
                    )
                )
            }
            others.append((entry.field, streams))
        }
        return others
    }

    /// What stands before a name in a stream field to make it a subject.
    private static func prefix(of field: Field, in event: Event) -> String {
        switch field {
        case .purchase: "purchase/"
        case .alias: event.subject.kind == .purchase ? "purchase/" : "customer/"
        default: "customer/"
        }
    }
}
