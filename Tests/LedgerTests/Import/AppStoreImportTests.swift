import Entitlements
import Foundation
import LedgerOperations
import StoreSimulator
import Stores
import Testing

/// What the App Store signed, as an import takes it from files.
struct `An import of what the App Store signed` {
    /// What was signed in a life of a subscription.
    private static func signed(_ story: AppStoreStory) throws -> [String] {
        try story.account.notifications.map { notification in
            String(decoding: try story.store.signed(notification), as: UTF8.self)
        }
    }

    private static func options(_ story: AppStoreStory) -> Importer.Options {
        var options = Importer.Options()
        options.appStore = story.verifier
        options.clock = { Sample.day(120) }
        return options
    }

    /// Writes a file beside a ledger and returns its path.
    private static func file(_ text: String, beside scratch: ScratchLedger) throws -> String {
        let path = scratch.path + ".lines"
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    // A signature's text holds no CR, and a header no mark.
    @Test(arguments: ["\n", "\r\n"], [ImportFormat.auto, .appStore])
    func `takes a message a line, however the file's lines end`(
        _ end: String,
        _ format: ImportFormat
    ) async throws {
        let story = try AppStoreStory.wholeLife()
        let lines = try Self.signed(story).map { $0 + end }
        try await ScratchLedger.with { scratch in
            var options = Self.options(story)
            options.format = format
            var importer = Importer(scratch.ledger, options)
            try importer.run([Self.file("\u{FEFF}" + lines.joined(), beside: scratch)])
            let report = importer.report
            #expect(report.appended == lines.count, "\(report.refusals)")
            #expect(report.refused == 0)
        }
    }

    // What is tried again and again would fill the disk, if each time it were kept for each item.
    @Test func `keeps each text that it refuses once, and none that it took`() async throws {
        let story = try AppStoreStory.wholeLife()
        let good = try Self.signed(story).map { #"{"signedPayload":"\#($0)"}"# }
        let bad = ["eyJ", "eyI"].map { #"{"signedPayload":"\#($0)"}"# }
        let array = "[\(good[0]),\(bad[0]),\(good[1]),\(bad[1])]\n"
        // One text, which is no array, gives three items.
        let list = #"{"signedTransactions":["eyJ","eyI","eyM"]}"# + "\n"
        let rows: [(text: String, places: [String], counts: [Int])] = [
            (array, ["[1].signedPayload", "[3].signedPayload"], [2, 0, 2]),
            (list, (0..<3).map { "signedTransactions[\($0)]" }, [0, 0, 3]),
        ]
        for (text, places, counts) in rows {
            try await ScratchLedger.with { scratch in
                let quarantine = try ImportQuarantine(
                    ofLedgerAt: scratch.path,
                    masterKey: [UInt8](repeating: 7, count: 32)
                )
                var options = Self.options(story)
                options.format = .appStore
                options.onError = .quarantine
                var importer = Importer(scratch.ledger, options)
                try importer.run([Self.file(text, beside: scratch)], quarantine: quarantine)
                #expect(Self.counts(importer.report) == counts)
                #expect(importer.report.refusals.map(\.refusal.path) == places)
                for _ in 0..<2 {
                    var again = Importer(scratch.ledger, options)
                    try again.retry(quarantine)
                    #expect(Self.counts(again.report) == [0, 0, counts[2]])
                }
            }
        }
    }

    private static func counts(_ report: ImportReport) -> [Int] {
        [report.appended, report.duplicate, report.refused]
    }
}
