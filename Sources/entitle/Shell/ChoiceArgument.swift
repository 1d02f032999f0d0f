import ArgumentParser

/// A word of a closed set as an argument.
enum ChoiceArgument {
    /// The words that there are.
    static func words<Choice: CaseIterable & RawRepresentable<String>>(
        _ choices: Choice.Type
    ) -> String {
        choices.allCases.map(\.rawValue).joined(separator: ", ")
    }

    /// The choice of a word.
    @Sendable
    static func read<Choice: CaseIterable & RawRepresentable<String>>(
        _ word: String
    ) throws -> Choice {
        guard let choice = Choice(rawValue: word) else {
            throw ValidationError("expected one of: \(words(Choice.self))")
        }
        return choice
    }
}
