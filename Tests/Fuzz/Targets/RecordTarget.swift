import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import ModelSupport

/// A block of records as it stands on the disk, and all that is read from it: events, states, the
/// audit.
struct RecordTarget: MutatingFuzzTarget {
    private let recorded: FuzzedLedger
    let mutation = RecordMutation()

    /// Histories to take the samples from.
    private static let histories: Range<UInt64> = 3..<6
    /// Records of one sample.
    private static let sampleSize = 24

    init() throws { recorded = try FuzzedLedger(histories: Self.histories) }

    func seeds() -> [[UInt8]] {
        guard let records = try? recorded.records() else { return [] }
        return stride(from: 0, to: records.count, by: Self.sampleSize).map { first in
            Bundle.pack(records[first...].prefix(Self.sampleSize))
        }
    }

    func run(_ input: [UInt8]) {
        guard let log = FuzzedLog(input) else { return }
        read(log)
        do {
            let ledger = try recorded.ledger(over: log)
            try Self.refusing { try ledger.questions.events(Self.everything) { _, _ in true } }
            for reader in [FeedReader.everything, .application, .auditor] {
                try Self.refusing {
                    _ = try ledger.questions.feed(Self.everything, for: reader, limit: 1000)
                }
            }
            for customer in recorded.customers.prefix(3) {
                let question = CustomerQuestion(
                    customer: customer,
                    environment: .production,
                    point: BitemporalPoint(at: FuzzedLedger.now, knownAt: .everything)
                )
                try Self.refusing { _ = try ledger.questions.show(question).json }
                try Self.refusing { _ = try ledger.questions.timelineAnswer(question).json }
            }
            let audit = try ledger.auditor.audit()
            // No tile stands beside the block: what is there cannot be whole.
            demand(!audit.faults.isEmpty, "a log without its tree is not sound")
        } catch {
            fatalError("does not hold: what is damaged is said to be: \(error)")
        }
    }

    private static let everything = EventFilter(sequences: 0..<UInt64.max)

    /// A record that cannot be read is a fault with a name.
    private static func refusing(_ body: () throws -> Void) throws {
        do { try body() } catch is LogStorageFault {} catch is DecodingFault {}
    }

    /// Each record by itself.
    private func read(_ log: FuzzedLog) {
        let block = log.block.span
        guard let count = try? Bundle.count(block) else { return }
        for index in 0..<count {
            guard let range = try? Bundle.range(of: index, count: count, in: block),
                let header = try? RecordHeader(checking: block.extracting(range))
            else { continue }
            demand(header.length == range.count, "a record is as long as it says")
            demand(header.sealed.upperBound <= header.length, "its parts lie within")
            // No sample has it (C6): behind length and checksum.
            PlantedFault.strike(header.kind == EventKind.customerErased.rawValue)
        }
    }
}
