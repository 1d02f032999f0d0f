import Encodings
package import Entitlements

/// How a variant of an experiment did (row B7): rates with 95 % confidence intervals.
public struct ExperimentRow: ReportRow {
    /// The experiment's id.
    public var experiment: String
    /// The variant's id; nil: nobody says it.
    public var variant: String?
    /// Whether the catalog gives this variant (K8), or the app alone says so.
    public var isAssigned: Bool
    /// Customers who saw it.
    public var exposures: Int
    /// Customers who saw it and bought then or later.
    public var conversions: Int
    /// Customers who saw it and whose app stated another variant.
    public var mismatches: Int
    /// The share that bought; nil: nobody saw it.
    public var rate: Double?
    /// Where the rate lies at least.
    public var rateLow: Double?
    /// Where it lies at most.
    public var rateHigh: Double?
    /// The variant that it is held against; nil: there is none, or it is that one.
    public var control: String?
    /// How much higher its rate is than the control's.
    public var difference: Double?
    /// Where that lies at least.
    public var differenceLow: Double?
    /// Where it lies at most.
    public var differenceHigh: Double?

    /// The report whose row this is.
    package static var kind: ReportKind { .experiments }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ExperimentRow",
        "Experiments by variant: rates with 95 % confidence intervals (Wilson, Newcombe)",
        Self.init
    ) {
        Field("experiment", \.experiment, .name)
        Field("variant", \.variant, .orNull(.text))
        Field(
            "isAssigned",
            \.isAssigned,
            .boolean,
            "Whether the catalog gives this variant, or the app alone says so"
        )
        Field("exposures", \.exposures, .count, "Customers who saw it")
        Field("conversions", \.conversions, .count, "Of these, who bought then or later")
        Field("mismatches", \.mismatches, .count, "Of these, whose app stated another variant")
        Field("rate", \.rate, .decimal)
        Field("rateLow", \.rateLow, .decimal)
        Field("rateHigh", \.rateHigh, .decimal)
        Field(
            "control",
            \.control,
            .orNull(.text),
            "The variant that it is compared with; null for that one itself, and for one that the catalog does not give"
        )
        Field("difference", \.difference, .decimal)
        Field("differenceLow", \.differenceLow, .decimal)
        Field("differenceHigh", \.differenceHigh, .decimal)
    }
}

extension ExperimentReport {
    /// A row for each variant, held against the first that the catalog lists.
    package func rows(_ catalog: Catalog?) -> [ExperimentRow] {
        variants.sorted { $0.key.order < $1.key.order }.map { key, counts in
            let share = Proportion(successes: counts.conversions, trials: counts.exposures)
            let control = control(of: key, catalog)
            let difference = control.flatMap { share.difference(to: $0.share) }
            return ExperimentRow(
                experiment: key.experiment,
                variant: key.variant,
                isAssigned: key.isAssigned,
                exposures: counts.exposures,
                conversions: counts.conversions,
                mismatches: counts.mismatches,
                rate: share.rate,
                rateLow: share.interval?.low,
                rateHigh: share.interval?.high,
                control: control?.id,
                difference: difference?.value,
                differenceLow: difference?.low,
                differenceHigh: difference?.high
            )
        }
    }
}

extension ExperimentReport.Key {
    fileprivate var order: (Name, Name, Int) {
        (Name(experiment), Name(variant ?? ""), isAssigned ? 0 : 1)
    }
}
