/// Links from alias to name (C2, P13).
package struct SlowLinks {
    package init() {}

    private var inForce: [(alias: String, name: String)] = []

    /// C2: in sequence order; a newer link of an alias replaces the older one, one that would
    /// close a circle is passed over.
    package mutating func add(alias: String, name: String) {
        if passes(from: name, through: alias) { return }
        inForce.removeAll { $0.alias == alias }
        inForce.append((alias, name))
    }

    /// C2: links are followed to the end.
    package func end(of name: String) -> String {
        guard let link = inForce.first(where: { $0.alias == name }) else { return name }
        return end(of: link.name)
    }

    private func passes(from name: String, through other: String) -> Bool {
        if name == other { return true }
        guard let link = inForce.first(where: { $0.alias == name }) else { return false }
        return passes(from: link.name, through: other)
    }
}
