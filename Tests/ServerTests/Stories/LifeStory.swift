import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import ModelSupport
import Testing

/// One customer's life with one purchase or two, from `schemas/examples/stories`, and the questions
/// that its golden file answers.
struct LifeStory: CustomTestStringConvertible {
    let name: String
    let questions: [Question]

    struct Question {
        var customer: CustomerID = "ann"
        var feature = "export"
        /// T, a date.
        var at: String
        /// R, a date; nil: everything.
        var known: String?
    }

    var testDescription: String { name }

    private init(_ name: String, _ questions: Question...) {
        self.name = name
        self.questions = questions
    }

    /// Each at instants before and after what it tells of.
    static let all = [
        LifeStory("trial-converted", Question(at: "2026-01-08"), Question(at: "2026-02-01")),
        LifeStory("trial-cancelled", Question(at: "2026-01-10"), Question(at: "2026-01-20")),
        LifeStory("renewals", Question(at: "2026-03-10"), Question(at: "2026-05-01")),
        LifeStory(
            "grace-recovered",
            Question(at: "2026-02-07", known: "2026-02-07"),
            Question(at: "2026-02-12")
        ),
        LifeStory("grace-lost", Question(at: "2026-02-15"), Question(at: "2026-04-10")),
        LifeStory(
            "retry",
            Question(at: "2026-02-08", known: "2026-02-08"),
            Question(at: "2026-02-15")
        ),
        LifeStory(
            "pause",
            Question(at: "2026-01-24", known: "2026-01-24"),
            Question(at: "2026-01-24"),
            Question(at: "2026-01-29")
        ),
        LifeStory("upgrade", Question(at: "2026-01-10"), Question(at: "2026-01-20")),
        LifeStory(
            "downgrade",
            Question(at: "2026-02-01", known: "2026-02-01"),
            Question(at: "2026-02-10")
        ),
        LifeStory(
            "refund-current",
            Question(at: "2026-01-20", known: "2026-01-20"),
            Question(at: "2026-01-20")
        ),
        LifeStory("refund-older", Question(at: "2026-02-12")),
        LifeStory(
            "reversal",
            Question(at: "2026-01-14", known: "2026-01-14"),
            Question(at: "2026-01-20")
        ),
        LifeStory(
            "family-share",
            Question(at: "2026-01-10"),
            Question(at: "2026-01-20")
        ),
        LifeStory(
            "lifetime-beside-subscription",
            Question(at: "2026-01-20"),
            Question(at: "2026-03-01")
        ),
        LifeStory(
            "pending",
            Question(at: "2026-01-06", known: "2026-01-06"),
            Question(at: "2026-01-06"),
            Question(at: "2026-01-09")
        ),
        LifeStory(
            "transfer",
            Question(at: "2026-01-20"),
            Question(customer: "bob", at: "2026-01-20")
        ),
        LifeStory(
            "two-claims",
            Question(at: "2026-01-20"),
            Question(customer: "bob", at: "2026-01-20")
        ),
        LifeStory("extension", Question(at: "2026-02-10")),
        LifeStory(
            "late-and-repeated",
            Question(at: "2026-02-06", known: "2026-02-06"),
            Question(at: "2026-02-20")
        ),
        LifeStory(
            "sandbox-beside-production",
            Question(at: "2026-01-10"),
            Question(at: "2026-01-22"),
            Question(feature: "record", at: "2026-01-10"),
            Question(customer: "nobody", at: "2026-01-10")
        ),
    ]

    // MARK: Files

    private static let root: URL = {
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        return root
    }()

    private static let folder = root.appending(path: "schemas/examples/stories")

    var golden: URL { Self.folder.appending(path: "golden/\(name).txt") }

    /// The names of the stories that there are.
    static func names() throws -> Set<String> {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return Set(
            files.filter { $0.hasSuffix(".ndjson") && $0 != "catalog.ndjson" }
                .map { String($0.dropLast(".ndjson".count)) }
        )
    }

    /// The lines of the catalog, then those of the story.
    func lines() throws -> [JSONValue] {
        try ["catalog", name].flatMap { name in
            try String(
                contentsOf: Self.folder.appending(path: name + ".ndjson"),
                encoding: .utf8
            )
            .split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        }
    }

    /// Records the story, each event when it was recorded.
    func record(in server: TestServer) throws -> [Receipt] {
        try lines().flatMap { line in
            let recordedAt = try #require(
                line["recordedtime"]?.string.flatMap { Instant(rfc3339: $0) }
            )
            server.clock.now = max(server.clock.now, recordedAt)
            return try Self.record(line, in: server)
        }
    }

    /// Records what the story's people and stores told once more, as they tell it now: under other ids.
    func recordAgain(in server: TestServer) throws -> [Receipt] {
        try lines().filter { $0["type"] != "catalog.published" }.flatMap { line in
            let others = (line.members ?? []).filter { $0.name != "id" }
            let id = try #require(line["id"]?.string) + "-again"
            return try Self.record(.object(others + [JSONMember("id", .string(id))]), in: server)
        }
    }

    private static func record(_ line: JSONValue, in server: TestServer) throws -> [Receipt] {
        let members = (line.members ?? []).filter { $0.name != "recordedtime" }
        let event = try Event(validating: .object(members))
        return try server.ledger.appender.record([Submission(event: event)])
    }
}
