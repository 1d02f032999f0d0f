// Unsafe: system calls that fill a local variable, or a buffer that is passed with its length.

import DurableFiles
import Encodings
import Glibc
import LedgerOperations

/// Reads the monotonic clock (clock_gettime(2)).
package enum Stopwatch {
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

    /// What a body takes of the clock and of the process's cores, both in seconds.
    static func cost(_ body: () throws -> Void) rethrows -> Cost {
        let (written, processor) = (writtenBytes(), processorSeconds())
        let seconds = try seconds(body)
        return Cost(
            seconds: seconds,
            processorSeconds: processorSeconds() - processor,
            writtenBytes: writtenBytes() - written
        )
    }

    /// Bytes that the process has handed to the kernel to be written so far (`wchar`, proc(5)).
    ///
    /// Not `write_bytes`, which counts all of the pages that the kernel keeps together, of which one
    /// was changed: several times what goes to the disk.
    private static func writtenBytes() -> Double {
        // Where the kernel keeps no account, none are counted.
        let account = (try? DurableFile.read("/proc/self/io")) ?? []
        let lines = String(decoding: account, as: UTF8.self).split(separator: "\n")
        let written = lines.first { $0.hasPrefix("wchar:") }?.split(separator: " ").last
        return written.flatMap { Double($0) } ?? 0
    }

    /// Processor time of all threads so far, the kernel's on their behalf included (getrusage(2)).
    private static func processorSeconds() -> Double {
        var usage = rusage()
        _ = unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
        return [usage.ru_utime, usage.ru_stime]
            .map { Double($0.tv_sec) + Double($0.tv_usec) / 1e6 }
            .reduce(0, +)
    }

    /// Nanoseconds that a body takes.
    package static func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = now()
        try body()
        return Double(now() - start)
    }
}

/// What some work took.
struct Cost {
    var seconds = 0.0
    /// Of all cores together: it says what the work costs where others keep the cores busy.
    var processorSeconds = 0.0
    /// What its files grew by on disks, and what was written there anew.
    var writtenBytes = 0.0

    static func += (total: inout Cost, part: Cost) {
        total.seconds += part.seconds
        total.processorSeconds += part.processorSeconds
        total.writtenBytes += part.writtenBytes
    }

    /// Operations a second, and microseconds of processor time each.
    func runs(of count: Double, reference seconds: Double?) -> [BenchRun] {
        [
            BenchRun(value: count / self.seconds, reference: seconds.map { count / $0 }),
            BenchRun(value: processorSeconds / count * 1e6),
        ]
    }
}

/// Figures of one kind, to be asked for their middle and their tail.
package struct Samples {
    private(set) var values: [Double] = []

    /// None yet.
    package init() {}

    /// Adds one.
    package mutating func add(_ value: Double) { values.append(value) }

    mutating func add(contentsOf others: [Double]) { values += others }

    /// The value that a share of all does not exceed; 0 without values.
    func percentile(_ share: Double) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }

    /// The middle of them; 0 without values.
    package var median: Double { percentile(0.5) }

    /// The largest less the smallest, over the median; 0 without values.
    var spread: Double {
        guard let smallest = values.min(), let largest = values.max(), median > 0 else { return 0 }
        return (largest - smallest) / median
    }
}

/// What one run gave, in the unit of its row; the reference's figure where there is one.
package struct BenchRun {
    var value: Double
    var reference: Double?

    /// A run's figures.
    package init(value: Double, reference: Double? = nil) {
        self.value = value
        self.reference = reference
    }
}

/// What a row measures, and what stands beside it.
package struct BenchHeading {
    var name: String
    var unit: String
    var referenceName: String?

    /// `name`: the row's; `unit`: of both figures; `referenceName`: what stands beside it.
    package init(_ name: String, unit: String, against referenceName: String?) {
        self.name = name
        self.unit = unit
        self.referenceName = referenceName
    }
}

extension BenchHeading {
    /// Events a second, and what one costs of the processor: the headings of `Cost.runs`.
    static func events(
        _ name: String,
        unit: String = "events/s",
        against referenceName: String
    ) -> [BenchHeading] {
        [
            BenchHeading(name, unit: unit, against: referenceName),
            BenchHeading(name + "-processor", unit: "µs of processor each", against: nil),
        ]
    }
}

/// One line of a report: medians of several runs, each beside its reference.
package struct BenchRow {
    var heading: BenchHeading
    var value: Double
    var reference: Double?
    var runs: Int
    /// The largest ratio of a single run less the smallest, over the median ratio; without a
    /// reference, the same of the values.
    var spread: Double

    /// The value over the reference, both medians.
    var ratio: Double? {
        reference.flatMap { $0 > 0 ? value / $0 : nil }
    }

    init(_ heading: BenchHeading, _ runs: [BenchRun]) {
        self.heading = heading
        self.runs = runs.count
        var values = Samples()
        var references = Samples()
        var ratios = Samples()
        for run in runs {
            values.add(run.value)
            guard let reference = run.reference, reference > 0 else { continue }
            references.add(reference)
            ratios.add(run.value / reference)
        }
        value = values.median
        reference = references.values.isEmpty ? nil : references.median
        spread = references.values.isEmpty ? values.spread : ratios.spread
    }
}

/// A benchmark that answers wrongly measures nothing.
///
/// - Throws: `OperationFault` with what ought to hold.
package func requireRight(_ condition: Bool, _ what: String) throws {
    guard condition else { throw OperationFault(wrongAnswer: what) }
}

/// Reads a file and does nothing with it.
enum FileReading {
    private static let blockSize = 1 << 20

    /// Reads it once, a block after the other into the same memory.
    static func once(_ path: String) throws -> (bytes: Double, seconds: Double) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        try requireRight(descriptor >= 0, "the file can be read")
        defer { close(descriptor) }
        var block = [UInt8](repeating: 0, count: blockSize)
        var bytes = 0
        let seconds = Stopwatch.seconds {
            while true {
                let count = unsafe block.withUnsafeMutableBytes { buffer in
                    unsafe read(descriptor, buffer.baseAddress, buffer.count)
                }
                guard count > 0 else { return }
                bytes += count
            }
        }
        return (Double(bytes), seconds)
    }
}
