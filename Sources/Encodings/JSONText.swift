/// A JSON text that was checked (RFC 8259), and where its values stand: nothing of it is copied but
/// what is asked for.
///
/// A value is named by its number: ``root`` is the whole. The first element of an array, or the name
/// of an object's first member, has the number behind its own; a member's value has the one behind
/// its name; what follows, ``next(after:)`` tells.
package struct JSONText: Sendable {
    private let bytes: [UInt8]
    private let places: JSONPlaces

    /// The whole.
    package static let root = 0

    /// Names and values that a text which somebody sends may have.
    ///
    /// Each takes dozens of bytes in memory, so that a text of nothing but short ones would take
    /// many times its own length; what programs write has longer ones on average.
    package static func placeLimit(of bytes: [UInt8]) -> Int { bytes.count / 8 + 10_000 }

    /// Reads one JSON text, as strictly as a ``JSONValue`` is read.
    ///
    /// `placeLimit`: how many names and values it has at most.
    ///
    /// - Throws: `JSONFault`. Cost: linear in the bytes.
    package init(parsing bytes: [UInt8], placeLimit: Int = .max) throws(JSONFault) {
        var reader = JSONReader(count: bytes.count, placeLimit: placeLimit)
        places = try reader.document(bytes.span)
        self.bytes = bytes
    }

    /// Lays out a value as if it had been read.
    ///
    /// Cost: linear in its parts.
    package init(_ value: JSONValue) {
        var bytes: [UInt8] = []
        var places = JSONPlaces()
        places.append(value, &bytes)
        self.bytes = bytes
        self.places = places
    }

    /// The number behind a value and all that stands in it.
    package func next(after node: Int) -> Int { places.next(after: node) }

    /// How many members an object has; nil: it is none.
    package func memberCount(of node: Int) -> Int? { places.count(of: node, .object) }

    /// How many elements an array has; nil: it is none.
    package func elementCount(of node: Int) -> Int? { places.count(of: node, .array) }

    /// The text of a string; nil: it is none.
    package func string(_ node: Int) -> String? { places.string(node, bytes.span) }

    /// The digits of a number as they were written; nil: it is none.
    package func number(_ node: Int) -> String? { places.number(node, bytes.span) }

    /// A truth value; nil: it is none.
    package func bool(_ node: Int) -> Bool? { places.bool(node) }

    /// The place of a string among some words; nil: it is none of them, or no string.
    package func index(_ node: Int, in words: WordList) -> Int? {
        places.lend(node, bytes.span) { words.index(of: $0) } ?? nil
    }

    /// The instant that a string names (RFC 3339), milliseconds since 1970; nil: it names none.
    package func milliseconds(_ node: Int) -> Int64? {
        places.lend(node, bytes.span) { RFC3339.milliseconds(of: $0) } ?? nil
    }

    /// A value by itself.
    package func value(_ node: Int) -> JSONValue {
        var next = node
        return places.value(&next, bytes.span)
    }
}

/// The members of an object in their order: where the name of each stands, and its value.
///
/// The text is handed to each step, so that no step counts who else holds it.
package struct JSONMembers {
    private var node: Int
    private var left: Int

    /// `count`: how many there are.
    package init(of object: Int, _ count: Int) {
        node = object + 1
        left = count
    }

    /// The next member; nil: there is none.
    package mutating func next(in text: JSONText) -> (name: Int, value: Int)? {
        guard left > 0 else { return nil }
        left -= 1
        let name = node
        node = text.next(after: name + 1)
        return (name, name + 1)
    }
}
