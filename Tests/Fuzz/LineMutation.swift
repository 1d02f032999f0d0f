import ModelSupport

/// Changes inputs of lines: a word of one becomes another, or a number at an end of its range.
struct LineMutation: InputMutation {
    private let words: [String]

    private static let numbers = [
        "0", "1", "999", "1000", "9223372036854775807", "9223372036854775808", "-1",
        "-9223372036854775808", "18446744073709551615", "18446744073709551616", "+1", "00", "1e9",
    ]
    /// What stands between words.
    private static let marks = Set("/?&=-,:.;+ ")

    /// Takes the words of the inputs that it begins with.
    init(_ seeds: [String]) {
        words = seeds.flatMap { $0.split { Self.marks.contains($0) || $0.isNewline } }
            .map(String.init)
    }

    func mutated(
        _ input: [UInt8],
        upTo limit: Int,
        using generator: inout SplitMix64
    ) -> [UInt8] {
        guard generator.chance(70) else { return LibFuzzer.mutated(input, upTo: limit) }
        var text = String(decoding: input, as: UTF8.self)
        let starts = text.indices.filter { index in
            !Self.marks.contains(text[index])
                && (index == text.startIndex
                    || Self.marks.contains(text[text.index(before: index)]))
        }
        guard !starts.isEmpty else { return LibFuzzer.mutated(input, upTo: limit) }
        let start = generator.pick(starts)
        let end = text[start...].firstIndex { Self.marks.contains($0) } ?? text.endIndex
        text.replaceSubrange(
            start..<end,
            with: generator.pick(generator.chance(50) ? Self.numbers : words)
        )
        let bytes = Array(text.utf8)
        return bytes.count <= limit ? bytes : input
    }
}
