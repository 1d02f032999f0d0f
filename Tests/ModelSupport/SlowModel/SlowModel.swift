package import Encodings
package import Entitlements

/// The second, slow and obvious implementation of the model.
///
/// Each rule stands as it is written and is asked anew for each instant. It exists only to
/// disagree with the fold.
package struct SlowModel {
    /// The prefix known at R, in sequence order (T4).
    package let log: [RecordedEvent]

    package init(log: [RecordedEvent]) { self.log = log }

    /// Whether any event of an environment names a customer.
    package func hasSeen(_ customer: String, _ environment: StoreEnvironment) -> Bool {
        log.contains { recorded in
            guard recorded.event.environment == environment else { return false }
            var names = recorded.data.texts(.from) ?? []
            names += [recorded.data.text(.account)].compactMap(\.self)
            if case .customer(let id) = recorded.event.subject {
                names += [id.text] + [recorded.data.text(.alias)].compactMap(\.self)
            }
            return names.contains { $0.isSame(as: customer) }
        }
    }

    /// The answer to `show`, without `known`, `sequence` and `token`.
    package func show(customer: String, environment: StoreEnvironment, at: Instant) -> JSONValue {
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
            "warnings": .array(
                world.warnings(at: at)
                    + (hasSeen(customer, environment) ? [] : [.members(["code": "never_seen"])])
                    + world.doubts(at: at)
            ),
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

    // C5
    private var isUsedUp: Bool { limit["remaining"]?.integer == 0 }

    func json(until: Instant?) -> JSONValue {
        .members([
            "allowed": .bool(allowed), "usable": .bool(allowed && !isUsedUp),
            "refusal": allowed && isUsedUp ? "used_up" : .null, "until": .instant(until),
            "reason": .string(reason), "sources": .strings(sources), "limit": limit,
        ])
    }
}
