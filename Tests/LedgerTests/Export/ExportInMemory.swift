import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import LedgerOperations
import Stores

/// An export's files, held in memory to be looked at and tampered with.
struct ExportInMemory: ExportSource {
    var files: [String: [UInt8]] = [:]

    /// Writes everything that a plan asks for but databases.
    init(_ export: LedgerExport) throws {
        for file in export.plan.files where file.form != .database {
            var text = ExportText(file, of: export)
            var content = text.head
            for part in file.parts {
                var position = LedgerExport.Position(part)
                while !position.isAtEnd {
                    for line in try export.next(&position) {
                        content += text.text(part, line)
                    }
                }
            }
            files[file.name] = Array((content + text.tail).utf8)
        }
        try sign(export)
    }

    /// Makes a manifest over the files as they are now, as the ledger itself would.
    mutating func sign(_ export: LedgerExport) throws {
        let manifest = try export.manifest(of: described)
        files[ExportFile.manifest] = Array(manifest.text.utf8)
        files[ExportFile.signature] = Array(manifest.note.utf8)
    }

    /// The files that a manifest lists.
    private var described: [ExportedFile] {
        let signed = [ExportFile.manifest, ExportFile.signature]
        return files.filter { !signed.contains($0.key) }.sorted { $0.key < $1.key }
            .map { name, bytes in
                var digest = FileDigest()
                digest.add(bytes)
                return digest.file(name)
            }
    }

    /// A file as text; empty where there is none.
    func text(_ name: String) -> String { String(decoding: files[name] ?? [], as: UTF8.self) }

    /// The lines of a file as JSON.
    func json(_ name: String) throws -> [JSONValue] {
        try text(name).split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
    }

    /// Everything, as one text to search.
    var everything: String { files.keys.sorted().map(text).joined() }

    // MARK: ExportSource

    func read(_ name: String, _ body: ([UInt8]) throws -> Void) throws -> Bool {
        guard let bytes = files[name] else { return false }
        try body(bytes)
        return true
    }

    func lines(_ name: String) -> (any ExportLines)? {
        files[name].map { Lines(bytes: $0) }
    }

    func names() -> [String] { files.keys.sorted() }

    private final class Lines: ExportLines {
        private var rest: ArraySlice<UInt8>

        init(bytes: [UInt8]) { rest = bytes[...] }

        func next() -> [UInt8]? {
            guard !rest.isEmpty else { return nil }
            let line = rest.prefix { $0 != 0x0A }
            rest = rest[line.endIndex...].dropFirst()
            return Array(line)
        }
    }
}

/// A ledger with something of everything that an export shows.
enum ExportSample {
    static let customer: CustomerID = "ann-the-customer"
    /// Ids that must not show where they are hidden, by what hides them.
    static let customers = [customer.text, "anns-other-name"]
    static let requests = ["grant-of-ann", "use-of-ann", "flow-of-ann", "because-of-ann"]
    static let purchases = ["1000000077", "transaction-of-ann"]
    static let signatures = ["SIGNATURE-OF-APPLE"]

    /// `=cmd` begins like a formula of a spreadsheet, `<script>` like markup.
    static func fill(_ ledger: Ledger) throws {
        _ = try ledger.appender.publish(
            try Sample.catalog(),
            effective: Sample.newYear,
            Request(id: "catalog", source: Source.catalog, environment: .production)
        )
        let customer = "customer/\(customer)"
        var lines = Sample.ownedPurchase(customers[0], "app_store/" + purchases[0])
        lines += [
            Sample.line(
                "l",
                "customer.linked",
                customer,
                data: #"{"alias":"\#(customers[1])"}"#
            ),
            Sample.line(
                "g",
                "grant.given",
                customer,
                data: #"{"grantId":"grant-of-ann","tier":"pro","reason":"because-of-ann"}"#
            ),
            Sample.line(
                "u",
                "usage.recorded",
                customer,
                data: #"{"useId":"use-of-ann","featureId":"scan"}"#
            ),
            Sample.line(
                "=cmd|'/c calc'!A0",
                "flow.failed",
                customer,
                data: #"{"flowId":"flow-of-ann","errorCode":"STORE_PROBLEM_ERROR"}"#
            ),
            Sample.line(
                "<script>alert(1)</script>",
                "revocation.refunded",
                "purchase/app_store/" + purchases[0],
                data: #"{"transactionId":"transaction-of-ann","reason":"because-of-ann"}"#
            ),
            Sample.line(
                "x",
                "failure.recorded",
                customer,
                data: #"{"errorCode":"NETWORK_ERROR","retryable":true,"detail":"because-of-ann"}"#
            ),
        ]
        for index in 0..<300 {
            lines.append(
                Sample.line(
                    "o\(index)",
                    "grant.given",
                    "customer/other-\(index)",
                    data: #"{"grantId":"g","tier":"pro"}"#
                )
            )
        }
        for receipt in try ledger.appender.record(Sample.submissions(lines)) {
            guard case .appended = receipt else { throw LedgerFault(.contended, "\(receipt)") }
        }
        let event = try Sample.event(
            "signal",
            "purchase.renewed",
            "purchase/app_store/" + purchases[0],
            data: """
                {"transactionId":"t2","productId":"pro.month","productKind":"auto_renewable",\
                "expiresAt":"2026-03-01T00:00:00.000Z"}
                """
        )
        _ = try ledger.appender.record(
            Submission(
                id: "signal",
                source: Source.appStore,
                environment: .production,
                nature: .signal,
                drafts: [event.draft],
                evidence: signed(
                    #"{"productId":"pro.month","appAccountToken":"\#(customers[0])","nested":"\#(text(signed(#"{"transactionId":"transaction-of-ann","quantity":1}"#)))"}"#
                )
            )
        )
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// A compact JWS whose signature can be found again.
    private static func signed(_ payload: String) -> [UInt8] {
        let header = Base64.encode(Array(#"{"alg":"ES256","x5c":["CERTIFICATE"]}"#.utf8).span, .url)
        let signature = "SIGNATURE-OF-APPLE"
        return Array("\(header).\(Base64.encode(Array(payload.utf8).span, .url)).\(signature)".utf8)
    }

    static func question(_ customer: CustomerID = customer) -> CustomerQuestion {
        CustomerQuestion(
            customer: customer,
            environment: .production,
            point: BitemporalPoint(at: Sample.day(10), knownAt: .everything)
        )
    }

    /// Exports the customer.
    static func export(
        _ ledger: Ledger,
        _ redaction: ExportRedaction = .signatures,
        _ formats: [ExportFormat] = [.ndjson]
    ) throws -> LedgerExport {
        try ledger.exporter.export(
            ledger.exporter.exportPlan(of: question(), redaction: redaction, formats: formats),
            reading: StoredEvidenceNames()
        )
    }
}
