/// Words of a closed list, found by their bytes: the words of a format, of which each line has many.
package struct WordList: Sendable {
    /// The words, in their order.
    package let words: [String]
    /// The bytes of all, one after another, and where each begins.
    private let bytes: [UInt8]
    private let starts: [Int]
    /// One more than the place of each word, at its hash or behind it; 0: none.
    private let slots: [UInt16]

    /// Lists words.
    ///
    /// - Precondition: none is there twice.
    package init(_ words: [String]) {
        self.words = words
        bytes = words.flatMap(\.utf8)
        starts = words.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.utf8.count) }
        var count = 8
        while count < 4 * words.count { count *= 2 }
        var slots = [UInt16](repeating: 0, count: count)
        for (index, word) in words.enumerated() {
            var slot = Self.hash(of: word.utf8Span.span) & (count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (count - 1) }
            slots[slot] = UInt16(index + 1)
        }
        self.slots = slots
    }

    /// The place of a word; nil: it is none of them.
    ///
    /// Cost: linear in the word, which is not copied.
    package func index(of word: Span<UInt8>) -> Int? {
        var slot = Self.hash(of: word) & (slots.count - 1)
        while slots[slot] != 0 {
            let index = Int(slots[slot]) - 1
            let range = starts[index]..<starts[index + 1]
            if bytes.span.extracting(range).holdsSame(as: word) { return index }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// The place of a word; nil: it is none of them.
    package func index(of word: String) -> Int? { index(of: word.utf8Span.span) }

    /// Length, first, middle and last byte tell the words of a format apart as a rule.
    private static func hash(of word: Span<UInt8>) -> Int {
        guard !word.isEmpty else { return 0 }
        let (first, middle) = (Int(word[0]), Int(word[word.count / 2]))
        return ((word.count * 31 + first) * 31 + middle) * 31 + Int(word[word.count - 1])
    }
}
