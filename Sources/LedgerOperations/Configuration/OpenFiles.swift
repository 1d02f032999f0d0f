import Foundation

/// How many files the process may have open.
package enum OpenFiles {
    /// Files that a server needs beside its connections: the ledger's, its own, those of a check.
    package static let reserve = 64

    /// The soft limit, as Linux tells it (proc_pid_limits(5)); nil: there is none, or none is told.
    package static var limit: Int? {
        // What the system does not tell is no limit to keep to.
        guard let text = try? String(contentsOfFile: "/proc/self/limits", encoding: .utf8) else {
            return nil
        }
        let name = "Max open files"
        return text.split(separator: "\n").first { $0.hasPrefix(name) }
            .flatMap { $0.dropFirst(name.count).split(separator: " ").first }
            .flatMap { Int($0) }
    }
}
