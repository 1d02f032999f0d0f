import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Stores
import Testing

/// An export's tables, as support opens them (row 8.6).
struct `An export's tables` {
    /// A name of which spreadsheets and their files make something else.
    private static let customer: CustomerID = #"=1+1,"ann-of-tables""#
    private static let reason = "she said \"no\",\nthen yes"

    /// A day after the first of January.
    private static func day(_ number: Int64) -> Instant { Sample.day(number + 1) }

    /// Bought on day 0 and renewed on day 31, of which the renewal was refunded; on day 40 somebody
    /// else's.
    private static func fill(_ ledger: Ledger) throws {
        _ = try ledger.appender.publish(
            Sample.catalog(),
            effective: Sample.newYear,
            Request(id: "catalog", source: Source.catalog, environment: .production)
        )
        func event(
            _ id: String,
            _ type: String,
            _ subject: Subject,
            _ day: Int64,
            _ members: KeyValuePairs<String, JSONValue>
        ) throws -> String {
            JSONValue.members([
                "specversion": "1.0", "id": .string(id), "source": "support",
                "type": .string(type), "subject": .string(subject.description),
                "time": .string(Self.day(day).description), "data": .members(members),
            ]).description
        }
        let purchase = try #require(Subject("purchase/app_store/p1"))
        func period(
            _ id: String,
            _ until: Int64,
            _ micros: Int64
        ) -> KeyValuePairs<String, JSONValue> {
            [
                "transactionId": .string(id), "productId": "pro.month",
                "productKind": "auto_renewable",
                "expiresAt": .string(Self.day(until).description),
                "priceMicros": .integer(micros), "currencyCode": "EUR",
            ]
        }
        let claim: KeyValuePairs<String, JSONValue> = ["purchase": "app_store/p1"]
        let verdict: KeyValuePairs<String, JSONValue> = ["method": "manual"]
        let refund: KeyValuePairs<String, JSONValue> = [
            "transactionId": "t2", "reason": .string(reason), "priceMicros": .integer(5_000_001),
            "currencyCode": "EUR",
        ]
        let lines = [
            try event("e1", "purchase.completed", purchase, 0, period("t1", 31, 4_990_000)),
            try event("e2", "verification.passed", purchase, 0, verdict),
            try event("e3", "customer.claimed", .customer(customer), 0, claim),
            try event("e4", "purchase.renewed", purchase, 31, period("t2", 60, 5_000_001)),
            try event("e5", "verification.passed", purchase, 31, verdict),
            try event("e6", "revocation.refunded", purchase, 35, refund),
            try event("e7", "customer.claimed", .customer("bob-of-tables"), 40, claim),
        ]
        for receipt in try ledger.appender.record(Sample.submissions(lines)) {
            guard case .appended = receipt else { throw LedgerFault(.contended, "\(receipt)") }
        }
    }

    private static func export(
        _ ledger: Ledger,
        _ redaction: ExportRedaction = .signatures,
        _ visibility: Visibility = .everything
    ) throws -> ExportInMemory {
        var question = ExportSample.question(customer)
        question.visibility = visibility
        let plan = try ledger.exporter.exportPlan(
            of: question,
            redaction: redaction,
            formats: [.csv]
        )
        return try ExportInMemory(ledger.exporter.export(plan, reading: StoredEvidenceNames()))
    }

    /// The rows of a table, each by its columns.
    private static func rows(_ file: String, _ export: ExportInMemory) throws -> [[Name: String]] {
        let records = Self.records(export.text(file))
        let columns = try #require(records.first).map { Name($0) }
        return try records.dropFirst().map { cells in
            try #require(cells.count == columns.count, "\(cells)")
            return Dictionary(uniqueKeysWithValues: zip(columns, cells))
        }
    }

