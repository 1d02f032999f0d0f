import Encodings
import Entitlements
import Foundation

/// What the commands that read everything hold in memory beyond mapped files, at most.
///
/// Each runs in a process of its own, as a user runs it.
package struct MemoryBench {
    let plan: BenchPlan

    private static let sampleInterval = 0.001
    private static let bytesEachMebibyte = 1_048_576.0

    func rows() throws -> [BenchRow] {
        let story = BenchEvents(about: plan.events, steps: 10)
        let file = plan.fresh("events") + ".ndjson"
        _ = try EventsFile(path: file).write(story)
        let empty = try BenchLedger(making: plan.fresh("ledger"))
        try empty.close()
        // The import comes first: the others read the ledger that it fills.
        let rows = try [
            ("import", ["import", file]), ("rebuild", ["rebuild"]), ("audit", ["audit"]),
        ]
        .map { name, words in
            let run = BenchRun(
                value: try peak(words + ["--ledger", empty.path]) / Self.bytesEachMebibyte
            )
            return BenchRow(
                BenchHeading("memory-" + name, unit: "MiB at peak", against: nil),
                [run]
            )
        }
        try empty.discard()
        try FileManager.default.removeItem(atPath: file)
        return rows
    }

    /// The most anonymous memory that a command has resident while it runs, in bytes, with the processes
    /// that it starts: `audit` works in one of its own.
    ///
    /// Mapped files are not anonymous: what remains is heap, stacks and the pages that a
    /// transaction has yet to write (proc_pid_status(5), `RssAnon`).
    private func peak(_ words: [String]) throws -> Double {
        let command = Process()
        command.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        command.arguments = words
        command.standardOutput = FileHandle.nullDevice
        command.standardError = FileHandle.nullDevice
        try command.run()
        var peak = 0.0
        while command.isRunning {
            let process = "\(command.processIdentifier)"
            let all = [process] + Self.children(of: process)
            peak = max(peak, all.map { Self.anonymousBytes(of: $0) }.reduce(0, +))
            Thread.sleep(forTimeInterval: Self.sampleInterval)
        }
        try requireRight(command.terminationStatus == 0, "\(words[0]) ends well")
        return peak
    }

    /// The numbers of the processes that a process has started and that run (proc_tid_children(5)).
    private static func children(of process: String) -> [String] {
        let tasks = "/proc/\(process)/task"
        // A process that has ended meanwhile has no threads any more.
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return threads.flatMap { thread -> [String] in
            let path = "\(tasks)/\(thread)/children"
            // A thread that has ended has no children any more.
            let list = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return list.split(separator: " ").map(String.init)
        }
    }

    /// Anonymous memory that a process has resident, in bytes; `process`: its number, or `self`.
    package static func anonymousBytes(of process: String) -> Double {
        // A process that has ended meanwhile has no status any more.
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let kibibytes = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
            .flatMap { $0.split(separator: " ").dropLast().last }
            .flatMap { Double($0) }
        return (kibibytes ?? 0) * 1024
    }
}
