import Foundation
import Glibc
import LedgerAPI
import LedgerOperations
import Synchronization
import SystemPackage
import Testing

/// How an import finds lines in a file.
struct `Lines of an import` {
    // Short ones, and one that is longer than a batch
    @Test(arguments: [64, 2 << 20])
    func `are found behind megabytes of blank ones`(_ width: Int) throws {
        try FileLedger.with { ledger throws in
            let line = String(repeating: " ", count: width - 1) + "\n"
            let blanks = String(repeating: line, count: (2 << 20) / width)
            let lines = ["a", "b"].map { FileLedger.grant($0) + "\n" }
            let file = blanks + lines[0] + blanks + lines[1] + blanks
            #expect(try ledger.importing(bytes: [Array(file.utf8)]).counts == [2, 0, 0])
        }
    }

    @Test(arguments: ["\n", "\r\n"])
    func `are read without a mark at the file's begin and a CR at their ends`(
        _ end: String
    ) throws {
        try FileLedger.with { ledger throws in
            let lines = ["a", "b"].map { FileLedger.grant($0) + end }
            for (file, count) in [(lines.joined(), 2), (end + lines[1], 1)] {
                let bytes = Array(("\u{FEFF}" + file).utf8)
                for format in [ImportFormat.auto, .events] {
                    let report = try ledger.importing(bytes: [bytes]) { $0.format = format }
                    #expect(report.refused == 0, "\(report.refusals)")
                    #expect(report.items == UInt64(count))
                }
            }
            // A mark elsewhere is what stands there.
            let inside = try ledger.importing(["", "\u{FEFF}" + lines[0]])
            #expect(inside.refusals.map(\.refusal.code) == ["malformed"])
        }
    }

    // E3: whoever waits to be told sends no more until then
    @Test(arguments: [
        ("{oops\n", 1), ("[\n", 1), (FileLedger.grant("a") + "\n\n", 1),
        // As many as a batch may have.
        (String(repeating: "{}\n", count: 4096) + "\n", 4096),
    ])
    func `are told of while nothing more comes in`(_ text: String, _ count: Int) throws {
        try FileLedger.with { ledger throws in
            let path = ledger.folder + "/pipe"
            try #require(unsafe mkfifo(path, 0o600) == 0)
            // It stays open: nobody says that nothing more will come.
            let pipe = try unsafe FileDescriptor.open(path, .readWrite)
            defer { try? pipe.close() }
            _ = try pipe.writeAll(Array(text.utf8))
            let told = Mutex(0)
            let end = ContinuousClock.now + .seconds(20)
            var options = Importer.Options()
            options.acknowledge = { lines in told.withLock { $0 += lines.count } }
            options.isInterrupted = { told.withLock { $0 } >= count || ContinuousClock.now > end }
            options.onError = .skip
            try ledger.open { open in
                var importer = Importer(open, options)
                try importer.run([path])
                #expect(importer.report.items == UInt64(count))
            }
            #expect(told.withLock { $0 } == count)
            #expect(ContinuousClock.now < end, "it waited for more")
        }
    }

    @Test(arguments: [ImportFormat.auto, .events])
    func `may be arrays of events`(_ format: ImportFormat) throws {
        try FileLedger.with { ledger throws in
            let (a, b) = (FileLedger.grant("a"), FileLedger.grant("b"))
            let files = ["[\(a),{},\(b)]\n", "[\n\(a),\n{},\n\(b)\n]\n"]
            for (file, counts) in zip(files, [[2, 0, 1], [0, 2, 1]]) {
                let report = try ledger.importing(bytes: [Array(file.utf8)]) {
                    $0.format = format
                    $0.onError = .skip
                }
                #expect(report.counts == counts)
                #expect(report.refusals.map(\.line) == [1])
                #expect(report.refusals.map(\.refusal.path) == ["[1].specversion"])
            }
            // One without any is told of, too.
            let none = try ledger.importing(bytes: [Array("[]\n".utf8)]) { $0.format = format }
            #expect(none.counts == [0, 0, 1])
            #expect(try ledger.size() == 3)
        }
    }
}

