import Entitlements

/// The second, slow and obvious implementation of model.md: each rule as it is written, asked
/// anew for each instant. It exists only to disagree with the fold.
struct SlowModel {
    /// The prefix known at R, in sequence order (T4).
    let log: [RecordedEvent]

    init(log: [RecordedEvent]) { self.log = log }

    /// The answer to `show`, without `known`, `sequence` and `token`.
    func show(customer: String, environment: StoreEnvironment, at: Instant) -> JSONValue {
        let world = SlowWorld(log: log, customer: customer, environment: environment)
        let now = world.core(at: at)
        let later = world.boundaries(after: at)

        // The first later instant at which the answer is another one.
        let validUntil = later.first { world.core(at: $0) != now }
        let features = now.features.map { feature -> JSONMember in
            // K6
            let until =
                feature.allowed
                ? later.first { !world.isAllowed(feature.id, at: $0) } : nil
            return JSONMember(feature.id, feature.json(until: until))
        }
        return .members([
            "customer": .string(customer), "environment": .string(environment.name),
            "at": .instant(at), "tier": .string(now.tier), "validUntil": .instant(validUntil),
            "features": .object(features),
            "purchases": .array(world.ownedPurchases(at: at).map { $0.json(at: at) }),
            "grants": .array(world.grantsJSON(at: at)), "trials": .array(world.trialsJSON(at: at)),
            "warnings": .array(world.warnings(at: at)),
        ])
    }
}

/// What `validUntil` watches.
struct SlowCore: Equatable {
    var tier: String
    var features: [SlowFeatureAnswer]
    var statuses: [String]
}

/// One feature at one instant, without `until`.
struct SlowFeatureAnswer: Equatable {
    var id: String
    var allowed: Bool
    var reason: String
    var sources: [String]
    var limit: JSONValue

    func json(until: Instant?) -> JSONValue {
        .members([
            "allowed": .bool(allowed), "until": .instant(until), "reason": .string(reason),
            "sources": .strings(sources), "limit": limit,
        ])
    }
}

extension RecordedEvent {
    var kind: EventKind { event.kind }
    var time: Instant { event.time }
    var data: EventData { event.data }

    /// T2: "newer" compares `(observedAt, sequence)`.
    func isNewer(than other: RecordedEvent) -> Bool {
        event.observedAt != other.event.observedAt
            ? event.observedAt > other.event.observedAt : sequence > other.sequence
    }

    /// Order by `(time, sequence)`.
    func isLater(than other: RecordedEvent) -> Bool {
        time != other.time ? time > other.time : sequence > other.sequence
    }
}

extension [RecordedEvent] {
    func of(_ kinds: EventKind...) -> [RecordedEvent] { filter { kinds.contains($0.kind) } }

    /// T2: the newest.
    var newest: RecordedEvent? {
        first { candidate in
            allSatisfy { $0.sequence == candidate.sequence || candidate.isNewer(than: $0) }
        }
    }

    var inOrderOfTime: [RecordedEvent] { sorted { $1.isLater(than: $0) } }
}

/// Texts in the order of their UTF-8 bytes, each once.
func sortedByBytes(_ texts: [String]) -> [String] {
    Set(texts).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
}

/// Links from alias to name (C2, P13).
struct SlowLinks {
    private var inForce: [(alias: String, name: String)] = []

    /// C2: in sequence order; a newer link of an alias replaces the older one, one that would
    /// close a circle is passed over.
    mutating func add(alias: String, name: String) {
        if passes(from: name, through: alias) { return }
        inForce.removeAll { $0.alias == alias }
        inForce.append((alias, name))
    }

    /// C2: links are followed to the end.
    func end(of name: String) -> String {
        guard let link = inForce.first(where: { $0.alias == name }) else { return name }
        return end(of: link.name)
    }

    private func passes(from name: String, through other: String) -> Bool {
        if name == other { return true }
        guard let link = inForce.first(where: { $0.alias == name }) else { return false }
        return passes(from: link.name, through: other)
    }
}
