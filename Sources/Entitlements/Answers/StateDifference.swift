public import Encodings

/// What differs between two states of one customer: at two effective instants, or as known at two
/// recorded ones (Model, "Questions").
///
/// Values are those of the `show` shape, so that applying the difference to the one state's members
/// gives the other's.
public struct StateDifference: Sendable, Hashable {
    /// The tier (K7).
    public var tier: ValueChange?
    /// The instant at which the answer changes by itself (row Z15).
    public var validUntil: ValueChange?
    /// By feature id.
    public var features: [NamedChange]
    /// By `STORE/ORIGINAL_ID`.
    public var purchases: [NamedChange]
    /// By `grantId`.
    public var grants: [NamedChange]
    /// By `trialId`.
    public var trials: [NamedChange]
    /// The lists of warnings.
    public var warnings: ValueChange?

    /// Compares two states.
    ///
    /// `names`: of both; the sequence of a grant's event means one grant for good.
    public init(
        from before: CustomerState,
        to after: CustomerState,
        names: some AnswerNames
    ) throws {
        self.init(
            from: try before.members(names: names),
            to: try after.members(names: names)
        )
    }

    /// Compares the members `tier` to `warnings` of two `show` answers; others are passed over.
    public init(from before: [JSONMember], to after: [JSONMember]) {
        let (before, after) = (JSONValue.object(before), JSONValue.object(after))
        func value(_ name: String) -> ValueChange? {
            ValueChange(before[name] ?? .null, after[name] ?? .null)
        }
        func things(_ part: Part) -> [NamedChange] {
            [NamedChange](from: part.things(of: before), to: part.things(of: after))
        }
        tier = value("tier")
        validUntil = value("validUntil")
        features = things(.features)
        purchases = things(.purchases)
        grants = things(.grants)
        trials = things(.trials)
        warnings = value("warnings")
    }

    /// Whether the two states say the same.
    public var isEmpty: Bool {
        tier == nil && validUntil == nil && features.isEmpty && purchases.isEmpty && grants.isEmpty
            && trials.isEmpty && warnings == nil
    }

    /// The members of the second state, made from those of the first.
    public func applied(to state: [JSONMember]) -> [JSONMember] {
        state.map { member in
            let value: JSONValue? =
                switch member.name {
                case "tier": tier?.after
                case "validUntil": validUntil?.after
                case "warnings": warnings?.after
                default:
                    Part(rawValue: member.name).map { part in
                        part.value(of: self[part].applied(to: part.things(in: member.value)))
                    }
                }
            return JSONMember(member.name, value ?? member.value)
        }
    }

    /// The members `tier` to `warnings` of the `diff` shape; null where a value stands.
    public var members: [JSONMember] {
        var members = [
            JSONMember("tier", tier?.json ?? .null),
            JSONMember("validUntil", validUntil?.json ?? .null),
        ]
        for part in Part.allCases {
            members.append(
                JSONMember(part.rawValue, .array(self[part].map { $0.json(key: part.key) }))
            )
        }
        members.append(JSONMember("warnings", warnings?.json ?? .null))
        return members
    }

    private subscript(part: Part) -> [NamedChange] {
        switch part {
        case .features: features
        case .purchases: purchases
        case .grants: grants
        case .trials: trials
        }
    }
}

/// The parts of a state that hold things by name.
private enum Part: String, CaseIterable {
    case features, purchases, grants, trials

    /// What names a thing of this part.
    var key: String {
        switch self {
        case .features: "feature"
        case .purchases: "purchase"
        case .grants: "grantId"
        case .trials: "trialId"
        }
    }

    func things(of state: JSONValue) -> [JSONMember] { things(in: state[rawValue] ?? .null) }

    /// Features are members of an object; the others name themselves.
    func things(in value: JSONValue) -> [JSONMember] {
        value.members
            ?? (value.array ?? []).map { JSONMember($0[key]?.string ?? "", $0) }
    }

    func value(of things: [JSONMember]) -> JSONValue {
        self == .features ? .object(things) : .array(things.map(\.value))
    }
}
