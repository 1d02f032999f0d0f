import DurableFiles
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import Glibc
import LedgerAPI
import LedgerOperations
import Testing

struct `An export's folder` {
    /// A ledger in which something is known of Ann.
    private static func filled(
        _ body: (_ ledger: FileLedger, _ output: String) throws -> Void
    ) throws {
        try FileLedger.with { ledger throws in
            _ = try ledger.importing([FileLedger.grant("g", to: "ann-12")])
            try body(ledger, ledger.folder + "/out")
        }
    }

    private static func plan(
        _ ledger: Ledger,
        _ formats: [ExportFormat] = ExportFormat.allCases
    ) throws -> ExportPlan {
        _ = try ledger.prover.checkpoint()
        return try ledger.exporter.exportPlan(
            of: CustomerQuestion(
                customer: "ann-12",
                environment: .production,
                point: BitemporalPoint(at: SystemClock.now(), knownAt: .everything)
            ),
            redaction: .signatures,
            formats: formats
        )
    }

    private static func export(_ ledger: FileLedger, _ output: String) throws {
        try ledger.open {
            _ = try ExportRun(plan($0), into: output, of: $0, at: ledger.path).write()
        }
    }

    private static func files(_ folder: String) throws -> [(name: String, bytes: Data)] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map {
            ($0, try Data(contentsOf: URL(filePath: folder + "/" + $0)))
        }
    }

    @Test func `is whole in every format, for whoever checks it`() throws {
        try Self.filled { ledger, output in
            try Self.export(ledger, output)
            let check = try ExportCheckAnswer(ExportFiles(path: output), key: nil)
            #expect(check.isOK && check.records == 1, "\(check.faults)")
            for (name, bytes) in try Self.files(output) where !bytes.isEmpty {
                var changed = bytes
                changed[changed.count / 2] ^= 1
                let file = URL(filePath: output + "/" + name)
                try changed.write(to: file)
                #expect(try !ExportCheckAnswer(ExportFiles(path: output), key: nil).isOK, "\(name)")
                try bytes.write(to: file)
            }
        }
    }

    // row 8.6: stopped after any of its files
    @Test func `goes on from where it was stopped`() throws {
        try Self.filled { ledger, output in
            let plan = try ledger.open { try Self.plan($0) }
            try ledger.open { open in
                _ = try ExportRun(plan, into: output, of: open, at: ledger.path).write()
            }
            let whole = try Self.files(output).filter { !$0.name.hasPrefix("manifest") }
            for kept in 0...whole.count {
                let folder = output + "-\(kept)"
                try ledger.open { open in
                    _ = try ExportRun(plan, into: folder, of: open, at: ledger.path)
                    for file in whole.prefix(kept) {
                        try file.bytes.write(to: URL(filePath: folder + "/" + file.name))
                    }
                    try Data("half".utf8).write(to: URL(filePath: folder + "/state.json.part"))
                    let run = try ExportRun(resuming: folder, of: open, at: ledger.path)
                    _ = try run.write()
                }
                let check = try ExportCheckAnswer(ExportFiles(path: folder), key: nil)
                #expect(check.isOK, "\(kept): \(check.faults)")
            }
            #expect(whole.count > 8)
        }
    }

    @Test func `is refused where something stands, in the ledger, or named after the customer`()
        throws
    {
        try Self.filled { ledger, output in
            let link = ledger.folder + "/link"
            try FileManager.default.createSymbolicLink(
                atPath: link,
                withDestinationPath: ledger.path
            )
            for place in [
                ledger.path, ledger.path + "/x", ledger.path + "/../ledger/x", link + "/x",
            ] {
                #expect(throws: OperationFault.self, "\(place)") {
                    try ExportPlace.check(place, ledger: ledger.path)
                }
            }
            try ExportPlace.check(output, ledger: ledger.path)
            try Self.export(ledger, output)
            for (place, code) in [
                (output, OperationFault.Code.notEmpty), (ledger.folder + "/for-ann-12", .usage),
            ] {
                let fault = #expect(throws: OperationFault.self) {
                    try Self.export(ledger, place)
                }
                #expect(fault?.code == code)
            }
            #expect(!FileManager.default.fileExists(atPath: ledger.folder + "/for-ann-12"))
            let fault = #expect(throws: OperationFault.self) {
                try ledger.open {
                    try ExportRun(resuming: ledger.folder + "/none", of: $0, at: ledger.path)
                }
            }
            #expect(fault?.code == .noInput)
        }
    }

    // Whoever made it may have made lines that no record has.
    @Test func `hands out no line that is longer than any of its kind`() throws {
        try withTemporaryFolder { folder in
            let name = ExportFile.proofs
            let long = String(repeating: "[", count: 17 << 20)
            let lines = "\(long)\n{}\n"
            let bundle = [long, "{}"].map { #"{"file":"\#(name)","line":\#($0)}"# + "\n" }.joined()
            try Data(lines.utf8).write(to: URL(filePath: folder + "/" + name))
            try Data(bundle.utf8).write(to: URL(filePath: folder + "/bundle"))
            let sources: [any ExportSource] = [
                ExportFiles(path: folder), ExportBundle(path: folder + "/bundle"),
            ]
            for source in sources {
                let lines = try #require(try source.lines(name))
                #expect(try lines.next() == [])
                #expect(try lines.next() == Array("{}".utf8))
                #expect(try lines.next() == nil)
            }
        }
    }

    @Test func `is not said to be whole where its plan cannot be read`() throws {
        try Self.filled { ledger, output in
            try Self.export(ledger, output)
            try FileManager.default.createSymbolicLink(
                atPath: output + "/plan.json",
                withDestinationPath: "plan.json"
            )
            let fault = #expect(throws: FileFault.self) {
                try ledger.open { try ExportRun(resuming: output, of: $0, at: ledger.path) }
            }
            #expect(fault?.code == ELOOP)
        }
    }

    /// Whether each line of the ledger's list says that an export has begun, and no more.
    private static func begun(_ ledger: FileLedger) throws -> [Bool] {
        let text = try String(contentsOfFile: ledger.path + "/exports.ndjson", encoding: .utf8)
        return try text.split(separator: "\n").map {
            try JSONValue(parsing: Array($0.utf8))["manifest"]?.isNull ?? false
        }
    }

    // An erasure names it from its first byte on, and goes on naming it.
    @Test func `is noted by whoever goes on with it, and whole only once that is noted`() throws {
        try Self.filled { ledger, output in
            let plan = try ledger.open { try Self.plan($0, [.ndjson]) }
            let list = ledger.path + "/exports.ndjson"
            try ledger.open { open in
                _ = try ExportRun(plan, into: output, of: open, at: ledger.path)
                // Who was stopped had not noted it.
                try FileManager.default.removeItem(atPath: list)
                let run = try ExportRun(resuming: output, of: open, at: ledger.path)
                #expect(try Self.begun(ledger) == [true])
                try FileManager.default.removeItem(atPath: list)
                // The list cannot be written to.
                try FileManager.default.createDirectory(
                    atPath: list,
                    withIntermediateDirectories: true
                )
                #expect(throws: (any Error).self) { try run.write() }
                try FileManager.default.removeItem(atPath: list)
                _ = try ExportRun(resuming: output, of: open, at: ledger.path).write()
            }
            #expect(try Self.begun(ledger) == [true, false])
            #expect(try ExportCheckAnswer(ExportFiles(path: output), key: nil).isOK)
        }
    }

    // The plan says of whom they are: who is stopped behind it leaves what an erasure has to name.
    @Test func `holds nothing before the ledger's list says where it is`() throws {
        try Self.filled { ledger, output in
            let list = ledger.path + "/exports.ndjson"
            try ledger.open { open in
                let plan = try Self.plan(open, [.ndjson])
                // The list cannot be written to.
                try FileManager.default.createDirectory(
                    atPath: list,
                    withIntermediateDirectories: true
                )
                #expect(throws: (any Error).self) {
                    try ExportRun(plan, into: output, of: open, at: ledger.path)
                }
                #expect(try DurableFile.names(in: output).isEmpty)
                try FileManager.default.removeItem(atPath: list)
                _ = try ExportRun(plan, into: output, of: open, at: ledger.path)
            }
            #expect(try Self.begun(ledger) == [true])
            #expect(try DurableFile.names(in: output) == ["plan.json"])
        }
    }

    // law 6: the ledger knows where exports are, and of whom by number only
    @Test func `is noted in the ledger, for an erasure to name`() throws {
        try Self.filled { ledger, output in
            try Self.export(ledger, output)
            try ledger.open { open in
                let plan = try open.exporter.exportPlan(
                    of: 0..<2,
                    redaction: .all,
                    formats: [.ndjson]
                )
                let run = try ExportRun(plan, into: output + "-2", of: open, at: ledger.path)
                _ = try run.write()
            }
            let text = try String(contentsOfFile: ledger.path + "/exports.ndjson", encoding: .utf8)
            let lines = try text.split(separator: "\n").map {
                try JSONValue(parsing: Array($0.utf8))
            }
            // Each when it began and when it was whole.
            #expect(!text.contains("ann-12"))
            #expect(lines.map { $0["manifest"]?.isNull } == [true, false, true, false])
            #expect(lines[1]["path"]?.string?.hasSuffix("/out") == true)
            #expect(lines[1]["streams"]?.array?.count == 1)
            #expect(lines[3]["streams"]?.isNull == true)
        }
    }
}
