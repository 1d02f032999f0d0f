import Encodings
import Entitlements
import Testing

/// The command's own list of its options, so that a new one is not forgotten.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The command's paths` {
    /// Options and arguments with a value, as `COMMAND --option` or `COMMAND <argument>`.
    private static func named(_ command: JSONValue, _ path: [String] = []) -> [[String]] {
        let values = (command["arguments"]?.array ?? []).filter { $0["kind"]?.string != "flag" }
        let names = values.map { value in
            let isOption = value["kind"]?.string == "option"
            let name = (isOption ? value["preferredName"]?["name"] : value["valueName"])?.string
            return path + [isOption ? "--\(name ?? "")" : "<\(name ?? "")>"]
        }
        let below = (command["subcommands"]?.array ?? []).flatMap {
            named($0, path + [$0["commandName"]?.string ?? ""])
        }
        return names + below
    }

    @Test func `are all known, with what is done to them`() async throws {
        let help = try await EntitleCommand.run(["--experimental-dump-help"])
        let command = try #require(help.json?["command"])
        let names = Self.named(command)
        #expect(names.count > 300)
        var used: Set<String> = []
        for words in names {
            let whole = words.joined(separator: " ")
            let found = CommandPaths.all.filter { list in
                list.contains(whole) || list.contains(words[words.count - 1])
            }
            #expect(
                found.count == 1,
                "\(whole): say in CommandPaths what it is; one that is written has tests"
            )
            used.formUnion([whole, words[words.count - 1]])
        }
        #expect(CommandPaths.all.flatMap(\.self).filter { !used.contains($0) } == [])
    }

    @Test func `that are written are tried by the tests of their options`() {
        let tried = Set(`An option that names a file to write`.options.map(\.name))
        let others = CommandPaths.writtenFiles.subtracting(tried)
        // Each of them has a test beside, or its reason.
        #expect(
            others == [
                "simulate authority <file>", "simulate authority --root", "bench --partner-records",
            ]
        )
    }
}
