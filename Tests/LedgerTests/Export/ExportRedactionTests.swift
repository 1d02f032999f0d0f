import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import Testing

/// What an export hides (law 6, row 9.1).
struct `A redacted export` {
    /// Ids that show at a redaction, of all that there are.
    private static func shown(
        _ redaction: ExportRedaction
    ) async throws -> Set<String> {
        var shown: Set<String> = []
        try await ScratchLedger.with { scratch in
            try ExportSample.fill(scratch.ledger)
            let export = try ExportSample.export(scratch.ledger, redaction, [.ndjson, .csv, .html])
            let text = try ExportInMemory(export).everything
            for id in ExportSample.customers + ExportSample.requests + ExportSample.purchases
                + ExportSample.signatures + ["CERTIFICATE"]
            where Self.forms(of: id).contains(where: { text.contains($0) }) {
                shown.insert(id)
            }
        }
        return shown
    }

    /// A text as it is, and as it stands within base64.
    private static func forms(of id: String) -> [String] {
        [id]
            + (0..<3).map { lead in
                let bytes = Array(repeating: UInt8(0), count: lead) + Array(id.utf8)
                return String(Base64.encode(bytes.span).dropFirst(4).dropLast(4))
            }
    }

    // The negative control: unless it is hidden, each is found.
    @Test func `shows everything where nothing is hidden`() async throws {
        let shown = try await Self.shown(.none)
        #expect(
            shown
                == Set(
                    ExportSample.customers + ExportSample.requests + ExportSample.purchases
                        + ExportSample.signatures + ["CERTIFICATE"]
                )
        )
    }

    @Test func `holds nothing that could be handed in again`() async throws {
        let shown = try await Self.shown(.signatures)
        #expect(
            shown
                == Set(ExportSample.customers + ExportSample.requests + ExportSample.purchases)
        )
    }

    @Test func `names nobody and holds no text that somebody wrote`() async throws {
        #expect(try await Self.shown(.names) == Set(ExportSample.purchases))
    }

    @Test func `holds what stands in the log in clear`() async throws {
        #expect(try await Self.shown(.all) == [])
    }

    // What is hidden is hidden from one who holds an export; all else stands.
    @Test func `says the same of access, whatever it hides`() async throws {
        try await ScratchLedger.with { scratch in
            try ExportSample.fill(scratch.ledger)
            var tiers: Set<String> = []
            var types: Set<[String]> = []
            for redaction in ExportRedaction.allCases {
                let files = try ExportInMemory(ExportSample.export(scratch.ledger, redaction))
                let state = try #require(files.json("state.json").first)
                tiers.insert(state["tier"]?.string ?? "")
                types.insert(try files.json("events.ndjson").compactMap { $0["type"]?.string })
            }
            #expect(tiers == ["pro"])
            #expect(types.count == 1)
        }
    }

    // OWASP, CSV injection; RFC 4180
    @Test func `as a table holds no formula`() async throws {
        try await ScratchLedger.with { scratch in
            try ExportSample.fill(scratch.ledger)
            let export = try ExportSample.export(scratch.ledger, .none, [.csv])
            let csv = try ExportInMemory(export).text("events.csv")
            #expect(csv.contains("'=cmd|'/c calc'!A0"))
            #expect(!csv.contains(",=cmd"))
            #expect(csv.hasPrefix("sequence,recorded,effective,event,product,price,"))
            let lines = csv.split(separator: "\r\n", omittingEmptySubsequences: false)
            #expect(lines.count == 1 + 10 + 1)
        }
    }

    @Test func `as a page runs nothing and loads nothing`() async throws {
        try await ScratchLedger.with { scratch in
            try ExportSample.fill(scratch.ledger)
            let export = try ExportSample.export(scratch.ledger, .none, [.html])
            let page = try ExportInMemory(export).text("export.html")
            #expect(!page.contains("<script"))
            #expect(
                page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'")
            )
            #expect(page.contains("<svg") && page.contains("prefers-color-scheme"))
            #expect(page.hasSuffix("</body></html>\n"))
            for tag in ["table", "tr", "td", "h2", "ol", "dl", "tbody", "svg"] {
                let opened = page.components(of: "<\(tag)>") + page.components(of: "<\(tag) ")
                #expect(opened == page.components(of: "</\(tag)>"), "\(tag)")
            }
            for reference in ["http://", "https://", "src=", "@import", "url(http"] {
                let harmless = page.replacing("http://www.w3.org/2000/svg", with: "")
                #expect(!harmless.contains(reference), "\(reference)")
            }
        }
    }
}

extension String {
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
