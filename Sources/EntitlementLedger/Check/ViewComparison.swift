import Encodings
import Entitlements
import EventLog
import LedgerAPI
import PostingIndex

/// Where views say other than the log.
struct ViewDifference: Sendable {
    var sequence: UInt64?
    var detail: String
}

extension Auditor {
    /// Reads the log's index again and compares it with the tables: every expected posting is
    /// there, and no other.
    ///
    /// Cost: one pass over log and tables, on all cores. What is expected and what is there are
    /// added up to fingerprints; only where these differ it looks for the events, one by one.
    ///
    /// - Throws: `ViewDamage`, what the log throws; `CancellationError` where walks over the log are ended.
    func viewDifferences() throws -> [ViewDifference] {
        var differences: [ViewDifference] = []
        for run in questions.views.tables?.runs ?? [] {
            var expected = IndexFingerprint()
            var next = run.sequences.lowerBound
            while next < run.sequences.upperBound {
                try questions.walkEnd.check()
                let end = min(next + IndexFingerprint.eventsAtOnce, run.sequences.upperBound)
                expected.add(try Postings.collect(questions.log, next..<end))
                next = end
            }
            if try IndexFingerprint(of: run) != expected {
                differences += try self.differences(of: run)
            }
        }
        return differences
    }

    private func differences(of run: IndexRun) throws -> [ViewDifference] {
        var differences: [ViewDifference] = []
        var expected = IndexFingerprint.Counts()
        func note(_ sequence: UInt64?, _ detail: String) {
            if differences.count < AuditAnswer.faultLimit {
                differences.append(ViewDifference(sequence: sequence, detail: detail))
            }
        }
        try questions.log.scan(
            from: run.sequences.lowerBound,
            upTo: run.sequences.upperBound
        ) { header, record in
            var postings = Postings(reservingFor: 1)
            postings.append(try header.indexEntry(record))
            for posting in postings.streams {
                expected.streams += 1
                if try !run.streams.holds(posting) {
                    note(header.sequence, "the event is missing from a stream of the views")
                }
            }
            for posting in postings.signals {
                expected.signals += 1
                if try !run.signals.holds(posting) {
                    note(header.sequence, "the event's signal is missing from the views")
                }
            }
            return true
        }
        if run.streams.description.count > expected.streams {
            note(nil, "the views list events that are not there")
        }
        if run.signals.description.count > expected.signals {
            note(nil, "the views list signals that are not there")
        }
        if differences.isEmpty { note(nil, "the views list an event twice") }
        return differences
    }
}

/// What the postings of a range add up to, in whatever order they come.
///
/// Two ranges that differ by accident agree with a chance of 2^-64 for each table.
private struct IndexFingerprint: Equatable {
    private var streams: UInt64 = 0
    private var signals: UInt64 = 0
    private var counts = Counts()

    struct Counts: Equatable {
        var streams: UInt64 = 0
        var signals: UInt64 = 0
    }

    /// Events whose postings are held in memory.
    static let eventsAtOnce: UInt64 = 1 << 20

    init() {}

    /// Adds up both tables of a run, at once.
    init(of run: IndexRun) throws {
        let parts = IndexRun.Part.allCases
        let sums = try Concurrently.map(parts.count) { number in
            let table = run.table(parts[number])
            // What the filter hides is not there.
            let filter = try table.readFilter()
            var (sum, count, block) = (UInt64(0), UInt64(0), 0)
            while true {
                let read = try table.read(blocksFrom: block) { posting in
                    guard filter.mayContain(posting.key) else { return }
                    sum &+= Self.fingerprint(of: posting)
                    count += 1
                }
                guard read > 0 else { return (sum: sum, count: count) }
                block += read
            }
        }
        (streams, signals) = (sums[0].sum, sums[1].sum)
        counts = Counts(streams: sums[0].count, signals: sums[1].count)
    }

    mutating func add(_ postings: Postings) {
        for posting in postings.streams { streams &+= Self.fingerprint(of: posting) }
        for posting in postings.signals { signals &+= Self.fingerprint(of: posting) }
        counts.streams += UInt64(postings.streams.count)
        counts.signals += UInt64(postings.signals.count)
    }

    private static func fingerprint(of posting: Posting) -> UInt64 {
        KeyFilter.mix(KeyFilter.mix(posting.key) ^ posting.place)
    }
}

extension PostingTable {
    fileprivate func holds(_ posting: Posting) throws -> Bool {
        var isThere = false
        try read(posting.key) { if $0 == posting { isThere = true } }
        return isThere
    }
}
