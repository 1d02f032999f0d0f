import Encodings

/// An experiment whose variants override gates (K8).
package struct Experiment: Sendable, Hashable {
    /// Its id.
    package var id: String
    /// Variants in the order in which their weights are cumulated.
    package var variants: [Variant]

    /// One arm.
    package struct Variant: Sendable, Hashable {
        /// Its id.
        package var id: String
        /// Share of the total weight; the sum over the variants is positive.
        package var weight: Int64
        /// Features that are gated otherwise.
        package var overrides: [Override]
    }

    /// What a variant changes of one feature.
    package struct Override: Sendable, Hashable {
        /// The feature's id.
        package var feature: String
        /// Another level, by index.
        package var level: Int?
        /// Other limits, in place of all of the feature's.
        package var limits: [Int: Catalog.Limit]?
    }

    /// The variant of a customer (K8).
    ///
    /// `position`: the first 8 bytes of `SHA-256(experiment id || 0x00 || customer id)`
    /// as a big-endian integer; the position divided by 2^64 is x.
    package func variant(at position: UInt64) -> Variant? {
        let total = variants.reduce(UInt64(0)) { $0 + UInt64($1.weight) }
        guard total > 0 else { return nil }
        // x < cumulated / total  <=>  position * total < cumulated * 2^64, exactly.
        let scaled = position.multipliedFullWidth(by: total).high
        var cumulated: UInt64 = 0
        return variants.first { variant in
            cumulated += UInt64(variant.weight)
            return scaled < cumulated
        }
    }
}

extension Catalog {
    /// This catalog as a customer sees it: the overrides of their variants applied in the order
    /// of the experiments, the later winning (K8).
    ///
    /// `position`: for an experiment's id, where the customer stands.
    package func seen(position: (_ experiment: String) -> UInt64) -> Catalog {
        var catalog = self
        let overridden = experiments.map { experiment in
            experiment.variant(at: position(experiment.id))?.overrides ?? []
        }
        guard overridden.contains(where: { !$0.isEmpty }) else { return self }
        let places = Dictionary(
            features.indices.map { (Name(features[$0].id), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        for overrides in overridden {
            for override in overrides {
                guard let index = places[override.feature] else { continue }
                if let level = override.level { catalog.features[index].level = level }
                if let limits = override.limits { catalog.features[index].limits = limits }
            }
        }
        return catalog
    }
}
