import ArgumentParser
import Entitlements
import LedgerOperations

/// A command that there is not: the parser would count its words as unexpected arguments, this says
/// which was meant.
enum UnknownCommand {
    /// Refuses a word that stands where a command does and is none.
    ///
    /// - Returns: the command that the words begin with, as it is typed: `entitle catalog publish`.
    /// - Throws: `OperationFault` with near names.
    static func refuse(_ arguments: some Sequence<String>) throws -> String {
        var command: any ParsableCommand.Type = Entitle.self
        var names = [Entitle._commandName]
        for word in arguments {
            let parts = command.parts
            // Behind the last command stand its own arguments; an option may have a value.
            guard !parts.isEmpty, !word.hasPrefix("-"), word != "help" else { break }
            guard let part = parts.first(where: { $0.answers(to: word) }) else {
                throw OperationFault(
                    .usage,
                    "there is no command \(word)",
                    hint: hint(word, parts.map { $0._commandName })
                )
            }
            command = part
            names.append(part._commandName)
        }
        return names.joined(separator: " ")
    }

    private static func hint(_ word: String, _ names: [String]) -> String {
        let near = NearNames.near(word, among: names)
        return near.isEmpty
            ? "`entitle --help` lists them" : "did you mean \(near.joined(separator: " or "))?"
    }
}

extension ParsableCommand {
    /// Those in groups stand among them.
    fileprivate static var parts: [any ParsableCommand.Type] { configuration.subcommands }

    fileprivate static func answers(to word: String) -> Bool {
        word == _commandName || configuration.aliases.contains(word)
    }
}
