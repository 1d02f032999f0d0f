import Crypto
import Encodings
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import PostingIndex
import Stores
import Testing

@testable import EntitlementLedger

/// Views by somebody who may write their files: without the vault's secret nothing of it is
/// believed, whatever its shape (Storage, "Views").
struct `Forged views` {
    private static let customers = 0..<60
    private static let thief = KeyedHash(SymmetricKey(size: .bits256))
    private static let ledgerID = [UInt8](repeating: 1, count: 16)

    /// Lends a ledger in whose log a customer's purchase was refunded.
    private static func with(_ body: (ViewedLedger, Answers) throws -> Void) async throws {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            try viewed.fill(customers: customers, publishing: true)
            let ledger = try viewed.open()
            let refund = Sample.line(
                "back",
                "revocation.refunded",
                "purchase/app_store/7",
                data: #"{"transactionId":"t-buy-app_store/7"}"#,
                time: Sample.day(3)
            )
            _ = try ledger.appender.record(Sample.submissions([refund]))
            let answers = try Answers(ledger, customers: customers)
            try ledger.close()
            try body(viewed, answers)
        }
    }

    /// Writes whole views from which the last event, the refund, is missing.
    private static func forge(_ viewed: ViewedLedger, under secret: KeyedHash) throws {
        let own = ViewSeal(ledgerID: ledgerID, secret: try #require(viewed.vault.viewSecret))
        let (_, tables) = try #require(
            try ViewDirectory(path: viewed.path, seal: own).openCurrent()
        )
        var postings = Postings(reservingFor: Int(tables.size))
        try viewed.log.scan(from: 0, upTo: tables.size - 1) { header, record in
            postings.append(try header.indexEntry(record))
            return true
        }
        postings.sort()
        let directory = ViewDirectory(
            path: viewed.path,
            seal: ViewSeal(ledgerID: ledgerID, secret: secret)
        )
        let generation = try directory.makeGeneration()
        let run = try generation.makeRun(postings, of: 0..<tables.size, root: tables.position.root)
        try generation.keep(IndexTables(runs: [run], position: tables.position))
        try directory.use(generation)
    }

    // A refunded customer stays free; the control: who has the secret is believed.
    @Test(arguments: [false, true])
    func `give nothing back that was refunded`(isReadOnly: Bool) async throws {
        try await Self.with { viewed, expected in
            try Self.forge(viewed, under: try #require(viewed.vault.viewSecret))
            let believed = try viewed.open(isReadOnly: true)
            #expect(try believed.auditor.status().views.discarded == nil)
            let wrong = try Answers(believed, customers: Self.customers)
            try Self.forge(viewed, under: Self.thief)
            let ledger = try viewed.open(isReadOnly: isReadOnly)
            let answers = try Answers(ledger, customers: Self.customers)
            #expect(try ledger.auditor.status().views.discarded != nil)
            #expect(try ledger.auditor.audit(.hashes).isOK != isReadOnly)
            try ledger.close()
            // A reader's answers leave out what a writer records on the way.
            if isReadOnly { #expect(answers != wrong) } else { #expect(answers == expected) }
        }
    }

    /// What can be done with files that the ledger wrote itself.
    private enum Move: CaseIterable {
        case blocks, tables, otherGeneration, otherManifest, otherLedger, manifestAlone
    }

    // Each block, table and file stands for its place alone.
    @Test(arguments: Move.allCases)
    private func `are not made of what the ledger wrote elsewhere`(_ move: Move) async throws {
        try await Self.with { viewed, _ in
            let older = viewed.path + "-older"
            try FileManager.default.copyItem(atPath: viewed.path, toPath: older)
            try viewed.fill(customers: 60..<80, publishing: false)
            let sound = try viewed.open()
            // One run, which the older views do not have.
            _ = try sound.auditor.rebuild { _, _ in }
            let expected = try Answers(sound, customers: Self.customers)
            try sound.close()
            let folder = try Self.generation(viewed.path)
            let (streams, signals) = (
                try Self.file("streams", folder), try Self.file("signals", folder)
            )
            switch move {
            case .blocks:
                try streams.change { $0 = $0[1024..<2048] + $0[..<1024] + $0[2048...] }
            case .tables:
                try signals.content.write(to: streams.url)
            case .otherGeneration:
                let other = try Self.file("streams", Self.generation(older)).content
                try streams.change { $0.replaceSubrange(..<1024, with: other[..<1024]) }
            case .otherManifest:
                let other = try Self.file("index", Self.generation(older)).content
                try other.write(to: Self.file("index", folder).url)
            case .otherLedger:
                let other = try ViewedLedger(viewed.path + "-other")
                try other.fill(customers: 0..<80, publishing: true)
                try FileManager.default.removeItem(atPath: viewed.path)
                try FileManager.default.copyItem(atPath: other.path, toPath: viewed.path)
            case .manifestAlone:
                try FileManager.default.removeItem(at: streams.url)
            }
            let ledger = try viewed.open()
            #expect(try Answers(ledger, customers: Self.customers) == expected)
            #expect(try ledger.auditor.status().views.discarded != nil, "\(move)")
            #expect(try ledger.auditor.audit().isOK)
            try ledger.close()
        }
    }

    private static func generation(_ path: String) throws -> String {
        let current = try String(contentsOfFile: path + "/current", encoding: .utf8)
        return path + "/" + current.filter { !$0.isNewline }
    }

    private static func file(_ name: String, _ folder: String) throws -> ViewFiles.File {
        try #require(try ViewFiles(below: folder).files.first { $0.name.hasPrefix(name) })
    }

    // They are a true beginning of the log; what followed is read there.
    @Test func `that were true once and are put back hide nothing`() async throws {
        try await Self.with { viewed, expected in
            let sound = viewed.path + "-sound"
            let ledger = try viewed.open()
            try ledger.close()
            try FileManager.default.copyItem(atPath: viewed.path, toPath: sound)
            let later = try viewed.open()
            _ = try later.appender.record(
                Sample.submissions([
                    Sample.line(
                        "back-2",
                        "revocation.refunded",
                        "purchase/app_store/8",
                        data: #"{"transactionId":"t-buy-app_store/8"}"#,
                        time: Sample.day(3)
                    )
                ])
            )
            let refunded = try Answers(later, customers: Self.customers)
            #expect(refunded != expected)
            try later.close()
            try FileManager.default.removeItem(atPath: viewed.path)
            try FileManager.default.copyItem(atPath: sound, toPath: viewed.path)
            let opened = try viewed.open()
            #expect(try opened.auditor.status().views.discarded == nil)
            #expect(try Answers(opened, customers: Self.customers) == refunded)
            #expect(try opened.auditor.audit().isOK)
            try opened.close()
        }
    }

    // The views of earlier programs, which had checksums only.
    @Test func `of another version are made anew`() async throws {
        try await Self.with { viewed, expected in
            let index = try Self.file("index", Self.generation(viewed.path))
            try index.change { $0.replaceSubrange(..<4, with: Data("ELI1".utf8)) }
            let ledger = try viewed.open()
            #expect(try Answers(ledger, customers: Self.customers) == expected)
            #expect(try ledger.auditor.status().views.discarded != nil)
            try ledger.close()
            let next = try viewed.open()
            #expect(try next.auditor.status().views.discarded == nil)
            try next.close()
        }
    }

    // Who has not the secret cannot tell which are true: the log is read.
    @Test func `and true ones are left alone without the vault's key`() async throws {
        try await Self.with { viewed, _ in
            let publicKey = try viewed.vault.verifierKey(named: "x/log")
            let keyless = try Ledger(
                identity: LedgerIdentity(id: Self.ledgerID, origin: "x/log"),
                reading: viewed.log,
                publicKey: publicKey,
                options: Ledger.Options(
                    viewsPath: viewed.path,
                    bootID: "test",
                    isReadOnly: true,
                    clock: { Sample.day(40) }
                )
            )
            #expect(try keyless.auditor.status().views.position == 0)
            #expect(try keyless.auditor.audit(.hashes).isOK)
            try keyless.close()
            let ledger = try viewed.open()
            #expect(try ledger.auditor.status().views.discarded == nil)
            try ledger.close()
        }
    }

    // The control: the same roll-up under the vault's secret is believed.
    @Test func `state no revenue`() async throws {
        try await ScratchLedger.with { scratch in
            let question = ReportQuestion(
                .revenue,
                environment: .production,
                point: BitemporalPoint(at: scratch.clock.now, knownAt: .everything)
            )
            _ = try scratch.ledger.appender.record(
                Sample.submissions(Sample.ownedPurchase("u", "app_store/1"))
            )
            try scratch.ledger.reports.rollUp(.production)
            let own = try #require(scratch.ledger.questions.vault.viewSecret)
            let truth = try scratch.ledger.reports.revenueFromLog(question).months
            var forged = try #require(scratch.ledger.reports.rollUps.current(.revenue, .production))
            forged.table.add(
                1000,
                to: try #require(forged.table.cells.first),
                from: Sample.day(0),
                day: CalendarDay(Sample.day(0))
            )
            forged.table.settle()
            for (secret, isBelieved) in [(Self.thief, false), (own, true)] {
                let seal = ViewSeal(ledgerID: scratch.ledger.identity.id, secret: secret)
                let position = try scratch.ledger.questions.views.viewPosition(
                    forged.size,
                    bootID: ""
                )
                let bytes = try #require(
                    RollUpFile.bytes(
                        of: forged,
                        .revenue,
                        position: position,
                        environment: .production,
                        seal
                    )
                )
                try scratch.close()
                let file = scratch.viewsPath + "/revenue-production"
                try Data(bytes).write(to: URL(filePath: file))
                try scratch.reopen()
                #expect(
                    try (scratch.ledger.reports.revenue(question).months != truth) == isBelieved
                )
            }
        }
    }

    // A roll-up from before an erasure holds what opens no more.
    @Test func `and revenue from before an erasure are not believed`() async throws {
        try await ScratchLedger.with { scratch in
            for number in 1...2 {
                let lines = Sample.ownedPurchase("u\(number)", "app_store/\(number)")
                _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            }
            try scratch.ledger.reports.rollUp(.production)
            let file = URL(filePath: scratch.viewsPath + "/revenue-production")
            try scratch.close()
            let before = try Data(contentsOf: file)
            try scratch.reopen()
            let size = try scratch.ledger.questions.size()
            _ = try scratch.ledger.eraser.erase(
                ["u1"],
                Request(id: "e", source: "support", environment: .production),
                reading: StoredEvidenceNames()
            )
            try scratch.close()
            try before.write(to: file)
            try scratch.reopen()
            #expect(scratch.ledger.reports.rollUps.current(.revenue, .production)?.size == size)
            let question = ReportQuestion(
                .revenue,
                environment: .production,
                point: BitemporalPoint(at: scratch.clock.now, knownAt: .everything)
            )
            _ = try scratch.ledger.reports.revenue(question)
            #expect(scratch.ledger.reports.rollUps.current(.revenue, .production)?.size == size + 1)
        }
    }
}
