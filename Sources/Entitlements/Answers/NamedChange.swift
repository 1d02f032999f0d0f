public import Encodings

/// One thing by its name, as it was and as it is: a feature, a purchase, a product of a catalog.
public struct NamedChange: Sendable, Hashable {
    /// Unique among its kind.
    public var name: String
    /// How it was; nil: it was not there.
    public var before: JSONValue?
    /// How it is; nil: it is not there.
    public var after: JSONValue?

    /// Makes a change.
    public init(name: String, before: JSONValue?, after: JSONValue?) {
        self.name = name
        self.before = before
        self.after = after
    }

    /// The members that differ, in their order; none where it came or went.
    public var changed: [String] {
        guard let before, let after else { return [] }
        let old = before.members ?? []
        let new = after.members ?? []
        let kept = new.filter { before[$0.name] != $0.value }.map(\.name)
        let gone = old.filter { after[$0.name] == nil }.map(\.name)
        return kept + gone
    }

    /// The change as JSON.
    ///
    /// `key`: what the name is called, such as `feature`.
    public func json(key: String) -> JSONValue {
        .object([
            JSONMember(key, .string(name)), JSONMember("changed", .strings(changed)),
            JSONMember("before", before ?? .null), JSONMember("after", after ?? .null),
        ])
    }
}

/// One value that is another one.
public struct ValueChange: Sendable, Hashable {
    /// What it was.
    public var before: JSONValue
    /// What it is.
    public var after: JSONValue

    /// A change between two values; nil: they are equal.
    public init?(_ before: JSONValue, _ after: JSONValue) {
        guard before != after else { return nil }
        self.before = before
        self.after = after
    }

    /// The change as JSON.
    public var json: JSONValue { .members(["before": before, "after": after]) }
}

extension [NamedChange] {
    /// What differs between two sets of things by name; by name.
    ///
    /// Names compare byte by byte, as the ledger's ids do. O(n log n).
    public init(from before: [JSONMember], to after: [JSONMember]) {
        self = []
        let old = before.byName
        let new = after.byName
        for member in before {
            let other = new[Array<UInt8>(member.name.utf8)]
            guard other != member.value else { continue }
            append(NamedChange(name: member.name, before: member.value, after: other))
        }
        for member in after where old[Array<UInt8>(member.name.utf8)] == nil {
            append(NamedChange(name: member.name, before: nil, after: member.value))
        }
        sort { $0.name.precedes($1.name) }
    }

    /// The things after these changes, by name.
    public func applied(to things: [JSONMember]) -> [JSONMember] {
        let changes = Dictionary(
            map { (Array<UInt8>($0.name.utf8), $0.after) },
            uniquingKeysWith: { _, last in last }
        )
        var result = things.filter { changes[Array<UInt8>($0.name.utf8)] == nil }
        for change in self {
            if let after = change.after { result.append(JSONMember(change.name, after)) }
        }
        return result.sorted { $0.name.precedes($1.name) }
    }
}

extension [JSONMember] {
    fileprivate var byName: [[UInt8]: JSONValue] {
        Dictionary(
            map { (Array<UInt8>($0.name.utf8), $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
    }
}
