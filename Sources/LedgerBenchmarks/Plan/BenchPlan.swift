import DurableFiles
package import Encodings
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerOperations

/// What can be measured.
package enum BenchTopic: String, CaseIterable, Sendable {
    case all, append, `import`, backfill, fold, whatif, rebuild, report, audit, access, state,
        explain
    case verify, proofs, archive, salvage, space, memory
}

extension OperationFault {
    /// A benchmark that answers wrongly measures nothing; `what` ought to hold.
    init(wrongAnswer what: String) {
        self.init(.wrongAnswer, "a benchmark went wrong", place: what)
    }

    /// Whoever started it has gone, or wants no more.
    static let interrupted = OperationFault(.interrupted, "the benchmarks were ended")
}

/// Who started the benchmarks: what is told, and asked, between two runs.
package struct BenchHost {
    /// Shows how far it has come.
    let progress: (String) -> Void
    /// Tells a partner, a line at a time.
    let tell: (JSONValue) -> Void
    /// Whether it is to end.
    let isInterrupted: () -> Bool

    /// Describes who started them.
    package init(
        progress: @escaping (String) -> Void,
        tell: @escaping (JSONValue) -> Void,
        isInterrupted: @escaping () -> Bool
    ) {
        self.progress = progress
        self.tell = tell
        self.isInterrupted = isInterrupted
    }
}

/// How much is measured, where, and beside whom.
package struct BenchPlan {
    /// Events of the larger benchmarks.
    let events: Int
    /// Runs of each row: its figures are their medians.
    let runs: Int
    /// Whether single operations are few.
    package let isQuick: Bool
    /// Another program that measures references between the runs; nil: the references of this one
    /// are measured.
    let partner: BenchPartner?
    /// A directory of this plan's own.
    let path: String
    private let host: BenchHost

    /// Makes the plan's directory in a parent.
    ///
    /// - Throws: `OperationFault`.
    package init(
        events: Int,
        runs: Int,
        isQuick: Bool,
        partnerRecords: String?,
        in parent: String,
        for host: BenchHost
    ) throws {
        self.events = events
        self.runs = runs
        self.isQuick = isQuick
        partner = partnerRecords.map { BenchPartner(recordsFile: $0, tell: host.tell) }
        self.host = host
        path = parent + "/entitle-bench-" + UUID().uuidString.lowercased()
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true
            )
        } catch {
            throw OperationFault(
                .cannotCreate,
                "the directory cannot be made",
                place: parent
            )
        }
    }

    /// Removes all that was made.
    package func discard() {
        // What is left behind stands in the system's temporary directory.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// A path that nothing stands at yet.
    package func fresh(_ name: String) -> String { path + "/" + name + "-" + UUID().uuidString }

    /// Measures rows together in so many runs; a body gives one figure for each heading.
    ///
    /// Each run measures both sides, one right after the other.
    package func rows(
        _ headings: [BenchHeading],
        _ body: (Int) throws -> [BenchRun]
    ) throws -> [BenchRow] {
        let name = headings.first?.name ?? ""
        let found = try (0..<runs).map { number in
            if host.isInterrupted() { throw OperationFault.interrupted }
            host.progress("\(name): run \(number + 1) of \(runs)")
            let found = try body(number)
            precondition(found.count == headings.count, "there is a figure for each heading")
            try partner?.takeTurn(zip(headings, found).map { ($0.name, $1.value) })
            return found
        }
        return headings.indices.map { index in
            BenchRow(headings[index], found.map { $0[index] })
        }
    }

    /// One row alone.
    package func row(_ heading: BenchHeading, _ body: (Int) throws -> BenchRun) throws -> BenchRow {
        try rows([heading]) { try [body($0)] }[0]
    }

    /// What a reference of this program gives; nil where a partner measures another in its place.
    func reference<Figure>(_ measure: () throws -> Figure) rethrows -> Figure? {
        partner == nil ? try measure() : nil
    }

    /// A ledger that holds customers with so many events each; a partner gets its records.
    func filledLedger(steps: Int, about events: Int) throws -> (BenchLedger, BenchEvents) {
        let story = BenchEvents(about: events, steps: steps)
        let bench = try BenchLedger(making: fresh("ledger"))
        _ = try bench.record(all: story, groupsOf: 1000)
        try partner?.hand(over: bench, from: 1)
        return (bench, story)
    }
}

/// A program that started this one and measures its own references on the same records, in turn.
struct BenchPartner {
    /// Where records are put: each after its length (u32, little-endian), one after another.
    let recordsFile: String
    /// Tells it a line.
    let tell: (JSONValue) -> Void

    /// Writes the log's records from a sequence on into the file.
    func hand(over bench: BenchLedger, from first: UInt64) throws {
        let file = try OutputFile.open(recordsFile)
        try bench.scan(from: first) { _, record in
            let length = UInt32(record.count)
            try file.write((0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) })
            try file.write(record.copy())
        }
        try file.close()
    }

    /// Tells a run's figures, and waits until the partner has measured its own.
    ///
    /// - Throws: `OperationFault` if the partner has gone.
    func takeTurn(_ figures: [(name: String, value: Double)]) throws {
        tell(
            .members([
                "run": .array(
                    figures.map { name, value in
                        .members(["name": .string(name), "value": .number("\(value)")])
                    }
                )
            ])
        )
        guard readLine() != nil else { throw OperationFault.interrupted }
    }
}
