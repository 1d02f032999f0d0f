import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import Testing

@testable import LedgerServer

/// Explanations of life stories, in every language, for everybody (row Z2).
struct `A life story` {
    /// With this set in the environment, the golden files are written anew:
    /// `ENTITLE_WRITE_GOLDEN=1 swift test --filter 'A life story'`.
    ///
    /// Read them before they are committed: a golden file says what is right.
    private static let rewriting = "ENTITLE_WRITE_GOLDEN"

    // row Z2
    @Test(arguments: LifeStory.all)
    func `is explained as its golden file says`(_ story: LifeStory) async throws {
        try await TestServer.with { server in
            server.clock.now = Instant(milliseconds: 0)
            let receipts = try story.record(in: server)
            #expect(receipts.allSatisfy { $0.isAppended })
            // E1: heard again, it is the same story.
            let again = try story.record(in: server)
            #expect(again.allSatisfy { !$0.isAppended })
            var text = ""
            for question in story.questions {
                for (audience, language) in Self.tellings {
                    text += try await Self.told(question, audience, language, server)
                }
            }
            if ProcessInfo.processInfo.environment[Self.rewriting] != nil {
                try FileManager.default.createDirectory(
                    at: story.golden.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try Data(text.utf8).write(to: story.golden)
            }
            let golden = try String(contentsOf: story.golden, encoding: .utf8)
            #expect(text == golden)
        }
    }

    @Test func `is among those that are shipped`() throws {
        #expect(LifeStory.all.count >= 20)
        let shipped = try LifeStory.names()
        #expect(shipped == Set(LifeStory.all.map(\.name)))
    }

    // What is told to customers may be shown to anybody: it names nothing internal.
    @Test(arguments: LifeStory.all)
    func `is told to customers without ids`(_ story: LifeStory) async throws {
        try await TestServer.with { server in
            server.clock.now = Instant(milliseconds: 0)
            _ = try story.record(in: server)
            var texts: [Audience: [String]] = [:]
            for question in story.questions {
                for audience in Audience.allCases {
                    for language in Language.allCases {
                        let answer = try await Self.answer(question, audience, language, server)
                        texts[audience, default: []] += Self.texts(answer)
                    }
                }
            }
            let names = try story.names()
            for text in texts[.customer] ?? [] {
                #expect(!text.isEmpty && !text.contains("{"))
                let named = names.filter { text.contains($0) }
                #expect(named.isEmpty, "\(text)")
                let mark = text.firstMatch(of: /[#\/_]|[A-Z][0-9]/)
                #expect(mark == nil, "\(text)")
            }
            // Control: to others they are told.
            for audience in [Audience.support, .developer] {
                let all = (texts[audience] ?? []).joined(separator: " ")
                let isNamed = names.contains { all.contains($0) }
                #expect(isNamed)
            }
        }
    }

    // Each language tells as much as the others, and in its own words.
    @Test func `is told in three languages`() async throws {
        let story = try #require(LifeStory.all.first { $0.name == "refund-current" })
        try await TestServer.with { server in
            server.clock.now = Instant(milliseconds: 0)
            _ = try story.record(in: server)
            let question = try #require(story.questions.last)
            var told: [[String]] = []
            for language in Language.allCases {
                told.append(
                    Self.texts(try await Self.answer(question, .customer, language, server))
                )
            }
            let counts = Set(told.map(\.count))
            let sentences = Set(told.flatMap(\.self)).count
            #expect(counts.count == 1)
            #expect(sentences == Set(told[0]).count * told.count)
        }
    }

    // rows Z1, Z2, T4: a store tells of a transaction, and of its refund, with each later message
    @Test(arguments: ["refund-current", "late-and-repeated"])
    func `is known since it was told first, however late it is told again`(
        _ name: String
    ) async throws {
        let story = try #require(LifeStory.all.first { $0.name == name })
        try await TestServer.with { server in
            server.clock.now = Instant(milliseconds: 0)
            _ = try story.record(in: server)
            let question = try #require(story.questions.last)
            let told = try await Self.answer(question, .support, .english, server)
            server.clock.now =
                server.clock.now.advanced(byMilliseconds: 30 * Instant.millisecondsPerDay)
            let again = try story.recordAgain(in: server)
            #expect(again.allSatisfy { $0.isAppended })
            let retold = try await Self.answer(question, .support, .english, server)
            // The control: what is told now is what the last messages say.
            #expect(retold["steps"] != told["steps"])
            #expect(retold["summary"]?.string == told["summary"]?.string)
            let texts = [told, retold].map { answer in
                answer["steps"]?.array?.map { $0["text"]?.string ?? "" } ?? []
            }
            #expect(texts[0] == texts[1])
            #expect(texts[0].joined().contains("(Known since "))
        }
    }

    // row Z2: whoever reads a rule's id reads beside it what it says
    @Test func `says what each rule says that it names`() async throws {
        let story = try #require(LifeStory.all.first { $0.name == "sandbox-beside-production" })
        try await TestServer.with { server in
            server.clock.now = Instant(milliseconds: 0)
            _ = try story.record(in: server)
            let question = try #require(story.questions.first)
            let answer = try await Self.answer(question, .developer, .english, server)
            let parts = ["steps", "wouldChange", "notUsed"].flatMap { answer[$0]?.array ?? [] }
            let rules = parts.map { $0["rule"]?.string.flatMap(Rule.init) }
            #expect(rules.contains(.k1) && rules.contains(nil))
            #expect(parts.map { $0["ruleText"]?.string } == rules.map { $0?.summary })
        }
    }

    @Test(arguments: Rule.allCases)
    func `knows each rule in one sentence`(_ rule: Rule) {
        #expect(rule.summary.count < 100)
        #expect(rule.summary.hasSuffix(".") && rule.summary.count { $0 == "." } == 1)
        #expect(Rule.allCases.count { $0.summary == rule.summary } == 1)
    }

    // MARK: Telling

    private static let tellings: [(Audience, Language)] =
        [(.developer, .english)]
        + [Audience.support, .customer].flatMap { audience in
            Language.allCases.map { (audience, $0) }
        }

    private static func answer(
        _ question: LifeStory.Question,
        _ audience: Audience,
        _ language: Language,
        _ server: TestServer
    ) async throws -> JSONValue {
        let known = question.known.map { "&known=" + $0 } ?? ""
        let answer = try await server.get(
            "/v1/customers/\(question.customer)/explain?feature=\(question.feature)"
                + "&at=\(question.at)\(known)&for=\(audience.rawValue)&lang=\(language.rawValue)",
            as: .support
        )
        #expect(answer.status == 200)
        return answer.json
    }

    private static func told(
        _ question: LifeStory.Question,
        _ audience: Audience,
        _ language: Language,
        _ server: TestServer
    ) async throws -> String {
        let answer = try await answer(question, audience, language, server)
        let known = question.known.map { " --known \($0)" } ?? ""
        var lines = [
            "$ entitle explain \(question.customer) \(question.feature) --at \(question.at)\(known)"
                + " --for \(audience.rawValue) --lang \(language.rawValue)",
            answer["summary"]?.string ?? "",
        ]
        for part in ["steps", "wouldChange", "notUsed"] {
            for entry in answer[part]?.array ?? [] {
                lines.append("  \(part): " + (entry["text"]?.string ?? ""))
            }
        }
        return lines.joined(separator: "\n") + "\n\n"
    }

    /// Every sentence of an answer.
    private static func texts(_ answer: JSONValue) -> [String] {
        let parts = ["steps", "wouldChange", "notUsed"].flatMap { answer[$0]?.array ?? [] }
        return ([answer["summary"]] + parts.map { $0["text"] }).map { $0?.string ?? "" }
    }
}

extension Receipt {
    fileprivate var isAppended: Bool {
        if case .appended = self { return true }
        return false
    }
}

extension LifeStory {
    /// Whatever names something in the story: ids, products, features, tiers, the people.
    fileprivate func names() throws -> Set<String> {
        var names: Set<String> = ["export", "record", "ann", "bob", "premium", "basic", "sandbox"]
        for line in try lines() {
            names.insert(line["id"]?.string ?? "")
            for part in (line["subject"]?.string ?? "").split(separator: "/") {
                names.insert(String(part))
            }
            for field in ["productId", "transactionId", "grantId", "purchase"] {
                if let value = line["data"]?[field]?.string { names.insert(value) }
            }
        }
        // Words that are no names, and short numbers that stand in dates.
        return names.filter { $0.count > 3 || $0 == "ann" || $0 == "bob" }
            .subtracting(["purchase", "customer", "catalog"])
    }
}
