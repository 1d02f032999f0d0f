import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerOperations
import Salvage
import Testing

/// A ledger that was rescued is damaged again: what it lacked it still lacks (row 3.6, row Z5).
struct `A second salvage` {
    /// A ledger whose last record is lost; `isSigned`: a checkpoint says that there was one.
    private static func cut(
        isSigned: Bool,
        _ body: (_ damaged: String, _ whole: String) throws -> Void
    ) async throws {
        try await `A salvage`.filled { scratch in
            let late = Sample.ownedPurchase("late", "app_store/late")
            _ = try scratch.ledger.appender.record(Sample.submissions(late))
            if isSigned { _ = try scratch.ledger.prover.checkpoint() }
            let last = try scratch.record(at: scratch.ledger.questions.size() - 1)
            try scratch.close()
            let copy = scratch.path + "-copy"
            try FileManager.default.copyItem(atPath: scratch.path, toPath: copy)
            try `A salvage`.damage(scratch.path) { `A salvage`.erase(last, in: &$0) }
            try body(scratch.path, copy)
        }
    }

    private static func salvage(
        _ path: String,
        supplies: [any SalvageSupply] = [],
        spares: SpareFiles = SpareFiles()
    ) throws -> LedgerSalvage {
        try LedgerSalvage(
            of: path,
            masterKey: `A salvage`.masterKey,
            rules: `A salvage`.rules,
            supplies: supplies,
            spares: spares
        )
    }

    private static func isWritable(_ path: String) throws -> Bool {
        do {
            let directory = try OpenLedgerDirectory(
                at: path,
                masterKey: `A salvage`.masterKey,
                forWriting: true,
                clock: { 0 },
                randomness: .system
            )
            directory.close()
            return true
        } catch let fault as LedgerOpenFault where fault.code == .treeLost {
            return false
        }
    }

    @Test(arguments: [false, true])
    func `remembers an end that the first one did not find`(_ isContinued: Bool) async throws {
        try await Self.cut(isSigned: false) { damaged, _ in
            let (first, second) = (damaged + "-1", damaged + "-2")
            let name = (id: [UInt8](repeating: 7, count: 16), origin: "ledger.example/again")
            _ = try Self.salvage(damaged).rescue(into: first, as: isContinued ? name : nil)
            let earlier = try #require(try LedgerDirectory.knownLoss(at: first))
            #expect(earlier.behindEnd == 1)
            let report = try Self.salvage(first).rescue(into: second)
            #expect(report.isWhole == isContinued)
            let loss = try #require(try LedgerDirectory.knownLoss(at: second))
            #expect(loss.behindEnd == 1)
            #expect(loss.firstLost == earlier.firstLost)
            #expect(loss.isTreeLost != isContinued)
            #expect(try Self.isWritable(second) == isContinued)
        }
    }

    // The control: what is proven to be there again is not lost.
    @Test func `forgets what another copy brings back`() async throws {
        try await Self.cut(isSigned: true) { damaged, whole in
            let (first, second) = (damaged + "-1", damaged + "-2")
            _ = try Self.salvage(damaged).rescue(into: first)
            #expect(try LedgerDirectory.knownLoss(at: first)?.behindEnd == 1)
            let report = try Self.salvage(first, supplies: [LedgerCopy(at: whole)])
                .rescue(into: second)
            #expect(report.isWhole)
            #expect(try LedgerDirectory.knownLoss(at: second) == nil)
            #expect(try Self.isWritable(second))
        }
    }

    @Test func `is refused where it cannot be read what was lost, but for a copy`() async throws {
        try await Self.cut(isSigned: false) { damaged, _ in
            let (first, second) = (damaged + "-1", damaged + "-2")
            _ = try Self.salvage(damaged).rescue(into: first)
            let kept = damaged + "-kept"
            try FileManager.default.createDirectory(
                atPath: kept,
                withIntermediateDirectories: true
            )
            let file = first + "/loss.json"
            try FileManager.default.moveItem(atPath: file, toPath: kept + "/loss.json")
            try Data("{}".utf8).write(to: URL(filePath: file))
            let fault = #expect(throws: LedgerOpenFault.self) {
                _ = try Self.salvage(first).rescue(into: second)
            }
            #expect(fault?.code == .damaged)
            _ = try Self.salvage(first, spares: SpareFiles(ledgers: [kept])).rescue(into: second)
            #expect(try LedgerDirectory.knownLoss(at: second)?.behindEnd == 1)
        }
    }
}
