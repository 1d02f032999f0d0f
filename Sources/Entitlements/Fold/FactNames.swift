import Encodings

/// An id of the catalog, or a list of such ids, as a small number: within one table, equal numbers
/// are equal texts.
package struct FactName: Sendable, Hashable {
    let number: UInt32
}

/// The texts behind the numbers of some facts, which hold no string so that they are copied and
/// sorted as plain bytes.
package struct FactNames: Sendable {
    fileprivate var texts: [String] = []
    fileprivate var lists: [[String]] = []

    /// The text of a name of this table.
    package subscript(name: FactName) -> String { texts[Int(name.number)] }

    /// The ids of a list of this table.
    func list(_ name: FactName) -> [String] { lists[Int(name.number)] }
}

/// Numbers ids while facts are read; an id that is known costs a look-up by its bytes and no
/// string.
package struct FactNameTable: Sendable {
    /// What was numbered so far.
    package private(set) var names = FactNames()
    /// The bytes of the texts, one after the other, and where each ends.
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    /// Open addressing by the hash of the bytes: a number plus one, or 0; a power of two of them.
    private var slots = [UInt32](repeating: 0, count: 16)
    private var listNumbers: [[Name]: UInt32] = [:]

    /// Makes an empty table.
    package init() {}

    /// The number of a text; nil if its bytes are not UTF-8.
    ///
    /// Cost: O(bytes); a text that is not known yet is kept for as long as the table.
    package mutating func name(utf8 text: Span<UInt8>) -> FactName? {
        var slot = Self.hash(text) & (slots.count - 1)
        while slots[slot] != 0 {
            let number = slots[slot] - 1
            if isText(number, text) { return FactName(number: number) }
            slot = (slot + 1) & (slots.count - 1)
        }
        guard let valid = try? UTF8Span(validating: text) else { return nil }
        names.texts.append(String(copying: valid))
        for index in text.indices { bytes.append(text[index]) }
        ends.append(bytes.count)
        let number = UInt32(ends.count)
        slots[slot] = number
        if ends.count * 2 > slots.count { spread() }
        return FactName(number: number - 1)
    }

    /// The number of a text.
    package mutating func name(_ text: String) -> FactName {
        guard let name = name(utf8: Array(text.utf8).span) else {
            preconditionFailure("a string is UTF-8")
        }
        return name
    }

    /// The number of a list of ids.
    package mutating func list(_ ids: [String]) -> FactName {
        let key = ids.map { Name($0) }
        if let known = listNumbers[key] { return FactName(number: known) }
        let number = UInt32(names.lists.count)
        names.lists.append(ids)
        listNumbers[key] = number
        return FactName(number: number)
    }

    private func range(_ number: Int) -> Range<Int> {
        (number == 0 ? 0 : ends[number - 1])..<ends[number]
    }

    private func isText(_ number: UInt32, _ text: Span<UInt8>) -> Bool {
        let range = range(Int(number))
        guard range.count == text.count else { return false }
        let known = bytes.span.extracting(range)
        for index in text.indices where known[index] != text[index] { return false }
        return true
    }

    /// Twice the slots.
    private mutating func spread() {
        slots = [UInt32](repeating: 0, count: slots.count * 2)
        for number in ends.indices {
            var slot = Self.hash(bytes.span.extracting(range(number))) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = UInt32(number) + 1
        }
    }

    /// Keyed by the process (SipHash): nobody can choose ids that meet.
    private static func hash(_ text: Span<UInt8>) -> Int {
        var hasher = Hasher()
        var position = 0
        while text.count - position >= 8 {
            var word: UInt64 = 0
            for byte in 0..<8 { word |= UInt64(text[position + byte]) << UInt64(byte * 8) }
            hasher.combine(word)
            position += 8
        }
        var rest = UInt64(text.count)
        while position < text.count {
            rest = rest << 8 | UInt64(text[position])
            position += 1
        }
        hasher.combine(rest)
        return hasher.finalize()
    }
}
