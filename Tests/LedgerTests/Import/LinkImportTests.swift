import Entitlements
import Foundation
import LedgerOperations
import Testing

@testable import EntitlementLedger

/// Links of a customer's names, as an import takes them from files (Stores, rule 7; C2).
struct `An import of customers who go by several names` {
    /// A webhook that names a customer by another name; two are as long as what is read at once.
    private static func webhook(_ number: Int, _ customer: String) -> String {
        let filler = String(repeating: "z", count: 900_000)
        let time = 1_767_225_660_000 + number
        return """
            {"event":{"id":"e\(number)","type":"RENEWAL","event_timestamp_ms":\(time),\
            "store":"APP_STORE","environment":"PRODUCTION","product_id":"pro.month",\
            "period_type":"NORMAL","purchased_at_ms":\(time),"expiration_at_ms":\(time + 1000),\
            "transaction_id":"t\(number)","original_transaction_id":"o","app_user_id":"\(customer)",\
            "original_app_user_id":"x","filler":"\(filler)"}}

            """
    }

    // A batch is decided while the one before it is recorded.
    @Test func `links them as one webhook after the other would`() async throws {
        try await ScratchLedger.with { scratch in
            let customers = ["ann", "ann", "bob", "bob", "ann", "ann"]
            let lines = customers.enumerated().map { Self.webhook($0.offset, $0.element) }
            let path = scratch.path + ".lines"
            try Data(lines.joined().utf8).write(to: URL(filePath: path))
            var importer = Importer(scratch.ledger)
            try importer.run([path])
            #expect(importer.report.appended == customers.count)
            let questions = scratch.ledger.questions
            let links = try (0..<questions.size()).compactMap { sequence in
                let event = try questions.event(at: sequence)?.event
                return event?.kind == .customerLinked ? event?.subject.description : nil
            }
            let changes = links.enumerated().filter { place, link in
                place == 0 || link != links[place - 1]
            }
            // One that is recorded once more than it had to be changes no answer.
            #expect(changes.map(\.element) == ["customer/ann", "customer/bob", "customer/ann"])
        }
    }
}
