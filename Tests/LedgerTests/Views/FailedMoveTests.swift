import EventLog
import Foundation
import Testing

@testable import EntitlementLedger

/// What cannot be moved into the index waits in memory, and leaves nothing on the disk.
struct `A move into the index that fails` {
    private static func runs(_ generation: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: generation)
            .filter { $0.contains("-") }.sorted()
    }

    @Test func `leaves no file, and is made good later`() async throws {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            try viewed.fill(customers: 0..<6, publishing: true)
            let ledger = try viewed.open()
            let generation = folder + "/views/1"
            let before = try Self.runs(generation)
            _ = try ledger.appender.record(
                Sample.submissions(Sample.ownedPurchase("u6", "app_store/6"))
            )
            let answers = try Answers(ledger, customers: 0..<7)
            // A folder in the place of the file that says which runs count: it is not replaced.
            let manifest = generation + "/index"
            let kept = try Data(contentsOf: URL(filePath: manifest))
            try FileManager.default.removeItem(atPath: manifest)
            try FileManager.default.createDirectory(
                atPath: manifest + "/in the way",
                withIntermediateDirectories: true
            )
            #expect(throws: LogStorageFault.self) { try ledger.questions.views.flush() }
            #expect(try Self.runs(generation) == before)
            #expect(try Answers(ledger, customers: 0..<7) == answers)

            try FileManager.default.removeItem(atPath: manifest)
            try kept.write(to: URL(filePath: manifest))
            try ledger.questions.views.flush()
            // The control: what is moved is a run more.
            #expect(try Self.runs(generation).count == before.count + 2)
            #expect(try Answers(ledger, customers: 0..<7) == answers)
            try ledger.close()
        }
    }

    @Test func `is not tried at each append`() {
        var overlay = Overlay(from: 0)
        overlay.pass(to: 100)
        #expect(overlay.isDue(from: 100) && !overlay.isDue(from: 101))
        overlay.noteFailure()
        overlay.pass(to: 10_099)
        #expect(!overlay.isDue(from: 100))
        overlay.pass(to: 10_100)
        #expect(overlay.isDue(from: 100))
        overlay.noteFailure()
        overlay.drop(below: 10_000)
        #expect(overlay.isDue(from: 100))
    }
}
