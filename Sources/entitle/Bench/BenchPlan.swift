import ArgumentParser
import Foundation

/// What can be measured.
enum BenchTopic: String, CaseIterable, ExpressibleByArgument {
    case all, append, `import`, rebuild, access, state, audit, space, verify
}

/// How much is measured, and where.
struct BenchPlan {
    /// Events of the larger benchmarks.
    let events: Int
    /// Runs of each row: its figures are their medians.
    let runs: Int
    /// Whether single operations are few.
    let isQuick: Bool
    /// A directory of this plan's own.
    let path: String

    /// Makes the plan's directory in a parent.
    init(events: Int, isQuick: Bool, in parent: String) throws {
        self.events = events
        self.isQuick = isQuick
        runs = isQuick ? 3 : 5
        path = parent + "/entitle-bench-" + UUID().uuidString.lowercased()
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true
            )
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "cannot_create",
                "the directory cannot be made",
                place: parent
            )
        }
    }

    /// Removes all that was made.
    func discard() {
        // What is left behind stands in the system's temporary directory.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// A path that nothing stands at yet.
    func fresh(_ name: String) -> String { path + "/" + name + "-" + UUID().uuidString }

    /// Makes so many runs; each measures both sides, one right after the other.
    func measured<Result>(_ what: String, _ run: (Int) throws -> Result) throws -> [Result] {
        try (0..<runs).map { number in
            if Interrupt.isRaised { throw ExitCode.interrupted }
            if Terminal.isErrorTerminal { Terminal.note("\(what): run \(number + 1) of \(runs)") }
            return try run(number)
        }
    }

    /// A ledger that holds customers with so many events each.
    func filledLedger(steps: Int, about events: Int) throws -> (BenchLedger, BenchEvents) {
        let story = BenchEvents(about: events, steps: steps)
        let bench = try BenchLedger(making: fresh("ledger"))
        _ = try bench.record(all: story, groupsOf: 1000)
        return (bench, story)
    }
}
