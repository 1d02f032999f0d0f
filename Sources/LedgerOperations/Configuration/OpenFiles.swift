import Foundation

/// How many files the process may have open.
package enum OpenFiles {
    /// Files that a server needs beside its connections: the ledger's, its own, those of a check.
    package static let reserve = 64

    /// The soft limit; nil: there is none, or none is told.
    package static var limit: Int? { ProcessLimits.current.soft(ProcessLimits.openFiles) }
}

/// What the process may take of the machine, as Linux tells it (proc_pid_limits(5)).
package struct ProcessLimits: Sendable {
    private let text: String

    /// The name of the limit of open files.
    package static let openFiles = "Max open files"
    /// The name of the limit of address space.
    package static let addressSpace = "Max address space"

    /// Takes the text of the limits.
    package init(text: String) { self.text = text }

    /// This process's.
    package static var current: ProcessLimits {
        // What the system does not tell is no limit to keep to.
        let text = try? String(contentsOfFile: "/proc/self/limits", encoding: .utf8)
        return ProcessLimits(text: text ?? "")
    }

    /// The soft limit of a name; nil: there is none, or none is told.
    package func soft(_ name: String) -> Int? {
        text.split(separator: "\n").first { $0.hasPrefix(name) }
            .flatMap { $0.dropFirst(name.count).split(separator: " ").first }
            .flatMap { Int($0) }
    }
}
