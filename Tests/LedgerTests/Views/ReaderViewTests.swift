import Entitlements
import EventLog
import LedgerAPI
import Testing

@testable import EntitlementLedger
@testable import PostingIndex

/// A reader writes no index: what comes in stands in its memory until it takes up what the writer wrote.
struct `Views of a reader that stays` {
    /// Lends a ledger of three customers, and a reader of it.
    private static func with(_ body: (ViewedLedger, Ledger) throws -> Void) async throws {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            try viewed.fill(customers: 0..<3, publishing: true)
            try body(viewed, viewed.open(isReadOnly: true))
        }
    }

    @Test func `take up what the writer has moved into the tables`() async throws {
        try await Self.with { viewed, reader in
            let views = reader.questions.views
            let first = views.position
            try viewed.fill(customers: 3..<6, publishing: false)
            try views.catchUp()
            // The control: so few stay in memory.
            #expect(views.position == first)
            let answers = try Answers(reader, customers: 0..<6)
            let size = try reader.questions.size()
            for _ in 0..<2 {
                // The second time there is nothing newer.
                try views.takeUpTables()
                #expect(views.position == size && views.end == size)
                #expect(try Answers(reader, customers: 0..<6) == answers)
            }
            try viewed.fill(customers: 6..<7, publishing: false)
            try views.catchUp()
            #expect(try reader.questions.size() > size)
            let anew = try viewed.open(isReadOnly: true)
            #expect(
                try Answers(reader, customers: 0..<7) == Answers(anew, customers: 0..<7)
            )
        }
    }

    // C6, K1: what is beyond what it read when it takes tables up, or makes them anew, is met as elsewhere
    @Test(arguments: [false, true]) func `tell of what stands in tables before it was read`(
        _ isMadeAnew: Bool
    ) async throws {
        try await Self.with { viewed, reader in
            let views = reader.questions.views
            let (end, catalog) = (views.end, StreamNumber.catalog)
            #expect(try views.isUnmoved(catalog, since: end))
            let writer = try viewed.open()
            _ = try writer.appender.publish(
                try Sample.catalog(),
                effective: Sample.day(30),
                Request(id: "c2", source: Source.catalog, environment: .production)
            )
            try writer.close()
            if isMadeAnew {
                try views.replace(views.tables, because: ViewDamage("a test says so"))
            } else {
                try views.takeUpTables()
            }
            #expect(try views.end > end && views.position == reader.questions.size())
            // Whoever keeps catalogs asks here.
            #expect(try !views.isUnmoved(catalog, since: end))
        }
    }
}
