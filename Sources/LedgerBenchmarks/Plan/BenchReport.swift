package import Encodings
import Entitlements
import Foundation
import Presentation

/// The rows of a benchmark with the machine that they were measured on.
package struct BenchReport {
    let machine = BenchMachine()
    let rows: [BenchRow]

    /// A report, by the machine as it is now.
    package init(rows: [BenchRow]) { self.rows = rows }

    /// The `bench` shape (Interfaces, "Shapes").
    package var json: JSONValue {
        .members(["machine": machine.json, "rows": .array(rows.map(\.json))])
    }

    /// An aligned table, the machine above it.
    package var text: String {
        let heading = ["row", "value", "reference", "unit", "ratio", "runs", "spread", "against"]
        let table = TextTable.lines([heading] + rows.map(\.cells), numbers: [1, 2, 4, 5, 6])
        return ([machine.text] + table).joined(separator: "\n")
    }
}

extension BenchRow {
    /// The row's JSON form.
    var json: JSONValue {
        .members([
            "name": .string(heading.name), "value": Self.number(value),
            "unit": .string(heading.unit),
            "reference": reference.map(Self.number) ?? .null,
            "referenceName": .optional(reference == nil ? nil : heading.referenceName),
            "ratio": ratio.map(Self.number) ?? .null, "runs": .integer(runs),
            "spread": Self.number(spread),
        ])
    }

    /// The row's cells, in the order of the table's heading.
    var cells: [String] {
        [
            heading.name, Self.text(value), reference.map(Self.text) ?? "", heading.unit,
            ratio.map(Self.text) ?? "", String(runs),
            String(Int((spread * 100).rounded())) + " %",
            reference == nil ? "" : heading.referenceName ?? "",
        ]
    }

    /// A number with four significant digits, but whole above a thousand.
    private static func number(_ value: Double) -> JSONValue {
        .number(text(value))
    }

    private static func text(_ value: Double) -> String {
        guard value.isFinite else { return "0" }
        let whole = value.magnitude >= 1000
        return value.formatted(
            .number.precision(whole ? .fractionLength(0) : .significantDigits(1...4)).grouping(
                .never
            )
            .locale(Locale(identifier: "en_US_POSIX"))
        )
    }
}

/// Which machine measured: figures of two machines, or of two hours, do not compare.
struct BenchMachine {
    /// The processor's name (proc(5)).
    let processor: String
    /// Cores that the process may use.
    let cores = ProcessInfo.processInfo.activeProcessorCount
    /// Bytes.
    let memory = ProcessInfo.processInfo.physicalMemory
    /// The kernel's release.
    let kernel: String
    /// Over 1, 5 and 15 minutes, when the benchmark began.
    let loadAverage: String

    init() {
        processor =
            Self.read("/proc/cpuinfo").split(separator: "\n")
            .first { $0.hasPrefix("model name") }
            .flatMap { $0.split(separator: ":").last }
            .map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
        kernel = Self.read("/proc/sys/kernel/osrelease")
            .trimmingCharacters(in: .whitespacesAndNewlines)
        loadAverage = Self.read("/proc/loadavg").split(separator: " ").prefix(3)
            .joined(separator: " ")
    }

    private static func read(_ path: String) -> String {
        // What the system does not tell is left out of the description.
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }

    /// The machine's JSON form.
    var json: JSONValue {
        .members([
            "processor": .string(processor), "cores": .integer(cores),
            "memoryBytes": .integer(memory), "kernel": .string(kernel),
            "loadAverage": .string(loadAverage),
        ])
    }

    /// One line.
    var text: String {
        "\(processor), \(cores) cores, \(memory >> 30) GiB, Linux \(kernel), load \(loadAverage)"
    }
}
