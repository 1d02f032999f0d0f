package import Encodings
package import Entitlements
import EventLog

/// Times of the log that tell whether it is well looked after.
extension Auditor {
    /// When the first event behind a prefix was recorded; nil: the prefix is the whole log.
    ///
    /// Cost: two small reads.
    package func recordedAt(behind size: UInt64) throws -> Instant? {
        guard try size < questions.log.end().size else { return nil }
        return try questions.log.recordedAt(size)
    }

    /// How many events were recorded after an instant.
    ///
    /// Cost: a binary search.
    package func count(recordedAfter instant: Instant) throws -> UInt64 {
        let size = try questions.log.end().size
        return try size - questions.log.size(recordedBy: instant, upTo: size)
    }

    /// When something of each store was recorded last, as far as the newest events tell.
    ///
    /// `count`: how many of them are looked at. Cost: a pass over their headers.
    package func lastRecorded(amongNewest count: UInt64) throws -> [Name: Instant] {
        let end = try questions.log.end().size
        var recorded: [Name: Instant] = [:]
        try questions.log.scan(from: end > count ? end - count : 0, upTo: end) { header, _ in
            guard let source = SourceCode.name(of: header.source), Source.stores.contains(source)
            else { return true }
            recorded[Name(source)] = Instant(milliseconds: header.recordedAt)
            return true
        }
        return recorded
    }

    /// Why appends would wait for the clock (T3); nil: they would not.
    package func clockFault(_ now: Instant, _ witness: ClockWitness) throws -> LedgerFault? {
        do {
            _ = try ClockJudge({ now }, witness).now(
                behind: questions.log.end(),
                of: questions.log
            )
            return nil
        } catch let fault as LedgerFault {
            return fault
        }
    }
}
