package import Encodings

/// Who saw which variant of an experiment, and bought (row B7).
///
/// An app names the experiment on the statements of its flows, as `EXPERIMENT/VARIANT` or
/// `EXPERIMENT`. A customer's first such statement is their exposure, once, whatever id they had
/// then (C2); a `flow.succeeded` that names the experiment, then or later, is their conversion. The
/// variant is the one that K8 gives by the catalog in force at the exposure; where that says none,
/// the one that the app stated.
package struct ExperimentReport: Sendable, Hashable {
    /// The variants by their key.
    package private(set) var variants: [Key: Counts] = [:]

    /// A variant of an experiment.
    package struct Key: Sendable, Hashable {
        /// The experiment's id.
        @Bytewise package var experiment: String
        /// The variant's id; nil: nobody says it.
        @Bytewise package var variant: String?
        /// Whether K8 gives it, or the app alone.
        package var isAssigned: Bool

        /// Makes a key.
        package init(experiment: String, variant: String?, isAssigned: Bool) {
            self.experiment = experiment
            self.variant = variant
            self.isAssigned = isAssigned
        }
    }

    /// Customers of a variant.
    package struct Counts: Sendable, Hashable {
        /// Those who saw it.
        package var exposures = 0
        /// Those who bought then or later.
        package var conversions = 0
        /// Those whose app stated another variant.
        package var mismatches = 0

        /// Nobody.
        package init() {}
    }

    /// An empty report.
    package init() {}

    /// Adds one customer.
    ///
    /// - Parameters:
    ///   - facts: all that is said of their flows, under any of their names, in any order.
    ///   - names: the texts of the facts.
    ///   - at: T; what was said of later times does not count yet.
    ///   - range: customers whose exposure lies in it count.
    ///   - known: the experiments of all catalogs.
    ///   - variant: K8's variant of an experiment by the catalog in force at an instant.
    package mutating func add(
        _ facts: some Collection<FlowFact>,
        _ names: FactNames,
        at: Instant,
        range: Interval,
        known: Set<Name>,
        variant: (_ experiment: String, Instant) -> String?
    ) {
        var stated: [Name: [Statement]] = [:]
        for fact in facts where fact.time <= at {
            guard let name = fact.experiment else { continue }
            let (experiment, variant) = Self.parts(names[name], among: known)
            stated[Name(experiment), default: []].append(Statement(fact: fact, variant: variant))
        }
        for (experiment, statements) in stated {
            guard
                let exposure = statements.min(by: { FlowFact.inTime($0.fact, $1.fact) }),
                range.contains(exposure.fact.time)
            else { continue }
            let assigned = variant(experiment.text, exposure.fact.time)
            let key = Key(
                experiment: experiment.text,
                variant: assigned ?? exposure.variant,
                isAssigned: assigned != nil
            )
            variants[key, default: Counts()].exposures += 1
            if statements.contains(where: { $0.fact.kind == .flowSucceeded }) {
                variants[key, default: Counts()].conversions += 1
            }
            if let assigned, let told = exposure.variant, !told.isSame(as: assigned) {
                variants[key, default: Counts()].mismatches += 1
            }
        }
    }

    /// What a flow says of an experiment.
    private struct Statement {
        var fact: FlowFact
        var variant: String?
    }

    /// Experiment and variant: the longest that is known, and what stands behind its slash; where none is, what
    /// stands before the first slash, and what after it.
    static func parts(
        _ text: String,
        among known: Set<Name>
    ) -> (experiment: String, variant: String?) {
        if known.contains(Name(text)) { return (text, nil) }
        for slash in text.utf8.indices.reversed() where text.utf8[slash] == UInt8(ascii: "/") {
            let experiment = String(text[..<slash])
            guard known.contains(Name(experiment)) else { continue }
            return (experiment, String(text[text.utf8.index(after: slash)...]))
        }
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { return (text, nil) }
        return (String(text[..<slash]), String(text[text.utf8.index(after: slash)...]))
    }

    /// Adds what was counted of other customers.
    package mutating func merge(_ other: ExperimentReport) {
        variants.merge(other.variants) { left, right in
            var sum = left
            sum.exposures += right.exposures
            sum.conversions += right.conversions
            sum.mismatches += right.mismatches
            return sum
        }
    }

    /// The control of an experiment by a catalog, which is the first variant that it lists, with its
    /// customers; nil for a variant that K8 does not give, and for the control itself.
    package func control(of key: Key, _ catalog: Catalog?) -> (id: String, share: Proportion)? {
        guard key.isAssigned,
            let first = catalog?.experiments.first(where: { $0.id.isSame(as: key.experiment) })?
                .variants.first,
            !first.id.isSame(as: key.variant)
        else { return nil }
        let id = first.id
        let counts = variants[Key(experiment: key.experiment, variant: id, isAssigned: true)]
        return (
            id,
            Proportion(
                successes: counts?.conversions ?? 0,
                trials: counts?.exposures ?? 0
            )
        )
    }
}
