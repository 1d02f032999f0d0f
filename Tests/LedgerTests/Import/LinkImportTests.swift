import Entitlements
import LedgerAPI
import LedgerOperations
import Testing

@testable import EntitlementLedger

/// Links of a customer's names, as an import takes them from files (Stores, rule 7; C2).
struct `An import of customers who go by several names` {
    /// A batch of one webhook that names a customer by another name.
    private static func batch(_ number: Int, _ customer: String) -> ImportedLines {
        let time = 1_767_225_660_000 + number
        let webhook = """
            {"event":{"id":"e\(number)","type":"RENEWAL","event_timestamp_ms":\(time),\
            "store":"APP_STORE","environment":"PRODUCTION","product_id":"pro.month",\
            "period_type":"NORMAL","purchased_at_ms":\(time),"expiration_at_ms":\(time + 1000),\
            "transaction_id":"t\(number)","original_transaction_id":"o","app_user_id":"\(customer)",\
            "original_app_user_id":"x"}}
            """
        return ImportedLines(
            ImportBatch(lines: [ImportLine(line: number, bytes: Array(webhook.utf8))])
        )
    }

    // A batch is decided while the one before it waits for its turn.
    @Test func `links them as one webhook after the other would`() async throws {
        try await ScratchLedger.with { scratch in
            let place = ImportedLedger(scratch.ledger, Importer.Options())
            _ = try place.begin(Self.batch(1, "ann"))()
            let turns = [Self.batch(2, "bob"), Self.batch(3, "ann")].map { place.begin($0) }
            // Time for both to be decided; one that is decided later sees more.
            try await Task.sleep(for: .seconds(1))
            for turn in turns { #expect(try turn().count == 1) }
            let questions = scratch.ledger.questions
            let links = try (0..<questions.size()).compactMap { sequence in
                let event = try questions.event(at: sequence)?.event
                return event?.kind == .customerLinked ? event?.subject.description : nil
            }
            #expect(links == ["customer/ann", "customer/bob", "customer/ann"])
        }
    }
}
