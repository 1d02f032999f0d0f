import Foundation
import Testing

/// The program that README and the pages show: another program that opens a ledger, records, asks at
/// (T, R) and explains, with what is public and nothing else (Package.swift: no package access).
@Suite(.enabled(if: BuiltProgram.named("embedding") != nil, "no `embedding` beside the tests"))
struct `A program that embeds the ledger` {
    private static let answers = """
        known of 1 events: false by ["K1", "K5"]
        known of 2 events: true by ["K1", "C3", "K2"]

        """

    private static let receipts = [
        "appended(first: 0, count: 1) appended(first: 1, count: 1)\n",
        "duplicate(of: 0) duplicate(of: 1)\n",
    ]

    @Test func `opens it in one call, records, asks and explains; again it records nothing`()
        throws
    {
        try withTemporaryFolder { folder in
            for receipts in Self.receipts {
                let outcome = try BuiltProgram.run("embedding", [folder + "/ledger"])
                #expect(outcome.code == 0)
                #expect(outcome.output == receipts + Self.answers)
            }
        }
    }
}

/// Programs of this package, run as processes of their own.
enum BuiltProgram {
    /// Beside the tests.
    static func named(_ name: String) -> String? {
        let folders = [Bundle.main.executableURL, URL(filePath: CommandLine.arguments[0])]
        return folders.compactMap { $0?.deletingLastPathComponent().appending(path: name).path }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs one to its end.
    static func run(
        _ name: String,
        _ arguments: [String]
    ) throws -> (code: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: try #require(named(name)))
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
