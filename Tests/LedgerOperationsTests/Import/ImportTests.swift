import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import LedgerOperations
import Synchronization
import Testing

struct `A line that an import cannot take` {
    private static let before = FileLedger.grant("before")
    private static let after = FileLedger.grant("after")

    // Refused with the member's path
    @Test(arguments: BadLine.all)
    func `stops it, with a code and a path`(_ bad: BadLine) throws {
        try FileLedger.with { ledger throws in
            let lines = [Self.before, bad.line, Self.after]
            let stopped = try ledger.importing(lines)
            #expect(stopped.counts == [1, 0, 1])
            let first = try #require(stopped.refusals.first)
            #expect(first.line == 2 && first.refusal.code == bad.code)
            if !bad.path.isEmpty { #expect(first.refusal.path == bad.path) }

            let skipped = try ledger.importing(lines) { $0.onError = .skip }
            #expect(skipped.counts == [1, 1, 1])
            #expect(try ledger.size() == 3)
        }
    }

    @Test func `is passed over if it is 10 MB long`() throws {
        try FileLedger.with { ledger throws in
            let long = FileLedger.grant("long", reason: String(repeating: "x", count: 10 << 20))
            let stopped = try ledger.importing([Self.before, long, Self.after])
            #expect(stopped.refusals.first?.refusal.code == "too_large")
            let skipped = try ledger.importing([long, Self.before, long, Self.after]) {
                $0.onError = .skip
            }
            #expect(skipped.counts == [1, 1, 2])
            #expect(skipped.refusals.map(\.line) == [1, 3])
        }
    }

    @Test func `is refused if it is not UTF-8`() throws {
        try FileLedger.with { ledger throws in
            let bad = Array(FileLedger.grant("x").utf8)
            let at = try #require(bad.firstRange(of: Array("customer/".utf8)))
            for bytes: [UInt8] in [
                [0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC0, 0xAF],
            ] {
                var line = bad
                line.insert(contentsOf: bytes, at: at.upperBound)
                let report = try ledger.importing(bytes: [line + [0x0A] + Array(Self.after.utf8)]) {
                    $0.onError = .skip
                }
                #expect(report.refusals.map(\.refusal.code) == ["malformed"])
                #expect(try ledger.size() == 2)
            }
        }
    }

    // E1
    @Test func `is a conflict if its id has other content`() throws {
        try FileLedger.with { ledger throws in
            let other = FileLedger.grant("before", to: "bob")
            let stopped = try ledger.importing([Self.before, other, Self.after])
            let refusal = try #require(stopped.refusals.first?.refusal)
            #expect(refusal.code == "conflict" && refusal.path == "subject")
            #expect(try ledger.size() == 2)
        }
    }

    // E1: those behind were prepared before it stood
    @Test func `is a conflict that stops it if its id stands in a batch ahead`() throws {
        try FileLedger.with { ledger throws in
            let ahead = (0..<4106).map { FileLedger.grant("e\($0)", to: "u\($0)") }
            let other = FileLedger.grant("e5", to: "bob")
            let behind = (0..<100).map { FileLedger.grant("z\($0)") }
            let stopped = try ledger.importing(ahead + [other] + behind)
            #expect(stopped.counts == [4106, 0, 1])
            #expect(stopped.refusals.map(\.line) == [4107])
            #expect(stopped.refusals.map(\.refusal.code) == ["conflict"])
            #expect(try ledger.size() == 4107)
        }
    }

    // T3
    @Test(arguments: ["2001-01-01T00:00:00Z", "2199-01-01T00:00:00Z", "soon"])
    func `is refused if the recorded time that it wants kept is not possible`(
        _ recorded: String
    ) throws {
        try FileLedger.with { ledger throws in
            let line = FileLedger.grant("x", more: #","recordedtime":"\#(recorded)""#)
            let kept = try ledger.importing([line]) { $0.preservesRecordedTime = true }
            #expect(kept.counts == [0, 0, 1])
            // Without the option it is passed over.
            #expect(try ledger.importing([line]).counts == [1, 0, 0])
            let event = try ledger.open { try $0.questions.event(at: 1) }
            let recordedAt = try #require(event?.recordedAt.description)
            #expect(recordedAt.hasPrefix("20") && !recordedAt.hasPrefix("2001"))
        }
    }
}

struct `An import` {
    @Test(arguments: ["", "\n", "\n \n\r\n"])
    func `of nothing appends nothing`(_ text: String) throws {
        try FileLedger.with { ledger throws in
            #expect(try ledger.importing(bytes: [Array(text.utf8)]).counts == [0, 0, 0])
            #expect(try ledger.size() == 1)
        }
    }

    // row 6.3; E1
    @Test func `that was cut appends only the rest when it is repeated`() throws {
        try FileLedger.with { ledger throws in
            let lines = (0..<300).map { FileLedger.grant("e\($0)", to: "u\($0)") }
            #expect(try ledger.importing(Array(lines[..<150])).counts == [150, 0, 0])
            #expect(try ledger.importing(lines).counts == [150, 150, 0])
            #expect(try ledger.importing(lines).counts == [0, 300, 0])
            #expect(try ledger.size() == 301)
        }
    }

    // E1: what stands first stays, and whoever imports is told
    @Test func `says which known signals say something else now`() throws {
        try FileLedger.with { ledger throws in
            func webhook(_ product: String, spaces: String = "") -> String {
                #"{"event":{"id":"w1","type":"RENEWAL","event_timestamp_ms":1767225660000,"#
                    + #""app_user_id":"ann","product_id":"\#(product)","store":"PLAY_STORE","#
                    + #""purchased_at_ms":1767225600000,"expiration_at_ms":1769904000000,"#
                    + #""environment":"PRODUCTION","transaction_id":"t1",\#(spaces)"#
                    + #""original_transaction_id":"o1"}}"#
            }
            let first = try ledger.importing([webhook("a"), FileLedger.grant("g")])
            #expect(first.counts == [2, 0, 0] && first.differing == 0)
            #expect(
                first.formats.map { "\($0.format) \($0.count)" } == ["events 1", "revenuecat 1"]
            )
            let again = try ledger.importing([
                webhook("b"), webhook("a"), webhook("a", spaces: "  "),
            ])
            #expect(again.counts == [0, 3, 0])
            // How it is laid out does not matter.
            #expect(again.differing == 1)
            #expect(
                again.differences.map(\.line) == [1] && again.differences.map(\.sequence) == [1]
            )
            let stands = try ledger.open { try $0.questions.event(at: 1) }
            #expect(stands?.event.data[.productID] == .text("a"))
        }
    }

