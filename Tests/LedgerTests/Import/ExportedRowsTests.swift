import EntitlementLedger
import Foundation
import LedgerOperations
import Testing

/// Rows of what RevenueCat exports, one of which is no row.
struct `A row with a stray quote` {
    private static let header =
        "rc_original_app_user_id,product_identifier,start_time,end_time,store,is_auto_renewable,"
        + "is_sandbox,store_transaction_id,original_store_transaction_id,custom_subscriber_attributes"

    private static func row(_ id: String, _ attributes: String = "") -> String {
        "ann,pro,2026-01-01 00:00:00,2026-02-01 00:00:00,app_store,true,false,\(id),o1,\(attributes)"
    }

    // Quotes that are odd in number are no field that goes on in the next line.
    @Test(arguments: [#"b"c"#, #""a"b"c"#])
    func `takes no other with it`(_ attributes: String) async throws {
        try await ScratchLedger.with { scratch in
            let rows = [
                Self.header, Self.row("o1"), Self.row("t2", attributes), Self.row("t3"),
                Self.row("t4"),
            ]
            let file = scratch.path + "-rows.csv"
            let text = rows.map { $0 + "\n" }.joined()
            try Data(text.utf8).write(to: URL(filePath: file))
            var options = Importer.Options()
            options.onError = .skip
            var importer = Importer(scratch.ledger, options)
            try importer.run([file])
            let report = importer.report
            #expect(report.appended == 3 && report.refused == 1, "\(report.refusals)")
            #expect(report.refusals.map(\.line) == [3])
        }
    }
}
