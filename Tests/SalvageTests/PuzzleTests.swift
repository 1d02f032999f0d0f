import EventLog
import Testing

@testable import Salvage

/// Which bytes a signed root proves, whatever lies about (row 3.6, row Z5).
struct `The puzzle of a salvage` {
    /// Two full bundles and a tail of 88 records, whose subtrees have 64, 16 and 8.
    private static let log = SampleLog(600)
    private static let full = 300
    private static let tail = 550

    private struct Outcome {
        var report: SalvageReport
        /// What the new log is made of.
        var entries: [[UInt8]]

        var root: Digest {
            SampleLog.edge(entries.map { TreeHash.leaf(ofEntry: $0.span) }).root
        }
    }

    private static func salvage(
        _ original: MemorySource,
        copies: [any DamagedSource] = [],
        signed: [Checkpoint] = [],
        earlier: KnownLoss? = nil
    ) throws -> Outcome {
        let rules = SalvageRules(
            sharedPartDigest: { _ in nil },
            namedStreams: { _ in [] },
            erasedStreams: { _ in [] },
            deletedEvidence: { _ in [] }
        )
        var salvage = try LogSalvage(
            original,
            copies: copies,
            closedSize: 0,
            signed: signed,
            earlier: earlier,
            rules: rules
        ) { _ in true }
        var entries: [[UInt8]] = []
        let report = try salvage.run(progress: { _, _ in }) { entries += $0.records }
        return Outcome(report: report, entries: entries)
    }

    private static func forged(_ sequence: Int) -> [UInt8] {
        SampleLog.record(UInt64(sequence), kind: 38)
    }

    // The control of all that is damaged below
    @Test(arguments: ["as they were", "reversed", "shuffled, each twice"])
    func `is solved by whole records in any order`(_ order: String) throws {
        var source = MemorySource(Self.log)
        switch order {
        case "reversed": source.records.reverse()
        case "shuffled, each twice": source.records = (source.records + source.records).shuffled()
        default: break
        }
        let outcome = try Self.salvage(source, signed: [Self.log.checkpoint(600)])
        #expect(outcome.report.isWhole)
        #expect(outcome.report.confirmed == 600)
        #expect(outcome.entries == Self.log.records)
    }

    // A server signs a new ledger before its first event.
    @Test func `is solved though the empty log was signed, too`() throws {
        let signed = [Self.log.checkpoint(0), Self.log.checkpoint(600)]
        let outcome = try Self.salvage(MemorySource(Self.log), signed: signed)
        #expect(outcome.report.isWhole)
        #expect(outcome.report.confirmed == 600)
    }

    @Test func `leaves a gap for what is missing, and the root as it was signed`() throws {
        var source = MemorySource(Self.log)
        source.replace(Self.full, with: nil)
        let outcome = try Self.salvage(source, signed: [Self.log.checkpoint(600)])
        #expect(outcome.report.gaps.map(\.sequences) == [300..<301])
        #expect(outcome.report.gaps.map(\.cause) == [.overwritten])
        #expect(outcome.report.isProven)
        #expect(outcome.report.confirmed == 599)
        #expect(outcome.root == Self.log.edge(600).root)
    }

    // A forged record has a checksum that fits.
    @Test func `takes no forged record where the tree names another`() throws {
        var source = MemorySource(Self.log)
        source.replace(Self.full, with: Self.forged(Self.full))
        let alone = try Self.salvage(source)
        #expect(alone.report.gaps.map(\.cause) == [.altered])
        #expect(alone.root == Self.log.edge(600).root)
        // The control: the true one beside it, though it is not in use.
        let own = Self.log.records[Self.full]
        source.records.append(MemorySource.Stored(bytes: own, isLive: false))
        let both = try Self.salvage(source)
        #expect(both.report.isWhole)
        #expect(both.entries == Self.log.records)
    }

    @Test func `confirms nothing of a subtree with a forged record in it`() throws {
        var source = MemorySource(Self.log)
        source.replace(Self.tail, with: Self.forged(Self.tail))
        let outcome = try Self.salvage(source, signed: [Self.log.checkpoint(600)])
        #expect(outcome.report.unconfirmed == [512..<576])
        #expect(outcome.report.confirmed == 536)
        #expect(!outcome.report.isProven)
        #expect(outcome.root != Self.log.edge(600).root)
    }

