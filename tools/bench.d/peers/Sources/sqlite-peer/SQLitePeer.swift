import Foundation

/// SQLite through GRDB, as a peer of tools/bench; prints one line of JSON.
@main
enum SQLitePeer {
    private static let usage = """
        sqlite-peer append RECORDS DIRECTORY CALLERS BATCH
        sqlite-peer state RECORDS DIRECTORY OPERATIONS SEED
        """

    static func main() async {
        do {
            print(try await measured(Array(CommandLine.arguments.dropFirst())))
        } catch {
            // The line that tools/bench shows.
            FileHandle.standardError.write(Data("sqlite-peer: \(error)\n".utf8))
            exit(2)
        }
    }

    private static func measured(_ words: [String]) async throws -> String {
        guard words.count == 5, let first = Int(words[3]), let second = UInt64(words[4]),
            first > 0
        else { throw PeerFault(usage) }
        let events = try RecordColumns.all(in: words[1])
        let table = try EventTable(in: words[2])
        let figures: Figures
        switch (words[0], second) {
        case ("append", 1): figures = try await table.append(events, callers: first)
        case ("append", _): figures = try table.append(events, groupsOf: Int(second))
        case ("state", _):
            _ = try table.append(events, groupsOf: events.count)
            figures = try table.states(of: events, operations: first, seed: second)
        default: throw PeerFault(usage)
        }
        guard try table.count() == events.count else { throw PeerFault("events are missing") }
        return figures.json(try table.version())
    }
}