    // What a share and the time that is left are made of
    @Test func `tells how much of all its files it has read`() throws {
        try FileLedger.with { ledger throws in
            let files = [0..<3, 3..<8].map { numbers in
                Array(numbers.map { FileLedger.grant("e\($0)") + "\n" }.joined().utf8)
            }
            let told = Mutex<[ImportProgress]>([])
            _ = try ledger.importing(bytes: files) {
                $0.progress = { progress in told.withLock { $0.append(progress) } }
            }
            let counts = files.map { UInt64($0.count) }
            let progress = told.withLock { $0 }
            #expect(progress.map(\.items) == [3, 8])
            #expect(progress.map(\.bytes) == [counts[0], counts[0] + counts[1]])
            #expect(progress.allSatisfy { $0.totalBytes == counts[0] + counts[1] })
        }
    }

    @Test func `reads several files and several lines of one document`() throws {
        try FileLedger.with { ledger throws in
            let pretty = FileLedger.grant("b").replacing(",", with: ",\n")
            let files = [FileLedger.grant("a") + "\n", pretty + "\n"].map { Array($0.utf8) }
            #expect(try ledger.importing(bytes: files).counts == [2, 0, 0])
        }
    }

    // E3: whoever is told of an item finds it in the log
    @Test func `tells of items once they are recorded`() throws {
        try FileLedger.with { ledger throws in
            let told = Mutex<[String]>([])
            let lines = [FileLedger.grant("a"), "{oops", FileLedger.grant("a")]
            _ = try ledger.importing(lines) {
                $0.onError = .skip
                $0.acknowledge = { items in
                    told.withLock { told in
                        told += items.map {
                            "\($0.line) \($0.outcome) \($0.sequence.map(String.init) ?? "-")"
                        }
                    }
                }
            }
            let expected = ["1 appended 1", "2 refused -", "3 duplicate 1"]
            #expect(told.withLock { $0 } == expected)
        }
    }

    @Test func `ends after the batch under way where it is interrupted`() throws {
        try FileLedger.with { ledger throws in
            let lines = (0..<5000).map { FileLedger.grant("e\($0)", to: "u\($0)") }
            let report = try ledger.importing(lines) { $0.isInterrupted = { true } }
            #expect(report.appended < lines.count)
            // The control
            #expect(try ledger.importing(lines).items == 5000)
        }
    }

    @Test func `keeps what it refuses sealed, and takes it when it can`() throws {
        try FileLedger.with { ledger throws in
            let quarantine = try ledger.quarantine()
            var options = Importer.Options()
            options.onError = .quarantine
            let bad = FileLedger.grant("x").replacing("2026", with: "1926")
            let file = try ledger.file("lines", Array((bad + "\n{oops\n").utf8))
            try ledger.open { open in
                var importer = Importer(open, options)
                try importer.run([file], quarantine: quarantine)
                #expect(importer.report.counts == [0, 0, 2])
                // What is refused again stays.
                for _ in 0..<2 {
                    var again = Importer(open, options)
                    try again.retry(quarantine)
                    #expect(again.report.counts == [0, 0, 2])
                    #expect(again.report.reasons.map(\.code) == ["malformed", "out_of_range"])
                }
            }
            let folder = URL(filePath: ledger.path + "/quarantine")
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                let bytes = try Data(contentsOf: folder.appending(path: name))
                #expect(bytes.range(of: Data("ann".utf8)) == nil, "\(name)")
            }
        }
    }

    @Test func `names a file that is not there`() throws {
        try FileLedger.with { ledger throws in
            let fault = #expect(throws: OperationFault.self) {
                try ledger.open { open in
                    var importer = Importer(open)
                    try importer.run([ledger.folder + "/none"])
                }
            }
            #expect(fault?.code == .noInput && fault?.place == ledger.folder + "/none")
        }
    }
}
