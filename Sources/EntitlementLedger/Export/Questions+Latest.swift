package import Entitlements
import EventLog
package import LedgerAPI

/// The newest events that a filter lets through, and where older ones are.
package struct LatestEvents: Sendable {
    /// The newest first.
    package fileprivate(set) var events: [ToldEvent] = []
    /// Behind the last sequence that was not looked at.
    package fileprivate(set) var next: UInt64
    /// The log's size.
    package let size: UInt64
    /// Whether there is more that may be let through.
    package fileprivate(set) var goesOn: Bool

    /// Notes that only what stands before a sequence was left out.
    package mutating func olderStands(before sequence: UInt64) {
        (next, goesOn) = (sequence, sequence > 0)
    }
}

/// How many events were recorded in one stretch of time after the other.
package struct EventRate: Sendable {
    /// From when on it is counted.
    package let start: Instant
    /// Milliseconds of a stretch.
    package let step: Int64
    /// Events of each stretch, and of them those that say that something failed.
    package fileprivate(set) var counts: [(events: Int, failed: Int)]
    /// Whether all that was recorded since the start was looked at.
    package fileprivate(set) var isWhole = true
}

extension Questions {
    /// The newest events that a filter lets through, as a reader is shown them.
    ///
    /// `limit`: events, at most. Cost: the customer's or purchase's own events, else those of the log's
    /// end that it takes to find as many, at most 50 000.
    package func latest(
        _ filter: EventFilter,
        for reader: FeedReader,
        limit: Int
    ) throws -> LatestEvents {
        let size = try log.end().size
        var upper = min(filter.sequences.upperBound, size)
        let first = min(filter.sequences.lowerBound, upper)
        var (start, step) = (first, upper - first)
        if filter.customer == nil, filter.purchase == nil {
            // Fits: both are at most what they are taken from.
            start = upper - min(upper - first, Self.feedScanLimit)
            step = Self.firstLook
        }
        var latest = LatestEvents(next: start, size: size, goesOn: start > first)
        while upper > start {
            let lower = upper - min(step, upper - start)
            var bounded = filter
            bounded.sequences = lower..<upper
            // Whose it is a later event may tell, such as the claim of a purchase.
            bounded.knownTo = size
            var found: [UInt64] = []
            try headers(bounded) { found.append($0.sequence) }
            for sequence in found.reversed() {
                try log.readRecords([sequence]) { _, record in
                    if let event = try shown(record, filter, reader) {
                        latest.events.append(event.told)
                    }
                }
                if latest.events.count == limit {
                    (latest.next, latest.goesOn) = (sequence, sequence > first)
                    return latest
                }
            }
            upper = lower
            // Fits: a look is at most as long as the limit above.
            step = min(step * 4, Self.feedScanLimit)
        }
        return latest
    }

    /// Events that the first look into the log's end has.
    private static let firstLook: UInt64 = 256

    /// How many events of an environment were recorded in the time before an instant.
    ///
    /// Cost: a pass over the headers of the log's end, at most 50 000.
    package func recordedRate(
        in environment: StoreEnvironment,
        before end: Instant,
        stretches: Int,
        of step: Int64
    ) throws -> EventRate {
        // Fits: a handful of days.
        let start = end.advanced(byMilliseconds: -step * Int64(stretches))
        var rate = EventRate(
            start: start,
            step: step,
            counts: Array(repeating: (0, 0), count: stretches)
        )
        var upper = try log.end().size
        let least = upper - min(upper, Self.feedScanLimit)
        var isPast = false
        while upper > least, !isPast {
            let lower = upper - min(4 * Self.firstLook, upper - least)
            var filter = EventFilter(sequences: lower..<upper)
            filter.environment = environment
            try headers(filter) { header in
                let recorded = Instant(milliseconds: header.recordedAt)
                guard recorded >= start else {
                    isPast = true
                    return
                }
                guard recorded < end else { return }
                // Fits: it lies between both.
                let place = Int((recorded.milliseconds - start.milliseconds) / step)
                rate.counts[place].events += 1
                let failures: [EventKind] = [.verificationFailed, .failureRecorded, .flowFailed]
                if failures.contains(where: { $0.rawValue == header.kind }) {
                    rate.counts[place].failed += 1
                }
            }
            upper = lower
        }
        rate.isWhole = isPast || upper == 0
        return rate
    }
}

extension OpenedEvent {
    fileprivate var told: ToldEvent {
        ToldEvent(
            listed,
            kind,
            values,
            evidence: header.attached == .evidence ? header.attachedDigest?.hex : nil
        )
    }
}
