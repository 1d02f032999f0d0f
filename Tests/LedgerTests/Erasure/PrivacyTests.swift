import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import ModelSupport
import Testing

/// Law 6, row 9.1: no file of a ledger holds an id or a receipt in clear.
struct `No file of a ledger` {
    /// Strings that cannot stand anywhere by chance.
    private struct Secrets {
        private(set) var all: [String] = []

        mutating func make(_ name: String) -> String {
            let secret = "\(name)-\(UUID().uuidString)-\(UInt64.random(in: 0 ... .max))"
            all.append(secret)
            return secret
        }
    }

    /// The forms in which a text may stand in a file.
    private static func forms(of text: String) -> [(name: String, bytes: Data)] {
        let bytes = Data(text.utf8)
        let hex = bytes.map { String(format: "%02x", $0) }.joined()
        var forms = [
            ("UTF-8", bytes), ("hexadecimal", Data(hex.utf8)),
            ("upper hexadecimal", Data(hex.uppercased().utf8)),
            ("UTF-16", text.data(using: .utf16LittleEndian) ?? bytes),
        ]
        // Base64 depends on where in its three bytes a text begins; the ends are left out.
        for lead in 0..<3 {
            let encoded = (Data(repeating: 0, count: lead) + bytes).base64EncodedString()
            let whole = encoded.dropFirst(4).dropLast(8)
            forms.append(("base64 from \(lead)", Data(whole.utf8)))
        }
        return forms
    }

    /// The files that hold one of these texts in any form.
    private static func findings(_ texts: [String], below path: String) throws -> [String] {
        let files = try files(below: path)
        #expect(files.count > 6)
        return texts.flatMap { text in
            forms(of: text).flatMap { form in
                files.filter { $0.bytes.range(of: form.bytes) != nil }
                    .map { "\($0.path) holds \(text) as \(form.name)" }
            }
        }
    }