    @Test(arguments: [true, false])
    func `leaves a gap for two records of one place that no hash tells apart`(
        _ isForgedLive: Bool
    ) throws {
        var source = MemorySource(Self.log)
        let forged = MemorySource.Stored(bytes: Self.forged(Self.tail), isLive: isForgedLive)
        source.records.insert(forged, at: 0)
        let outcome = try Self.salvage(source)
        #expect(outcome.report.gaps.map(\.cause) == (isForgedLive ? [.ambiguous] : []))
        // The control: of two the one in use counts, and the root bears it out.
        #expect(outcome.report.isProven != isForgedLive)
        #expect((outcome.entries == Self.log.records) != isForgedLive)
    }

    @Test(arguments: [full, tail])
    func `is filled from a copy, and by no forged one`(_ sequence: Int) throws {
        var source = MemorySource(Self.log)
        source.replace(sequence, with: nil)
        var copy = MemorySource(Self.log)
        let filled = try Self.salvage(source, copies: [copy])
        #expect(filled.report.isWhole)
        #expect(filled.report.refilled == 1)
        #expect(filled.entries == Self.log.records)
        copy.replace(sequence, with: Self.forged(sequence))
        copy.statedEnds = []
        let forged = try Self.salvage(source, copies: [copy])
        #expect(forged.report.confirmed == (sequence == Self.full ? 599 : 536))
        #expect(!forged.report.isWhole)
    }

    // Neither tiles nor an end: what is signed of a shorter log is all that there is to go by.
    @Test func `is proven by a root of an older size as far as that reaches`() throws {
        var source = MemorySource(Self.log)
        source.values = [:]
        source.statedEnds = []
        let older = try Self.salvage(source, signed: [Self.log.checkpoint(512)])
        #expect(older.report.confirmed == 512)
        #expect(older.report.unconfirmed == [512..<600])
        // The controls: no root, and that of another tree.
        #expect(try Self.salvage(source).report.unconfirmed == [0..<600])
        source.replace(Self.full, with: Self.forged(Self.full))
        let other = try Self.salvage(source, signed: [Self.log.checkpoint(512)])
        #expect(other.report.unconfirmed == [0..<600])
        #expect(!other.report.isProven)
    }

    // What an earlier salvage wrote has a tree that nobody signed.
    @Test func `is not proven by the end of a log whose tree was lost`() throws {
        let source = MemorySource(Self.log)
        let treeLost = KnownLoss(isTreeLost: true)
        #expect(try !Self.salvage(source, earlier: treeLost).report.isProven)
        let cut = try Self.salvage(source, earlier: KnownLoss(isTreeLost: true, behindEnd: 5))
        #expect(cut.report.gaps.map(\.sequences) == [600..<605])
        // The controls: a loss that left the tree as it was, and a signed root of everything.
        #expect(try Self.salvage(source, earlier: KnownLoss(behindEnd: 5)).report.isWhole)
        let signed = [Self.log.checkpoint(600)]
        #expect(try Self.salvage(source, signed: signed, earlier: treeLost).report.isWhole)
    }

    // Z5: a gap that was not listed, and was taken back, took the last that was from the list.
    @Test func `lists the same gaps whatever is lost at the end behind them`() {
        var report = SalvageReport()
        for place in 0..<UInt64(SalvageReport.listLimit) {
            report.note(gapAt: place * 2, .missing, pages: nil)
            report.lostWithin += 1
        }
        let listed = report.gaps
        let end = UInt64(SalvageReport.listLimit) * 2
        report.note(gapAt: end, .missing, pages: nil)
        report.lostWithin += 1
        report.dropGap(atEnd: end)
        #expect(report.gaps == listed)
        #expect(report.lost == UInt64(listed.count) && report.lostWithin == report.lost)
        // The control: one that is listed is taken back.
        report.dropGap(atEnd: end - 2)
        #expect(report.gaps == Array(listed.dropLast()))
    }

    @Test func `lacks what was signed and is nowhere`() throws {
        let signed = SampleLog(605).checkpoint(605)
        let outcome = try Self.salvage(MemorySource(Self.log), signed: [signed])
        #expect(outcome.report.size == 605)
        #expect(outcome.report.gaps.map(\.sequences) == [600..<605])
        #expect(!outcome.report.isProven)
        #expect(outcome.entries == Self.log.records)
    }
}
