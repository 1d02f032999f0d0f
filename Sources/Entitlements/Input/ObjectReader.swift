package import Encodings

/// Reads the members of one JSON object, each refused with its path.
package struct ObjectReader: Hashable, Sendable {
    /// The object; of any other value no member is found.
    package let json: JSONValue
    /// Where the object stands; empty for the whole.
    package let path: String

    /// Takes any value: what is no object lacks every member.
    package init(_ json: JSONValue, at path: String = "") {
        self.json = json
        self.path = path
    }

    /// Takes an object whose members are all among `names`.
    ///
    /// `object`, `member`: what is said of another value and of another member.
    package init(
        _ json: JSONValue,
        at path: String = "",
        of names: Set<Name>,
        object: String = "expected an object",
        member: String = "not a member that is known"
    ) throws(InputFault) {
        self.init(json, at: path)
        guard let members = json.members else { throw InputFault(.malformed, path, object) }
        if let other = members.first(where: { !names.contains($0.name) }) {
            throw fault(other.name, member, .unknownMember)
        }
    }

    /// A member as it stands; nil: there is none.
    package func value(_ name: String) -> JSONValue? { json[name] }

    /// A member's text; nil: there is none, or it is something else, for forms of others whose rule
    /// is to pass over what is not understood.
    package func understood(_ name: String) -> String? { json[name]?.string }

    /// The path of a member.
    package func path(of name: String) -> String { path.isEmpty ? name : path + "." + name }

    /// A fault of one member.
    package func fault(
        _ name: String,
        _ detail: String,
        _ code: InputFault.Code = .invalidValue
    ) -> InputFault {
        InputFault(code, path(of: name), detail)
    }

    /// What a member that must be there stands for.
    ///
    /// `read`: nil where the value does not fit, which is refused with what is `expected`.
    package func required<Value>(
        _ name: String,
        _ expected: String,
        _ read: (JSONValue) -> Value?
    ) throws(InputFault) -> Value {
        guard let value = json[name].flatMap(read) else { throw fault(name, expected) }
        return value
    }

    /// What a member stands for; nil where it is absent or null.
    ///
    /// `read`: nil where the value does not fit, which is refused with what is `expected`.
    package func optional<Value>(
        _ name: String,
        _ expected: String,
        _ read: (JSONValue) -> Value?
    ) throws(InputFault) -> Value? {
        guard let value = json[name], !value.isNull else { return nil }
        guard let result = read(value) else { throw fault(name, expected) }
        return result
    }

    /// A text that is not empty; nil if absent.
    package func text(_ name: String) throws(InputFault) -> String? {
        try optional(name, "expected text", Self.text)
    }

    /// Texts that are not empty; nil if absent.
    package func texts(_ name: String) throws(InputFault) -> [String]? {
        guard let items = try optional(name, "expected an array of texts", \.array) else {
            return nil
        }
        var texts: [String] = []
        for (index, item) in items.enumerated() {
            guard let text = Self.text(item) else {
                throw fault("\(name)[\(index)]", "expected text")
            }
            texts.append(text)
        }
        return texts
    }

    /// A positive whole number; nil if absent.
    package func integer(_ name: String) throws(InputFault) -> Int64? {
        try optional(name, "expected a positive whole number") { json in
            json.integer.flatMap { $0 > 0 ? $0 : nil }
        }
    }

    /// True or false; nil if absent.
    package func flag(_ name: String) throws(InputFault) -> Bool? {
        try optional(name, "expected true or false", \.bool)
    }

    private static func text(_ json: JSONValue) -> String? {
        json.string.flatMap { $0.isEmpty ? nil : $0 }
    }
}