    /// Reads records of RFC 4180.
    private static func records(_ text: String) -> [[String]] {
        var (records, cells, cell) = ([[String]](), [String](), "")
        var isQuoted = false
        var rest = Array(text.unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"" where isQuoted && rest.first == "\"":
                cell.unicodeScalars.append(scalar)
                rest = rest.dropFirst()
            case "\"": isQuoted.toggle()
            case "," where !isQuoted:
                cells.append(cell)
                cell = ""
            case "\r" where !isQuoted: continue
            case "\n" where !isQuoted:
                records.append(cells + [cell])
                (cells, cell) = ([], "")
            default: cell.unicodeScalars.append(scalar)
            }
        }
        return records
    }

    // The issue of support: what, when, for how much, what it was then, and whose
    @Test func `say of each event its product, price, status, refund and owner, in a sentence`()
        async throws
    {
        try await ScratchLedger.with { scratch in
            try Self.fill(scratch.ledger)
            let export = try Self.export(scratch.ledger)
            #expect(
                export.text("events.csv").hasPrefix(
                    "sequence,recorded,effective,event,product,price,currency,status,refund,owner,"
                        + "sentence,"
                )
            )
            let rows = try Self.rows("events.csv", export)
            #expect(rows.map { $0["id"] } == (1...7).map { "e\($0)" })
            #expect(
                rows.map { $0["event"] } == [
                    "Bought", "Verified", "Purchase claimed", "Renewed", "Verified", "Refunded",
                    "Purchase claimed",
                ]
            )
            #expect(rows.allSatisfy { $0["product"] == "pro.month" })
            #expect(rows.map { $0["price"] } == ["4.99", "", "", "5.000001", "", "5.000001", ""])
            #expect(rows.map { $0["currency"] } == ["EUR", "", "", "EUR", "", "EUR", ""])
            // As known at R: the renewal is refunded, from day 35 on and to nobody's loss before.
            let active = Array(repeating: "active", count: 5)
            #expect(rows.map { $0["status"] } == active + ["refunded", "refunded"])
            let refund = Self.day(35).description
            #expect(rows.map { $0["refund"] } == ["", "", "", refund, refund, refund, refund])
            let owner = "'" + Self.customer.text
            let owners = Array(repeating: owner, count: 6) + ["bob-of-tables"]
            #expect(rows.map { $0["owner"] } == owners)
            #expect(rows[0]["effective"] == Sample.newYear.description)
            #expect(rows[0]["recorded"] == scratch.clock.now.description)
            #expect(
                rows[3]["sentence"]
                    == "Renewed: transaction t2, product pro.month, product kind auto_renewable, "
                    + "expires at 2 Mar 2026, 00:00 UTC, price 5.000001 EUR."
            )
            #expect(rows[5]["sentence"]?.contains("reason “\(Self.reason)”") == true)
        }
    }

    // Spreadsheets split nothing and run nothing; what is not flat is not in them.
    @Test(arguments: ExportRedaction.allCases)
    func `hold no JSON and no formula in any cell`(_ redaction: ExportRedaction) async throws {
        try await ScratchLedger.with { scratch in
            try ExportSample.fill(scratch.ledger)
            try Self.fill(scratch.ledger)
            let sample = try ExportInMemory(
                ExportSample.export(scratch.ledger, redaction, [.csv])
            )
            for export in [sample, try Self.export(scratch.ledger, redaction)] {
                var count = 0
                for file in export.files.keys where file.hasSuffix(".csv") {
                    let rows = try Self.rows(file, export)
                    for cell in rows.flatMap(\.values) {
                        let json = try? JSONValue(parsing: Array(cell.utf8))
                        #expect(json?.members == nil && json?.array == nil, "\(file): \(cell)")
                        let isNumber = json.map { if case .number = $0 { true } else { false } }
                        #expect(
                            isNumber == true || !"=+-@".contains(cell.first ?? "x"),
                            "\(file): \(cell)"
                        )
                        count += 1
                    }
                }
                #expect(count > 0, "there are cells")
            }
        }
    }

    @Test func `name nobody where names are hidden, and others to nobody`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.fill(scratch.ledger)
            for redaction in [ExportRedaction.names, .all] {
                let text = try Self.export(scratch.ledger, redaction).everything
                #expect(!text.contains("of-tables") && !text.contains("she said"))
            }
            let masked = try Self.rows("events.csv", Self.export(scratch.ledger, .names))
            #expect(masked.allSatisfy { $0["owner"]?.hasPrefix("masked/") == true })
            #expect(masked.map { $0["status"] }.last == "refunded")
            // A customer's own export ends with their ownership.
            let own = try Self.rows("events.csv", Self.export(scratch.ledger, .signatures, .own))
            #expect(own.map { $0["id"] } == (1...6).map { "e\($0)" })
            #expect(own.allSatisfy { $0["owner"] == "'" + Self.customer.text })
        }
    }

    @Test func `have the values of evidence in rows, and all of it in the lines`() async throws {
        try await ScratchLedger.with { scratch in
            try ExportSample.fill(scratch.ledger)
            let export = try ExportInMemory(
                ExportSample.export(scratch.ledger, .signatures, [.csv, .ndjson])
            )
            let rows = try Self.rows("evidence.csv", export)
            let content = try #require(try export.json("evidence.ndjson").first?["content"])
            #expect(content["payload"]?["productId"]?.string == "pro.month")
            let values = rows.map { "\($0["member"] ?? "")=\($0["value"] ?? "")" }
            #expect(values.contains("payload.productId=pro.month"))
            #expect(values.contains("payload.nested.payload.quantity=1"))
            #expect(Set(rows.map { $0["digest"] }).count == 1)
            let steps = try Self.rows("steps.csv", export)
            let told = try export.json("explanations.ndjson").flatMap { $0["steps"]?.array ?? [] }
            #expect(steps.map { $0["sentence"] } == told.map { $0["text"]?.string })
            #expect(!told.isEmpty && steps.first?["step"] == "1")
        }
    }

    // A database joins tables: a cell is what SQLite has, too.
    @Test func `are flat in every form`() async throws {
        try await ScratchLedger.with { scratch in
            try ExportSample.fill(scratch.ledger)
            let export = try ExportSample.export(scratch.ledger, .none, [.sqlite])
            for table in export.plan.tables {
                var position = LedgerExport.Position(table.part)
                var count = 0
                while !position.isAtEnd {
                    for row in try export.next(&position).flatMap({ table.rows(of: $0) }) {
                        count += 1
                        #expect(row.count == table.columns.count, "\(table)")
                        #expect(row.allSatisfy { $0.array == nil && $0.members == nil }, "\(table)")
                    }
                }
                #expect(count > 0, "\(table)")
            }
            #expect(export.plan.tables.map(\.name) == ExportTable.allCases.map(\.name))
        }
    }
}
