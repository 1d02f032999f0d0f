import ModelSupport
import PostingIndex
import Testing

/// Which runs of the index are joined: each posting is written a few times, and few runs are looked
/// into (Storage, "Views").
struct `Runs of the index` {
    /// What came of runs that were added one after the other.
    private struct Added {
        var runs: [UInt64]
        /// Events of all runs that were written.
        var written: UInt64 = 0
        /// The most runs that there were.
        var most = 0
        /// Events of the largest run that came of joining.
        var largest: UInt64 = 0
    }

    private static func add(
        _ added: [UInt64],
        to runs: [UInt64] = [],
        joining first: ([UInt64]) -> Int = RunLevel.firstToJoin
    ) -> Added {
        var result = Added(runs: runs)
        for events in added {
            result.runs.append(events)
            result.written += events
            let start = first(result.runs)
            if start < result.runs.count - 1 {
                let joined = result.runs[start...].reduce(0, +)
                result.written += joined
                result.largest = max(result.largest, joined)
                result.runs.replaceSubrange(start..., with: [joined])
            }
            result.most = max(result.most, result.runs.count)
        }
        return result
    }

    @Test func `hold a log of 10 M events in few, and were written less than four times`() {
        let events = [UInt64](repeating: 100_000, count: 100)
        let added = Self.add(events)
        #expect(added.runs == [6_400_000, 1_600_000, 1_600_000, 400_000])
        #expect(added.written < 4 * 10_000_000)
        #expect(added.most < 10)
        // The control: all are joined each time.
        #expect(Self.add(events) { _ in 0 }.written > 40 * 10_000_000)
    }

    @Test func `of commands that append an event each stay few`() {
        let added = Self.add([UInt64](repeating: 1, count: 20_000), to: [5_000_000])
        #expect(added.runs.first == 5_000_000, "what is large is left alone")
        #expect(added.most < 15)
        #expect(added.written < 60 * 20_000)
    }

    @Test func `are joined to no run beyond the limit, those of older programs either`() {
        // Older programs stopped where two of their largest were more than 2^24 events.
        for standing in [[], [UInt64](repeating: 14_200_000, count: 10)] {
            let added = Self.add([UInt64](repeating: 100_000, count: 1_000), to: standing)
            #expect(added.largest <= RunLevel.joinLimit)
            #expect(added.largest > 16_000_000, "the limit was near")
            #expect(added.most < standing.count + 15)
        }
    }

    @Test func `are few, and written a few times, however large each is`() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<200 {
            let events = (0..<300).map { _ in
                UInt64(1) << UInt64.random(in: 0..<22, using: &random)
            }
            let added = Self.add(events)
            let total = events.reduce(0, +)
            #expect(added.runs.reduce(0, +) == total, "they follow one another without a gap")
            #expect(added.largest <= RunLevel.joinLimit)
            #expect(added.most <= 40)
            #expect(added.written <= 10 * total)
        }
    }
}
