import Encodings
public import Entitlements

/// Whether features are open: a pure function of what is known of a customer, of the gate map and of
/// an instant (row CL6).
///
///     if service.gate.isOpen("export") { … }
///
/// It does no I/O, waits for nothing and takes no lock. The server's word, once seen, wins over the
/// map; the map answers for features of which the server said nothing.
public struct FeatureGate: Sendable, Hashable {
    private let known: Known
    /// The instant that is asked about.
    public let instant: Instant

    /// What is known of the customer.
    public var entitlements: CustomerEntitlements { known.entitlements }
    /// The closed map of gates; nil: there is none, and what is not known is closed.
    public var gates: GateMap? { known.gates }

    /// What all gates of one moment share: a gate is made without a copy of it.
    final class Known: Sendable, Hashable {
        let entitlements: CustomerEntitlements
        let gates: GateMap?

        init(_ entitlements: CustomerEntitlements, gates: GateMap?) {
            self.entitlements = entitlements
            self.gates = gates
        }

        static func == (left: Known, right: Known) -> Bool {
            left === right
                || (left.entitlements, left.gates) == (right.entitlements, right.gates)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(entitlements)
            hasher.combine(gates)
        }
    }

    /// Asks about an instant.
    public init(_ entitlements: CustomerEntitlements, gates: GateMap?, at instant: Instant) {
        self.init(Known(entitlements, gates: gates), at: instant)
    }

    init(_ known: Known, at instant: Instant) {
        self.known = known
        self.instant = instant
    }

    /// Whether a feature is open (row 4.3).
    ///
    /// Cost: a look-up by the feature's id, and its stretches.
    public func isOpen(_ feature: String) -> Bool {
        let name = Name(feature)
        let feature = known.entitlements.features[name]
        if feature?.stretch(at: known.entitlements.instant(instant)) != nil { return true }
        return (feature == nil && isFree(name)) || provisional(name) != nil
    }

    /// Whether a feature is open, why and until when, and what opens it where it is closed
    /// (rows 4.3, 4.4).
    public func decision(_ feature: String) -> FeatureDecision {
        let name = Name(feature)
        var decision = FeatureDecision(feature, isStale: entitlements.isStale(at: instant))
        let known = entitlements.features[name]
        let asked = entitlements.instant(instant)
        if let known, let stretch = known.stretch(at: asked) {
            decision.isOpen = true
            decision.source = entitlements.source
            decision.until = stretch.end
            decision.limit = known.limit(at: asked, behind: uses(of: name, at: asked))
            // The reason and what unlocks it were said of the instant at which they were asked for.
            if let asOf = entitlements.asOf, stretch.contains(asOf) {
                decision.reason = known.reason
                decision.sources = known.sources
            }
        } else if known == nil, isFree(name) {
            decision.isOpen = true
            decision.reason = .free
        } else if let provisional = provisional(name) {
            decision.isOpen = true
            decision.source = .provisional
            decision.reason = .purchase
            decision.until = provisional.until
        } else {
            decision.reason = AccessReason.none
            decision.source = known == nil ? .builtIn : entitlements.source
            decision.requiredProducts = gates?.products(opening: feature) ?? []
        }
        return decision
    }

    /// Goes on where a feature is open (row B3).
    ///
    /// - Throws: `SubscriptionRequired` with the feature and what opens it.
    public func require(_ feature: String) throws(SubscriptionRequired) {
        guard !isOpen(feature) else { return }
        throw SubscriptionRequired(
            feature: feature,
            products: gates?.products(opening: feature) ?? []
        )
    }

    /// What nothing is known of is open where the map says that it is free (rows B6, B8).
    private func isFree(_ feature: Name) -> Bool { known.gates?.isFree(feature) ?? false }

    /// Uses of a feature that count beside what the server said.
    private func uses(of feature: Name, at instant: Instant) -> Int {
        entitlements.uses.count {
            Name($0.feature) == feature && $0.counts(at: instant, beside: entitlements.sequence)
        }
    }

    /// The purchase that opens a feature longest before the server has recorded it.
    private func provisional(_ feature: Name) -> ProvisionalAccess? {
        guard !known.entitlements.provisional.isEmpty, let gates else { return nil }
        return known.entitlements.provisional
            .filter { instant < $0.until && gates.opens($0.productID, feature) }
            .max { $0.until < $1.until }
    }
}

extension GateMap {
    /// Whether a feature is open to all.
    fileprivate func isFree(_ feature: Name) -> Bool {
        // The first tier is `free` (K10).
        features[feature].map { $0.level.isSame(as: tiers.first) } ?? false
    }

    /// Whether what the device's store sells under an id opens a feature.
    fileprivate func opens(_ storeProductID: String, _ feature: Name) -> Bool {
        product(soldAs: storeProductID, in: Source.appStore)
            .flatMap { products[$0]?.features.holds(feature.text) } ?? false
    }
}
