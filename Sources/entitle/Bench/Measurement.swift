// The only unsafe code of the benchmarks: the clock's system call, which fills a local variable.

import Glibc

/// Reads the monotonic clock (clock_gettime(2)).
enum Stopwatch {
    /// Nanoseconds since some instant of the past.
    static func now() -> UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Seconds that a body takes.
    static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = now()
        try body()
        return Double(now() - start) / 1e9
    }

    /// Nanoseconds that a body takes.
    static func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = now()
        try body()
        return Double(now() - start)
    }
}

/// Figures of one kind, to be asked for their middle and their tail.
struct Samples {
    private(set) var values: [Double] = []

    mutating func add(_ value: Double) { values.append(value) }

    mutating func add(contentsOf others: [Double]) { values += others }

    /// The value that a share of all does not exceed; 0 without values.
    func percentile(_ share: Double) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }

    var median: Double { percentile(0.5) }
}

/// What one run gave on both sides, in the unit of its row.
struct BenchRun {
    var value: Double
    var reference: Double
}

/// One line of a report: medians of several runs, each beside its reference.
struct BenchRow {
    var name: String
    var value: Double
    var unit: String
    var reference: Double?
    var referenceName: String?
    var runs: Int
    /// The largest ratio of a single run less the smallest, over the median ratio.
    var spread: Double

    /// The value over the reference, both medians.
    var ratio: Double? {
        reference.flatMap { $0 > 0 ? value / $0 : nil }
    }

    init(_ name: String, unit: String, against referenceName: String, _ runs: [BenchRun]) {
        self.name = name
        self.unit = unit
        self.referenceName = referenceName
        self.runs = runs.count
        var values = Samples()
        var references = Samples()
        var ratios = Samples()
        for run in runs {
            values.add(run.value)
            references.add(run.reference)
            if run.reference > 0 { ratios.add(run.value / run.reference) }
        }
        value = values.median
        reference = references.median
        let middle = ratios.median
        let width = (ratios.values.max() ?? 0) - (ratios.values.min() ?? 0)
        spread = middle > 0 ? width / middle : 0
    }
}
