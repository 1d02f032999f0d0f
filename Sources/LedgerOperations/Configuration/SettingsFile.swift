import Encodings
import Entitlements

/// What a configuration file sets: one JSON object of strings, numbers, and true or false.
package struct SettingsFile: Sendable {
    /// Where it stands.
    package let path: String
    private let values: [Name: String]

    /// Reads a file that nobody else can have put there.
    ///
    /// Numbers, true and false are given as the text that a variable would hold.
    ///
    /// - Throws: `OperationFault` for a file that is not believed, or is of another form.
    package init(path: String) throws {
        try self.init(ConfigurationFile.read(path, ledger: nil), path: path)
    }

    /// Takes the bytes of a file.
    ///
    /// - Throws: as when it is read.
    package init(_ bytes: [UInt8], path: String) throws {
        self.path = path
        guard let members = (try? JSONValue(parsing: bytes))?.members else {
            throw OperationFault(
                .configuration,
                "the configuration file cannot be read",
                place: path,
                hint: "it must be one JSON object"
            )
        }
        values = Dictionary(
            try members.map { (Name($0.name), try Self.text($0, path)) },
            uniquingKeysWith: { _, last in last }
        )
    }

    private static func text(_ member: JSONMember, _ path: String) throws -> String {
        switch member.value {
        case .string(let text): return text
        case .number(let digits): return digits
        case .bool(let flag): return flag ? "true" : "false"
        case .null, .array, .object:
            throw OperationFault(
                .configuration,
                "expected a string, a number, true or false",
                place: path + ": " + member.name
            )
        }
    }

    /// A setting; nil: the file says nothing of it.
    package subscript(name: String) -> String? { values[Name(name)] }

    /// Refuses a member that sets nothing: a misspelt one would leave the default without a word.
    ///
    /// - Throws: `OperationFault`, with names near it.
    package func requireKnown(_ names: [String]) throws {
        let known = Set(names.map { Name($0) })
        guard let stranger = values.keys.filter({ !known.contains($0) }).min() else { return }
        let near = NearNames.near(stranger.text, among: names)
        throw OperationFault(
            .configuration,
            "there is no such setting",
            place: path + ": " + stranger.text,
            hint: near.isEmpty ? nil : "did you mean \(near.joined(separator: ", "))?"
        )
    }
}
