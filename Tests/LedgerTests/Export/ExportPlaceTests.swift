import EntitlementLedger
import Foundation
import LedgerAPI
import LedgerOperations
import Testing

/// Where an export's files come to stand (row 8.6).
struct `The place of an export` {
    // SQLite itself follows no link on the way.
    @Test(arguments: ["", "/out"])
    func `may be reached by a link, for a database too`(_ below: String) async throws {
        try await ScratchLedger.with { scratch in
            try ExportSample.fill(scratch.ledger)
            let (place, link) = (scratch.path + "-place", scratch.path + "-link")
            let manager = FileManager.default
            try manager.createDirectory(atPath: place, withIntermediateDirectories: true)
            try manager.createSymbolicLink(atPath: link, withDestinationPath: place)
            let plan = try scratch.ledger.exporter.exportPlan(
                of: ExportSample.question(),
                redaction: .signatures,
                formats: [.ndjson, .sqlite]
            )
            let run = try ExportRun(plan, into: link + below, of: scratch.ledger, at: scratch.path)
            _ = try run.write()
            let database = try Data(contentsOf: URL(filePath: place + below + "/export.sqlite"))
            #expect(database.starts(with: Array("SQLite format 3".utf8)))
        }
    }

    // Nobody takes a part for the whole, however far it came.
    @Test func `holds nothing of one that is received and cannot be ended`() async throws {
        try await ScratchLedger.with { scratch in
            try ExportSample.fill(scratch.ledger)
            let folder = scratch.path + "-received"
            let receiver = try ExportReceiver(into: folder)
            var stream = ExportStream(try ExportSample.export(scratch.ledger), .bundle)
            while let piece = try stream.next() { try receiver.take(Array(piece.utf8)) }
            // The signature, which comes last, has no room.
            try FileManager.default.createDirectory(
                atPath: folder + "/" + ExportFile.signature,
                withIntermediateDirectories: true
            )
            #expect(throws: OperationFault.self) { _ = try receiver.finish() }
            // The control: the manifest was written.
            #expect(try ExportFiles(path: folder).names().contains(ExportFile.manifest))
            receiver.discard()
            #expect(try ExportFiles(path: folder).names() == [ExportFile.signature])
        }
    }
}
