import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage
import LedgerAPI
import Stores
import Testing

/// Evidence closes with anybody whom its payload names (Storage, "Evidence").
struct `Evidence that names somebody` {
    private static let request = Request(
        id: "erase",
        source: Source.support,
        environment: .production
    )

    private static func webhook(_ type: String, _ members: String) throws -> Submission {
        try RevenueCatBody.submission(
            of: Array(
                """
                {"api_version":"1.0","event":{"id":"1","type":"\(type)",\
                "event_timestamp_ms":1767225660000,\(members)}}
                """.utf8
            )
        )
    }

    /// Members of noted messages: none of these says anything about the customer `ann`.
    private static let noted: [(type: String, members: String)] = [
        (
            "INVOICE_ISSUANCE",
            #""store":"STRIPE","original_transaction_id":"o","app_user_id":"ann""#
        ),
        ("OF_TOMORROW", #""store":"STRIPE","transaction_id":"o","aliases":["ann"]"#),
        ("TEST", #""app_user_id":"ann""#),
        ("TRANSFER", #""transferred_from":["ann"],"transferred_to":["ann"]"#),
        ("TRANSFER", #""paywall_id":"p","transferred_from":["ann"],"transferred_to":["bob"]"#),
        ("RENEWAL", #""environment":"MARS","app_user_id":"ann""#),
        (
            "RENEWAL",
            #""store":"STRIPE","original_transaction_id":"o","extra":[{"app_user_id":"ann"}]"#
        ),
        ("INVOICE_ISSUANCE", #""metadata":"{\"original_app_user_id\":\"\\u0061nn\"}""#),
    ]

    @Test(arguments: noted.indices)
    func `closes with them, whatever was made of it`(index: Int) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.record(
                Self.webhook(Self.noted[index].type, Self.noted[index].members)
            )
            try scratch.reopen()
            #expect(
                try scratch.ledger.questions.evidence(of: 0) != nil,
                "the key is as durable as the event"
            )
            let outcome = try scratch.ledger.eraser.erase(
                ["ann"],
                Self.request,
                reading: StoredEvidenceNames()
            )
            guard case .erased = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(try scratch.ledger.questions.evidence(of: 0) == nil)
            #expect(try scratch.ledger.auditor.audit().faults.isEmpty)
        }
    }

    @Test(arguments: [200, 256, 257, 5000])
    func `has no limit of names`(count: Int) async throws {
        let aliases = (0..<count).map { "\"who-\($0)\"" }.joined(separator: ",")
        for gone in ["who-0", "who-99", "who-\(count - 1)"] {
            try await ScratchLedger.with { scratch in
                _ = try scratch.ledger.appender.record(
                    Self.webhook(
                        "SUBSCRIBER_ALIAS",
                        #""app_user_id":"who-0","aliases":[\#(aliases)]"#
                    )
                )
                let isCrowded = count > SealedEvidence.streamLimit
                let attached = try #require(try scratch.directory.log.attached(at: 0))
                let seal = try #require(try SealedEvidence.seal(of: attached.span))
                #expect(seal.cover == (isCrowded ? .itself : .everybody))
                #expect(seal.streams.count == (isCrowded ? 1 : count))
                for other in ["who-x", CustomerID(stringLiteral: gone)] {
                    #expect(
                        try scratch.ledger.questions.evidence(of: 0) != nil,
                        "it opens until \(gone) goes"
                    )
                    _ = try scratch.ledger.eraser.erase(
                        [other],
                        Request(id: other.text, source: Source.support, environment: .production),
                        reading: StoredEvidenceNames()
                    )
                    try scratch.reopen()
                }
                #expect(try scratch.ledger.questions.evidence(of: 0) == nil)
                #expect(try scratch.ledger.auditor.audit().faults.isEmpty)
            }
        }
    }
}