/// What an import that goes on keeps of what it refuses.
struct `What an import quarantines` {
    /// Imports a text, and tries again what was quarantined of it, twice; the numbers of each.
    private static func counts(
        of text: String,
        into ledger: FileLedger,
        _ change: (inout Importer.Options) -> Void = { _ in }
    ) throws -> [[Int]] {
        var options = Importer.Options()
        options.onError = .quarantine
        change(&options)
        let quarantine = try ledger.quarantine()
        let file = try ledger.file("lines", Array(text.utf8))
        return try ledger.open { open in
            var importer = Importer(open, options)
            try importer.run([file], quarantine: quarantine)
            var counts = [importer.report.counts]
            for _ in 0..<2 {
                var again = Importer(open, options)
                try again.retry(quarantine)
                counts.append(again.report.counts)
            }
            return counts
        }
    }

    // E3
    @Test func `stands there when it is told of`() throws {
        try FileLedger.with { ledger throws in
            let files = Mutex<[Int]>([])
            let folder = ledger.path + "/quarantine"
            let counts = try Self.counts(of: "{oops\n", into: ledger) {
                $0.acknowledge = { _ in
                    // There is no folder before something is kept.
                    let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
                    files.withLock { $0.append(names?.count ?? 0) }
                }
            }
            #expect(counts == [[0, 0, 1], [0, 0, 1], [0, 0, 1]])
            // A day's key and its items.
            #expect(files.withLock { $0 } == [2, 2, 2])
        }
    }

    @Test func `is of an array what was refused, once`() throws {
        try FileLedger.with { ledger throws in
            let text = "[\(FileLedger.grant("a")),{},7]\n"
            let counts = try Self.counts(of: text, into: ledger)
            #expect(counts == [[1, 0, 2], [0, 0, 2], [0, 0, 2]])
        }
    }

    /// A place that takes nothing, and notes how many bytes it is handed together.
    private final class RefusingPlace: ImportPlace {
        let byteCounts = Mutex<[Int]>([])

        func begin(_ lines: ImportedLines) -> ImportTurn {
            byteCounts.withLock {
                $0.append(lines.lines.reduce(0) { $0 + ($1.bytes?.count ?? 0) })
            }
            return {
                lines.lines.map { line in
                    ImportedItem(
                        ImportedLine(line: line.number, outcome: .refused, sequence: nil),
                        format: nil,
                        code: "malformed",
                        bytes: line.bytes
                    )
                }
            }
        }

        func size() -> UInt64 { 0 }
    }

    // A server takes only so much together.
    @Test func `is tried again in parts, as it was read`() throws {
        try FileLedger.with { ledger throws in
            let quarantine = try ledger.quarantine()
            var options = Importer.Options()
            options.onError = .quarantine
            let line = String(repeating: "x", count: (1 << 20) - 1) + "\n"
            let text = String(repeating: line, count: 7) + String(repeating: "x\n", count: 5000)
            let file = try ledger.file("lines", Array(text.utf8))
            let place = RefusingPlace()
            var importer = Importer(into: place, options)
            try importer.run([file], quarantine: quarantine)
            let read = place.byteCounts.withLock { $0 }
            #expect(read.count > 2)
            for round in 1...2 {
                var again = Importer(into: place, options)
                try again.retry(quarantine)
                #expect(again.report.counts == [0, 0, 5007], "round \(round)")
            }
            let parts = place.byteCounts.withLock { $0 }.dropFirst(read.count)
            #expect(parts.reduce(0, +) == 2 * read.reduce(0, +), "and every one each time")
            #expect(parts.allSatisfy { $0 <= ImportBatch.byteLimit })
        }
    }

    // T3
    @Test func `is also what has a recorded time that cannot be kept`() throws {
        try FileLedger.with { ledger throws in
            let text = FileLedger.grant("a", more: #","recordedtime":"soon""#) + "\n"
            let counts = try Self.counts(of: text, into: ledger) {
                $0.preservesRecordedTime = true
            }
            #expect(counts == [[0, 0, 1], [0, 0, 1], [0, 0, 1]])
        }
    }
}
