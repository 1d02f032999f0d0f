import Encodings
import Foundation
import Testing

@testable import Scenarios

/// What the command carries is what is published (row Z21).
struct `The scenarios that the command carries` {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let source = package.appending(
        path: "Sources/Scenarios/PublishedScenarios+Texts.swift"
    )
    /// They are written anew instead of being held against the files.
    private static let isWritten =
        ProcessInfo.processInfo.environment["ENTITLE_WRITE_SCENARIOS"] != nil

    @Test func `are those of the folder, as it has them`() throws {
        let texts = try `A scenario`.files.map { file in
            let path = Self.package.appending(path: "schemas/scenarios/" + file)
            return try JSONValue(parsing: Array(Data(contentsOf: path))).description
        }
        if Self.isWritten {
            let lines = texts.map { ##"        #"\##($0)"#,"## }
            let head = """
                /// Written by `ENTITLE_WRITE_SCENARIOS=1 swift test --filter 'The scenarios that'`.
                extension PublishedScenarios {
                    /// The files, a line each.
                    static let texts = [

                """
            let source = head + lines.joined(separator: "\n") + "\n    ]\n}\n"
            return try Data(source.utf8).write(to: Self.source)
        }
        #expect(texts.count > 40)
        #expect(PublishedScenarios.texts == texts)
        let ids = try PublishedScenarios.all().map { $0.id + ".json" }
        #expect(ids == `A scenario`.files)
    }
}
