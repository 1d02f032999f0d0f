import EntitlementLedger
import Entitlements
import LedgerOperations
import Testing

/// What RevenueCat's API answers and what it exports, as an import takes them.
struct `An import from RevenueCat` {
    private static let subscription =
        #"{"purchase_date":"2026-01-01T00:00:00Z","original_purchase_date":"2025-12-01T00:00:00Z","#
        + #""expires_date":"2026-02-01T00:00:00Z","period_type":"normal","store":"play_store","#
        + #""store_transaction_id":"GPA.1..0","is_sandbox":SANDBOX}"#

    private static func subscriber(_ sandbox: [Bool]) -> String {
        let subscriptions = sandbox.enumerated().map { index, isSandbox in
            #""p\#(index)":"# + subscription.replacing("SANDBOX", with: "\(isSandbox)")
        }
        return #"{"request_date_ms":1768435200000,"subscriber":{"original_app_user_id":"ann","#
            + #""subscriptions":{\#(subscriptions.joined(separator: ","))},"non_subscriptions":{}}}"#
    }

    private static let list =
        #"{"object":"list","items":[],"next_page":null,"url":"/v2/projects/p/customers/u/purchases"}"#

    // row Z14
    @Test(arguments: [ImportFormat.auto, .revenuecat])
    func `takes answers of both versions, with who was asked for or without`(
        _ format: ImportFormat
    ) throws {
        try FileLedger.with { ledger throws in
            let bare = Self.subscriber([false])
            let asked = #"{"appUserId":"ben","observedAt":"2026-01-15T00:00:00Z","answer":"#
            let lines = [bare, "\(asked)\(bare)}", "\(asked)\(Self.list)}", Self.list]
            let report = try ledger.importing(lines) { $0.format = format }
            #expect(report.counts == [4, 0, 0], "\(report.refusals)")
            #expect(report.formats.map { "\($0.format) \($0.count)" } == ["revenuecat 4"])
            let again = try ledger.importing(lines) { $0.format = format }
            #expect(again.counts == [0, 4, 0] && again.differing == 0)
        }
    }

    // trap 3
    @Test func `takes two of a line that tells of production and of the sandbox`() throws {
        try FileLedger.with { ledger throws in
            // In a list of several, each refused line has its place.
            let line = "[\(Self.subscriber([false, true])),{},\(Self.subscriber([true]))]"
            let report = try ledger.importing([line]) { $0.onError = .skip }
            #expect(report.counts == [3, 0, 1])
            #expect(report.refusals.map(\.refusal.path) == ["[1].event"])
        }
    }

    private static let header =
        "rc_original_app_user_id,product_identifier,start_time,end_time,store,is_auto_renewable,"
        + "is_sandbox,store_transaction_id,original_store_transaction_id,custom_subscriber_attributes"

    private static func row(_ id: String, _ attributes: String = "") -> String {
        "ann,pro,2026-01-01 00:00:00,2026-02-01 00:00:00,app_store,true,false,\(id),o1,\(attributes)"
    }

    @Test(arguments: [ImportFormat.auto, .revenuecat], ["\n", "\r\n"])
    func `takes the rows of an export`(_ format: ImportFormat, _ end: String) throws {
        try FileLedger.with { ledger throws in
            let rows = [
                "\u{FEFF}" + Self.header, Self.row("o1"), "",
                Self.row("t2", #""{""$name"": {""value"": ""a, b\#(end)c""}}""#), Self.row("t3"),
            ]
            let file = Array(rows.map { $0 + end }.joined().utf8)
            let report = try ledger.importing(bytes: [file]) { $0.format = format }
            #expect(report.counts == [3, 0, 0], "\(report.refusals)")
            let periods = try (1..<10).compactMap { sequence in
                try ledger.open { try $0.questions.event(at: sequence) }
            }.compactMap { $0.event.data.text(.productKind) == nil ? nil : $0.event }
            #expect(periods.map { $0.data.text(.transactionID) } == ["o1", "t2", "t3"])
            #expect(Set(periods.map(\.subject.description)) == ["purchase/app_store/o1"])
            #expect(try ledger.importing(bytes: [file]) { $0.format = format }.counts == [0, 3, 0])
        }
    }

    @Test(arguments: [
        row("t1") + ",more", "ann,pro", row("t1", #"a"b"#), row("t1", #""a"b"#),
        row("t1", #""no end"#),
    ])
    func `refuses a row that has not a field for each column`(_ row: String) throws {
        try FileLedger.with { ledger throws in
            let lines = [Self.header, Self.row("o1"), row]
            let report = try ledger.importing(lines)
            #expect(report.counts == [1, 0, 1])
            #expect(report.refusals.map(\.line) == [3])
            #expect(report.refusals.map(\.refusal.code) == ["malformed"])
        }
    }

    @Test func `takes no other columns for an export, and the next file by itself`() throws {
        try FileLedger.with { ledger throws in
            let other = try ledger.importing(["a,b", "1,2"]) { $0.onError = .skip }
            #expect(other.counts == [0, 0, 2])
            let files = [Self.header + "\n" + Self.row("o1"), Self.subscriber([false])]
            #expect(try ledger.importing(bytes: files.map { Array($0.utf8) }).counts == [2, 0, 0])
        }
    }
}
