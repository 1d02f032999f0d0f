import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import ModelSupport
import Stores
import Testing

@testable import LedgerServer

/// Row 8.6: a life story as support gets it.
struct `An exported life story` {
    @Test(arguments: LifeStory.all)
    func `holds its events and is explained as support is told`(
        _ story: LifeStory
    ) async throws {
        try await TestServer.with { server in
            server.clock.now = Instant(milliseconds: 0)
            _ = try story.record(in: server)
            for question in story.questions where question.customer != "nobody" {
                let asked = CustomerQuestion(
                    customer: question.customer,
                    environment: .production,
                    point: BitemporalPoint(
                        at: try #require(Instant(dateOnly: question.at)),
                        knownAt: question.known.flatMap { Instant(dateOnly: $0) }
                            .map { .instant($0) } ?? .everything
                    )
                )
                let parts = try Self.parts(server.ledger, asked)
                #expect(try parts[.state] == [server.ledger.questions.show(asked).json])
                #expect(try parts[.events] == Self.events(server.ledger, asked))
                let explained = parts[.explanations]?.first {
                    $0["feature"]?.string == question.feature
                }
                #expect(try explained == Self.explanation(server.ledger, asked, question.feature))
            }
        }
    }

    private static func parts(
        _ ledger: Ledger,
        _ question: CustomerQuestion
    ) throws -> [ExportPart: [JSONValue]] {
        let plan = try ledger.exporter.exportPlan(
            of: question,
            redaction: .none,
            formats: [.ndjson]
        )
        let export = try ledger.exporter.export(plan, reading: StoredEvidenceNames())
        var parts: [ExportPart: [JSONValue]] = [:]
        for part in plan.files.flatMap(\.parts) {
            var position = LedgerExport.Position(part)
            while !position.isAtEnd {
                for line in try export.next(&position) {
                    let json = try JSONValue(parsing: Array(line.text.utf8))
                    parts[part, default: []].append(json)
                }
            }
        }
        return parts
    }

    private static func events(
        _ ledger: Ledger,
        _ question: CustomerQuestion
    ) throws -> [JSONValue] {
        let size = try ledger.questions.prefix(knownAt: question.point.knownAt)
        var filter = EventFilter(sequences: 0..<size)
        filter.customer = question.customer
        filter.environment = question.environment
        var events: [JSONValue] = []
        try ledger.questions.events(filter) { _, event in
            events.append(event)
            return true
        }
        return events
    }

    private static func explanation(
        _ ledger: Ledger,
        _ question: CustomerQuestion,
        _ feature: String
    ) throws -> JSONValue? {
        guard
            case .explained(let answer) = try ledger.questions.explain(
                feature,
                question,
                to: .support
            )
        else { return nil }
        return try JSONValue(parsing: AnswerText(answer).bytes)
    }
}
