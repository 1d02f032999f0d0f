import ModelSupport
import PostingIndex
import Testing

/// Which runs of the index are joined: each posting is written a few times, and few runs are looked
/// into (Storage, "Views").
struct `Runs of the index` {
    /// Adds runs one after the other, and says what was written and the most runs that there were.
    private static func add(
        _ added: [UInt64],
        joining first: ([UInt64]) -> Int = RunLevel.firstToJoin
    ) -> (runs: [UInt64], written: UInt64, most: Int) {
        var runs: [UInt64] = []
        var written: UInt64 = 0
        var most = 0
        for events in added {
            runs.append(events)
            written += events
            let start = first(runs)
            if start < runs.count - 1 {
                let joined = runs[start...].reduce(0, +)
                written += joined
                runs.replaceSubrange(start..., with: [joined])
            }
            most = max(most, runs.count)
        }
        return (runs, written, most)
    }

    @Test func `hold a log of 10 M events in few, and were written less than four times`() {
        let added = [UInt64](repeating: 100_000, count: 100)
        let (runs, written, most) = Self.add(added)
        #expect(runs == [6_400_000, 1_600_000, 1_600_000, 400_000])
        #expect(written < 4 * 10_000_000)
        #expect(most <= 10)
        // The control: all are joined each time.
        #expect(Self.add(added) { _ in 0 }.written > 40 * 10_000_000)
    }

    @Test func `of commands that append an event each stay few`() {
        let (runs, written, most) = Self.add([5_000_000] + [UInt64](repeating: 1, count: 10_000))
        #expect(runs.first == 5_000_000, "what is large is left alone")
        #expect(most < 10)
        // Those of the lowest level are written anew each third time, and are 4 096 at most.
        #expect(written < 5_000_000 + 10_000 * 4_096 / 3)
    }

    @Test func `that are large are joined no more`() {
        let (runs, _, most) = Self.add([UInt64](repeating: 1 << 20, count: 200))
        #expect(runs.prefix(12).allSatisfy { $0 == RunLevel.joinLimit })
        #expect(most <= 12 + 2 * RunLevel.fanIn)
    }

    @Test func `follow one another without a gap, however large each is`() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<200 {
            let added = (0..<300).map { _ in
                UInt64(1) << UInt64.random(in: 0..<22, using: &random)
            }
            let (runs, written, most) = Self.add(added)
            let total = added.reduce(0, +)
            #expect(runs.reduce(0, +) == total)
            // Seven levels below what is joined no more, fewer than four of each.
            #expect(most <= 7 * (RunLevel.fanIn - 1) + Int(total / RunLevel.joinLimit) + 1)
            #expect(written <= 9 * total)
        }
    }
}
