import Entitlements
import EventLog

/// Where views say other than the log.
struct ViewDifference: Sendable {
    var sequence: UInt64?
    var detail: String
}

extension Ledger {
    /// Folds the log's index again and compares it with the tables: every expected entry is there,
    /// and no other.
    ///
    /// Cost: three look-ups a record.
    func viewDifferences() throws -> [ViewDifference] {
        let position = views.position
        var differences: [ViewDifference] = []
        func note(_ sequence: UInt64?, _ detail: String) {
            if differences.count < AuditReport.faultLimit {
                differences.append(ViewDifference(sequence: sequence, detail: detail))
            }
        }
        var expectedStreams = 0
        var expectedSignals = 0
        try log.scan(from: 0, upTo: position) { header, record in
            let entry = try header.indexEntry(record)
            for stream in Set(entry.streams) {
                expectedStreams += 1
                if try !views.tablesHold(stream: stream, entry) {
                    note(entry.sequence, "the event is missing from a stream of the views")
                }
            }
            switch try views.tablesSequence(of: entry.signal) {
            case entry.sequence?: expectedSignals += 1
            case let earlier? where earlier < entry.sequence:
                if try !holds(entry.signal, at: earlier) {
                    note(entry.sequence, "the views name another event for its signal")
                }
            default: note(entry.sequence, "the event's signal is missing from the views")
            }
            return true
        }
        var (streams, signals) = (0, 0)
        // A writer may have moved the tables on meanwhile.
        try views.scan(
            streams: { _, entry in if entry.sequence < position { streams += 1 } },
            signals: { _, sequence in if sequence < position { signals += 1 } }
        )
        if streams != expectedStreams { note(nil, "the views list events that are not there") }
        if signals != expectedSignals { note(nil, "the views list signals that are not there") }
        return differences
    }

    private func holds(_ signal: SignalDigest, at sequence: UInt64) throws -> Bool {
        var isSame = false
        try log.readRecords([sequence]) { isSame = try RecordHeader(reading: $1).signal == signal }
        return isSame
    }
}
