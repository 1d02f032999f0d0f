import NIOCore
import Synchronization

/// Spans that wait to be sent, at most so many: where there is no room they are dropped and counted, so
/// that whoever is answered never waits for a collector.
final class SpanQueue: Sendable {
    private let state = Mutex(State())

    private struct State {
        var waiting = CircularBuffer<EndedSpan>()
        var counts: [Outcome: UInt64] = [:]
    }

    /// What became of a span.
    enum Outcome: String, CaseIterable {
        /// The collector took it.
        case sent
        /// There was no room for it.
        case dropped
        /// The collector did not answer, or not well, time and again.
        case failed
        /// The collector answered that it does not take it.
        case rejected
    }

    /// Spans that wait at most; some two megabytes.
    static let limit = 4096

    /// Adds one, or drops it.
    func add(_ span: EndedSpan) {
        state.withLock { state in
            guard state.waiting.count < Self.limit else {
                state.counts[.dropped, default: 0] += 1
                return
            }
            state.waiting.append(span)
        }
    }

    /// Takes out those that have waited longest.
    func take(upTo count: Int) -> [EndedSpan] {
        state.withLock { state in
            let taken = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(taken.count)
            return taken
        }
    }

    /// Adds those that were taken out last, before all others.
    func putBack(_ spans: [EndedSpan]) {
        state.withLock { state in
            for span in spans.reversed() { state.waiting.prepend(span) }
        }
    }

    /// Counts what became of some.
    func count(_ outcome: Outcome, _ number: Int) {
        state.withLock { $0.counts[outcome, default: 0] += UInt64(max(0, number)) }
    }

    /// How many had this outcome.
    subscript(outcome: Outcome) -> UInt64 { state.withLock { $0.counts[outcome] ?? 0 } }

    /// Appends the family; every sample is there from the start, so that an alert may rest on it.
    func append(to text: inout PrometheusText) {
        let counts = state.withLock { $0.counts }
        text.family("entitle_spans_total", "Spans of traces by what became of them.", .counter)
        for outcome in Outcome.allCases {
            text.sample(
                "entitle_spans_total",
                [("outcome", outcome.rawValue)],
                counts[outcome] ?? 0
            )
        }
    }
}
