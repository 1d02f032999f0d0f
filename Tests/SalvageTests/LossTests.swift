import EventLog
import Testing

@testable import Salvage

/// What a rescued ledger says of what it lacks (row 3.6, row Z5).
struct `A loss after another` {
    private static let earlier = KnownLoss(unconfirmed: 7, streams: 2, behindEnd: 3, firstLost: 90)

    /// Of 100 records the last five are lost, and four streams.
    private static var report: SalvageReport {
        var report = SalvageReport()
        report.size = 100
        report.records = 95
        report.isProven = false
        report.note(gap: 95..<100, .missing, pages: nil)
        report.vault.lostCount = 4
        return report
    }

    // The control
    @Test func `is what was found where nothing was lost before`() {
        let loss = KnownLoss(isTreeLost: true, streams: 4, behindEnd: 5, firstLost: 95)
        #expect(Self.report.loss(after: nil, isContinued: false) == loss)
        #expect(Self.report.loss(after: KnownLoss(), isContinued: false) == loss)
    }

    @Test func `is added to it where the log went on`() {
        let loss = KnownLoss(unconfirmed: 7, streams: 6, behindEnd: 8, firstLost: 90)
        #expect(Self.report.loss(after: Self.earlier, isContinued: true) == loss)
        #expect(SalvageReport().loss(after: Self.earlier, isContinued: false) == Self.earlier)
    }

    // What is still not there was counted once more.
    @Test func `has what records carried as it is missed now`() {
        var report = SalvageReport()
        report.lostAttached = [3, 5]
        let loss = report.loss(after: KnownLoss(attached: 2), isContinued: false)
        #expect(loss == KnownLoss(attached: 2))
    }

    @Test func `counts what was behind a lost end once`() {
        var earlier = Self.earlier
        earlier.isTreeLost = true
        let loss = KnownLoss(
            isTreeLost: true,
            unconfirmed: 7,
            streams: 6,
            behindEnd: 5,
            firstLost: 90
        )
        #expect(Self.report.loss(after: earlier, isContinued: false) == loss)
    }

    @Test func `is of names alone where a signed root proves all again`() {
        var earlier = Self.earlier
        earlier.isTreeLost = true
        let loss = SalvageReport().loss(after: earlier, isContinued: false)
        #expect(loss == KnownLoss(streams: 2))
    }

    @Test func `has no count beyond 64 bits`() {
        let most = KnownLoss(streams: .max, behindEnd: .max)
        let loss = Self.report.loss(after: most, isContinued: true)
        #expect(loss.streams == .max && loss.behindEnd == .max)
    }
}
