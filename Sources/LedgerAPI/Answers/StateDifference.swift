import Encodings
public import Entitlements

/// What differs between two states of one customer: at two effective instants, or as known at two
/// recorded ones (T4, T5).
///
/// Values are those of `show`, so that applying the difference to the one state gives the other.
public struct StateDifference: Described {
    /// The tier (K7); nil: it stands.
    public var tier: Change<String>?
    /// The instant of the next change (Z15); nil: it stands.
    public var validUntil: Change<Instant?>?
    /// By feature.
    public var features: [NamedPair<FeatureAccess>]
    /// By purchase.
    public var purchases: [NamedPair<PurchaseState>]
    /// By grant.
    public var grants: [NamedPair<GrantState>]
    /// By trial.
    public var trials: [NamedPair<TrialState>]
    /// The lists of warnings; nil: they stand.
    public var warnings: Change<[StateWarning]>?

    /// Its members, in the order in which they are written.
    package static let fields = Fields("StateDifference", "What differs", Self.init) {
        Field("tier", \.tier, .orNull(.change(of: .name)))
        Field("validUntil", \.validUntil, .orNull(.change(of: .orNull(.instant))))
        Field("features", \.features, .list(.object))
        Field("purchases", \.purchases, .list(.object))
        Field("grants", \.grants, .list(.object))
        Field("trials", \.trials, .list(.object))
        Field("warnings", \.warnings, .orNull(.change(of: .list(.object))))
    }

    /// Whether the two states say the same.
    public var isEmpty: Bool {
        tier == nil && validUntil == nil && features.isEmpty && purchases.isEmpty && grants.isEmpty
            && trials.isEmpty && warnings == nil
    }
}

extension StateDifference {
    /// Compares two states.
    package init(from before: StateContent, to after: StateContent) {
        let changed = StateContent.fields.changed(from: before, to: after)
        func change<Value>(_ name: String, _ value: (StateContent) -> Value) -> Change<Value>? {
            changed.contains(name) ? Change(value(before), value(after)) : nil
        }
        self.init(
            tier: change("tier", \.tier),
            validUntil: change("validUntil", \.validUntil),
            features: NamedPair.list(from: before.features, to: after.features),
            purchases: NamedPair.list(from: before.purchases, to: after.purchases, \.purchase),
            grants: NamedPair.list(from: before.grants, to: after.grants, \.grantID),
            trials: NamedPair.list(from: before.trials, to: after.trials, \.trialID),
            warnings: change("warnings", \.warnings)
        )
    }
}

/// One value that is another one.
public struct Change<Value: Hashable & Sendable>: Hashable, Sendable {
    /// What it was.
    public var before: Value
    /// What it is.
    public var after: Value

    /// A change from one value to another.
    package init(_ before: Value, _ after: Value) {
        self.before = before
        self.after = after
    }
}

extension Form {
    static func change<Changed: Hashable & Sendable>(of form: Form<Changed>) -> Self
    where Value == Change<Changed> {
        let heads = ["before", "after"].map { AnswerText.head($0) }
        return Form(
            .object([Shape.Member("before", form.shape), Shape.Member("after", form.shape)]),
            write: { change, text in
                text.object { text in
                    text.member(heads[0]) { form.write(change.before, &$0) }
                    text.member(heads[1]) { form.write(change.after, &$0) }
                }
            },
            reading: { json in
                Change(
                    try InputFault.at("before") { try form.read(json?["before"]) },
                    try InputFault.at("after") { try form.read(json?["after"]) }
                )
            }
        )
    }
}
