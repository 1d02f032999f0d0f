/// Several names of one customer (C2) or one purchase (P13), followed to the end.
package struct Links: Sendable {
    private var targets: [UInt64: Target] = [:]

    /// Where a name leads.
    private struct Target {
        var name: UInt64
        /// The link's place in the log.
        var sequence: UInt64
    }

    /// Reads links in the order of their sequence: each sets the target of its alias in place of
    /// an older one, unless it would close a circle; then it is passed over.
    ///
    /// - Parameters:
    ///   - facts: ascending by sequence; those of other kinds are passed over.
    ///   - kind: `customer.linked` or `purchase.linked`.
    package init(_ facts: [Fact], of kind: EventKind) {
        for fact in facts where fact.kind == kind { add(fact) }
    }

    /// No links.
    init() {}

    /// Adds the next one; whether a name leads elsewhere since.
    @discardableResult
    mutating func add(_ link: Fact) -> Bool {
        guard let alias = link.other, end(of: link.subject, passing: alias) != nil else {
            return false
        }
        let target = Target(name: link.subject, sequence: link.sequence)
        return targets.updateValue(target, forKey: alias)?.name != link.subject
    }

    /// Where a name's own link leads; nil: it has none.
    package func target(of name: UInt64) -> UInt64? { targets[name]?.name }

    /// The name at the end of the links.
    package func canonical(_ name: UInt64) -> UInt64 {
        var name = name
        while let target = targets[name] { name = target.name }
        return name
    }

    /// The sequences of the links from a name to the end, in their order.
    func path(from name: UInt64) -> [UInt64] {
        var (name, sequences) = (name, [UInt64]())
        while let target = targets[name] {
            sequences.append(target.sequence)
            name = target.name
        }
        return sequences
    }

    /// Whether a link is in force; others were passed over or replaced.
    func isInForce(_ link: Fact) -> Bool {
        link.other.flatMap { targets[$0] }?.sequence == link.sequence
    }

    /// The end of a name's links, nil if they pass another name or start at it.
    private func end(of name: UInt64, passing other: UInt64) -> UInt64? {
        var name = name
        while name != other {
            guard let target = targets[name] else { return name }
            name = target.name
        }
        return nil
    }
}
