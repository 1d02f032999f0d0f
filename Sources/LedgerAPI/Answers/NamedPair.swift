import Encodings
import Entitlements

/// One thing by its name, as it was and as it is.
public struct NamedPair<Thing: JSONWritable>: Hashable, Sendable {
    /// Unique among its kind.
    public var name: String
    /// The members that differ, in their order; none where it came or went.
    public var changed: [String]
    /// How it was; nil: it was not there.
    public var before: Thing?
    /// How it is; nil: it is not there.
    public var after: Thing?
}

extension NamedPair: JSONWritable, Described where Thing: NamedThing {
    /// Its members, in the order in which they are written.
    package static var fields: Fields<Self> { Thing.pairFields }

    fileprivate static func fields(
        _ component: String,
        key: String,
        _ form: Form<String>
    ) -> Fields<Self> {
        Fields(component, "What differs of one thing", Self.init) {
            Field(key, \.name, form)
            Field(
                "changed",
                \.changed,
                .list(.text),
                "Members that differ; none where it came or went"
            )
            Field("before", \.before, .orNull(.object))
            Field("after", \.after, .orNull(.object))
        }
    }
}

extension NamedPair where Thing: NamedThing {
    /// What differs between two sets of things; by name.
    ///
    /// Names compare byte by byte, as the ledger's ids do. O(n log n).
    static func list(from before: [Keyed<Thing>], to after: [Keyed<Thing>]) -> [NamedPair] {
        func byName(_ things: [Keyed<Thing>]) -> [Name: Thing] {
            Dictionary(things.map { (Name($0.name), $0.value) }) { first, _ in first }
        }
        let (old, new) = (byName(before), byName(after))
        return Set(old.keys).union(new.keys).sorted().compactMap { name in
            guard old[name] != new[name] else { return nil }
            var changed: [String] = []
            if let was = old[name], let now = new[name] {
                changed = Thing.fields.changed(from: was, to: now)
            }
            return NamedPair(
                name: name.text,
                changed: changed,
                before: old[name],
                after: new[name]
            )
        }
    }

    /// `name`: of a thing that names itself.
    static func list(
        from before: [Thing],
        to after: [Thing],
        _ name: (Thing) -> String
    ) -> [NamedPair] {
        list(
            from: before.map { Keyed(name($0), $0) },
            to: after.map { Keyed(name($0), $0) }
        )
    }
}

/// What differs by its name.
package protocol NamedThing: Described {
    /// The fields of what differs of one.
    static var pairFields: Fields<NamedPair<Self>> { get }
}

extension FeatureAccess: NamedThing {
    /// By `feature`.
    package static let pairFields = NamedPair<Self>.fields("FeatureChange", key: "feature", .name)
}

extension PurchaseState: NamedThing {
    /// By `purchase`.
    package static let pairFields = NamedPair<Self>.fields(
        "PurchaseChange",
        key: "purchase",
        .source
    )
}

extension GrantState: NamedThing {
    /// By `grantId`.
    package static let pairFields = NamedPair<Self>.fields(
        "GrantChange",
        key: "grantId",
        .identifier
    )
}

extension TrialState: NamedThing {
    /// By `trialId`.
    package static let pairFields = NamedPair<Self>.fields("TrialChange", key: "trialId", .name)
}
