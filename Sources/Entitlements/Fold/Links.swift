/// Several names of one customer (C2) or one purchase (P13), followed to the end.
public struct Links: Sendable {
    private var targets: [UInt64: UInt64] = [:]

    /// Reads links in the order of their sequence: each sets the target of its alias in place of
    /// an older one, unless it would close a circle; then it is passed over.
    ///
    /// - Parameters:
    ///   - facts: ascending by sequence; those of other kinds are passed over.
    ///   - kind: `customer.linked` or `purchase.linked`.
    public init(_ facts: [Fact], of kind: EventKind) {
        for fact in facts where fact.kind == kind {
            guard let alias = fact.other else { continue }
            if end(of: fact.subject, passing: alias) != nil { targets[alias] = fact.subject }
        }
    }

    /// The name at the end of the links.
    public func canonical(_ name: UInt64) -> UInt64 {
        var name = name
        while let target = targets[name] { name = target }
        return name
    }

    /// The end of a name's links, nil if they pass another name or start at it.
    private func end(of name: UInt64, passing other: UInt64) -> UInt64? {
        var name = name
        while name != other {
            guard let target = targets[name] else { return name }
            name = target
        }
        return nil
    }
}
