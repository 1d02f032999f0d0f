import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import Testing

/// The catalogs of `schemas/examples/catalogs` with their permission matrices, every cell.
struct `An example app` {
    struct Row: Sendable, CustomTestStringConvertible {
        var catalog: String
        /// What a customer holds: a product as a store names it, a trial, or nothing.
        var holds: String
        /// For each feature of the document in its order: `y` or `-`.
        var cells: String

        var testDescription: String { "\(catalog): \(holds) \(cells)" }
    }

    // rows B1, B2, B4, 4.5: free < basic < premium; a feature without a level is premium
    private static let recorder = [
        // record playback history analysis spectrum export
        ("nothing", "yy----"),
        ("app_store recorder.basic.month", "yyyy--"), ("play_store basic-month", "yyyy--"),
        ("app_store recorder.premium.month", "yyyyyy"), ("play_store premium-year", "yyyyyy"),
        ("app_store basic-month", "yy----"), ("trial week", "yyyyyy"),
    ]

    // rows CL1, ES6: one unlock under old and new ids, a subscription, a single template
    private static let unlock = [
        // templates template.wedding watermark_free export
        ("nothing", "y---"), ("app_store unlock.pro", "yyyy"),
        ("app_store unlock.pro.2024", "yyyy"), ("play_store pro", "yyyy"),
        ("stripe pro.year", "yyyy"), ("app_store template.wedding", "yy--"),
    ]

    // rows PL1, PL2
    private static let messenger = [
        // signal chat bingo language_packs priority_support
        ("nothing", "yy---"), ("app_store coffee", "yy---"), ("app_store bingo", "yyy--"),
        ("play_store full", "yyyyy"),
    ]

    static let rows =
        recorder.map { Row(catalog: "recorder", holds: $0.0, cells: $0.1) }
        + unlock.map { Row(catalog: "unlock", holds: $0.0, cells: $0.1) }
        + messenger.map { Row(catalog: "messenger", holds: $0.0, cells: $0.1) }

    private static func document(_ name: String) throws -> JSONValue {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let file = folder.appending(path: "../../schemas/examples/catalogs/\(name).json")
        return try JSONValue(parsing: Array(try Data(contentsOf: file)))
    }

    private static func request(_ id: String) -> Request {
        Request(id: id, source: Source.support, environment: .production)
    }

    /// Gives ann what a row says.
    private static func give(_ holds: String, _ catalog: Catalog, _ ledger: Ledger) throws {
        let words = holds.split(separator: " ").map(String.init)
        guard words.count == 2 else { return }
        if words[0] == "trial" {
            let receipt = try ledger.appender.startTrial(words[1], for: "ann", request("trial"))
            guard case .appended = receipt else {
                Issue.record("no trial: \(receipt)")
                return
            }
            return
        }
        let kind = catalog.product(words[1], in: words[0])?.kind ?? .autoRenewable
        let lines = Sample.ownedPurchase(
            "ann",
            words[0] + "/1",
            product: words[1],
            kind: kind.name,
            until: nil
        )
        _ = try ledger.appender.record(Sample.submissions(lines))
    }

    // rows 4.1, 4.2, 4.3, 4.6
    @Test(arguments: rows)
    func `opens exactly the cells of its matrix`(_ row: Row) async throws {
        let document = try Self.document(row.catalog)
        let catalog = try Catalog(document: document)
        #expect(catalog.features.count == row.cells.count, "a cell for each feature")
        #expect(catalog.doubts.allSatisfy { $0.code == .opensNothing }, "\(catalog.doubts)")
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                document,
                effective: Sample.newYear,
                Self.request("catalog")
            )
            try Self.give(row.holds, catalog, scratch.ledger)
            let answer = try scratch.show("ann")
            let cells = catalog.features.map { feature in
                answer["features"]?[feature.id]?["allowed"]?.bool == true ? "y" : "-"
            }
            #expect(cells.joined() == row.cells)
            // The same gate by gate, by the hot path, and in the map that an app holds.
            for (feature, cell) in zip(catalog.features, cells) {
                let can = try scratch.ledger.questions.can(
                    "ann",
                    feature.id,
                    environment: .production,
                    at: scratch.clock.now
                )
                #expect(can == (cell == "y"), "\(feature.id)")
            }
            let words = row.holds.split(separator: " ").map(String.init)
            guard words.first != "trial" else { return }
            let held = words.count == 2 ? catalog.product(words[1], in: words[0])?.id : nil
            let map = GateMap(catalog)
            for (feature, cell) in zip(catalog.features, cells) {
                #expect(
                    map.isOpen(feature.id, to: held.map { [Name($0)] } ?? []) == (cell == "y"),
                    "\(feature.id)"
                )
            }
        }
    }

    // rows 1.2, 4.4: what to sell where a gate is closed
    @Test(arguments: [
        ("recorder", "export", ["premium.year", "premium.month"]),
        ("recorder", "spectrum", ["premium.month", "premium.year"]),
        ("recorder", "history", ["premium.month", "premium.year", "basic.month"]),
        ("recorder", "record", []),
        ("unlock", "template.wedding", ["pro.lifetime", "pro.year", "template.wedding"]),
        ("unlock", "export", ["pro.lifetime", "pro.year"]),
        ("messenger", "bingo", ["bingo", "full"]),
    ])
    func `leads from a closed gate to what opens it`(
        _ name: String,
        _ feature: String,
        _ products: [String]
    ) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                Self.document(name),
                effective: Sample.newYear,
                Self.request("catalog")
            )
            let shown = try scratch.ledger.questions.offering(
                for: feature,
                locale: LanguageTag("ja-JP"),
                at: BitemporalPoint(at: scratch.clock.now, knownAt: .everything),
                for: nil
            )
            #expect(shown?.products.map(\.id) == products)
            if name == "recorder", feature == "spectrum" {
                let texts = shown?.products.map { $0.text["title"]?.string }
                #expect(texts == ["プレミアム", "Premium, a year"])
            }
        }
    }

    // rows B7, PL5: who is in which variant sees which offering, for good
    @Test func `shows a variant's offering to whom it is assigned`() async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                Self.document("messenger"),
                effective: Sample.newYear,
                Self.request("catalog")
            )
            var first: [String: Int] = [:]
            for number in 0..<64 {
                let shown = try scratch.ledger.questions.offering(
                    for: nil,
                    locale: nil,
                    at: BitemporalPoint(at: scratch.clock.now, knownAt: .everything),
                    for: CatalogViewer(customer: "c\(number)", environment: .production)
                )
                let id = shown?.products.first?.id ?? ""
                first[id, default: 0] += 1
            }
            #expect(Set(first.keys) == ["bingo", "full"])
            #expect(first.values.allSatisfy { $0 > 12 }, "\(first)")
        }
    }
}