    // law 6; row 7.6, row 9.1
    @Test func `holds an id, a reason or a receipt in clear`() async throws {
        try await ScratchLedger.with { scratch in
            var secrets = Secrets()
            let ledger = scratch.ledger
            _ = try ledger.appender.publish(
                try Sample.catalog(),
                effective: Sample.newYear,
                // The catalog has no key: what names its publication is in clear like itself.
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            let lines = Self.lines(&secrets)
            for receipt in try ledger.appender.record(Sample.submissions(lines)) {
                guard case .appended = receipt else {
                    Issue.record("\(receipt)")
                    return
                }
            }
            for _ in 0..<3 {
                let body = Self.webhook(&secrets)
                _ = try ledger.appender.record(RevenueCatBody.submission(of: Array(body.utf8)))
            }
            Self.ask(ledger, &secrets)
            _ = try ledger.prover.checkpoint()
            // Some of it is in the overlay, some in tables, some rebuilt.
            _ = try ledger.auditor.rebuild()
            try scratch.reopen()
            try scratch.close()
            #expect(secrets.all.count > 40)
            let findings = try Self.findings(secrets.all, below: scratch.path)
            #expect(findings.isEmpty, "\(findings)")
        }
    }

    // The negative control: what is public by design is found, so the search can find.
    @Test func `hides a catalog, which is in clear`() async throws {
        try await ScratchLedger.with { scratch in
            var secrets = Secrets()
            let feature = secrets.make("feature")
            let document = try Sample.json(
                #"{"tiers":["free","pro"],"features":[{"id":"\#(feature)"}],"products":[]}"#
            )
            _ = try scratch.ledger.appender.publish(
                document,
                effective: nil,
                Request(id: "c", source: Source.catalog, environment: .production)
            )
            try scratch.close()
            let findings = try Self.findings([feature], below: scratch.path)
            #expect(findings.contains { $0.hasSuffix("UTF-8") && $0.hasPrefix("log/") })
            // Each encoded form is found where it stands.
            for form in Self.forms(of: feature) {
                try form.bytes.write(to: URL(filePath: scratch.path + "/planted"))
                let planted = try Self.findings([feature], below: scratch.path)
                #expect(planted.contains { $0.hasPrefix("planted") && $0.hasSuffix(form.name) })
            }
            let encoded = Data("x\(feature)y".utf8).base64EncodedData()
            try encoded.write(to: URL(filePath: scratch.path + "/planted"))
            let planted = try Self.findings([feature], below: scratch.path)
            #expect(planted.contains { $0.hasPrefix("planted") })
        }
    }

    /// One event of many kinds, every id and every reason a secret.
    private static func lines(_ secrets: inout Secrets) -> [String] {
        let customer = secrets.make("customer")
        let alias = secrets.make("alias")
        let other = secrets.make("other")
        let purchase = "app_store/" + secrets.make("original")
        let second = "play_store/" + secrets.make("token")
        let transaction = secrets.make("transaction")
        let (grant, use, flow) = (secrets.make("grant"), secrets.make("use"), secrets.make("flow"))
        let period = """
            {"transactionId":"\(transaction)","productId":"pro.month",\
            "productKind":"auto_renewable","expiresAt":"2026-02-01T00:00:00Z"}
            """
        let named = #"{"transactionId":"\#(transaction)""#
        let rows: [(type: String, subject: String, data: String)] = [
            ("purchase.completed", "purchase/" + purchase, period),
            ("purchase.linked", "purchase/" + purchase, #"{"alias":"\#(second)"}"#),
            (
                "purchase.expired", "purchase/" + purchase,
                named + #","reason":"\#(secrets.make("reason"))"}"#
            ),
            ("purchase.acknowledged", "purchase/" + second, named + "}"),
            (
                "verification.passed", "purchase/" + purchase,
                named + #","method":"manual","reason":"\#(secrets.make("reason"))"}"#
            ),
            (
                "revocation.refunded", "purchase/" + purchase,
                named + #","reason":"\#(secrets.make("reason"))"}"#
            ),
            ("customer.claimed", "customer/" + customer, #"{"purchase":"\#(purchase)"}"#),
            ("customer.linked", "customer/" + customer, #"{"alias":"\#(alias)"}"#),
            (
                "customer.transferred", "customer/" + other,
                #"{"from":["\#(customer)","\#(secrets.make("from"))"]}"#
            ),
            (
                "grant.given", "customer/" + customer,
                #"{"grantId":"\#(grant)","tier":"pro","reason":"\#(secrets.make("reason"))"}"#
            ),
            ("grant.withdrawn", "customer/" + customer, #"{"grantId":"\#(grant)"}"#),
            ("usage.recorded", "customer/" + customer, #"{"useId":"\#(use)","featureId":"scan"}"#),
            ("usage.reversed", "customer/" + customer, #"{"useId":"\#(use)"}"#),
            ("flow.failed", "customer/" + alias, #"{"flowId":"\#(flow)","errorCode":"CANCELLED"}"#),
            (
                "signal.noted", "customer/" + customer,
                #"{"name":"x","detail":"\#(secrets.make("detail"))"}"#
            ),
            (
                "failure.recorded", "purchase/" + second,
                #"{"errorCode":"DB_ERROR","retryable":true,"detail":"\#(secrets.make("detail"))"}"#
            ),
            (
                "access.logged", "customer/" + customer,
                #"{"actor":"\#(secrets.make("actor"))","action":"read","reason":"\#(secrets.make("reason"))"}"#
            ),
        ]
        return rows.map { Sample.line(secrets.make("event"), $0.type, $0.subject, data: $0.data) }
    }

    private static func webhook(_ secrets: inout Secrets) -> String {
        let mail = secrets.make("mail") + "@example.org"
        return RevenueCatBody.text(
            id: secrets.make("signal"),
            user: secrets.make("user"),
            expiration: 1_799_904_000_000,
            original: secrets.make("original"),
            transaction: secrets.make("transaction"),
            more: #","subscriber_attributes":{"$email":{"value":"\#(mail)"}}"#
        )
    }

    /// Names that were only asked for, and refused, leave nothing either.
    private static func ask(_ ledger: Ledger, _ secrets: inout Secrets) {
        let customer: CustomerID = "\(secrets.make("asked"))"
        let request = Request(
            id: secrets.make("request"),
            source: Source.app,
            environment: .production
        )
        _ = try? ledger.questions.show(
            CustomerQuestion(
                customer: customer,
                environment: .production,
                point: BitemporalPoint(at: Sample.newYear, knownAt: .everything)
            )
        ).json
        _ = try? ledger.appender.use("none", by: customer, amount: nil, unit: nil, request)
        _ = try? ledger.appender.withdraw(secrets.make("grant"), from: customer, request)
    }
}
