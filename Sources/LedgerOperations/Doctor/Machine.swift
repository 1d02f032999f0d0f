package import EntitlementLedger
import Foundation

/// What a ledger stands on, as the machine tells it.
package struct Machine: Sendable {
    /// Whether the kernel's clock is held by a source of time.
    package var isClockSynchronized = true
    /// What tells whether the clock is believed (T3).
    package var clockWitness = ClockWitness.trusting
    /// What the process may take.
    package var limits = ProcessLimits(text: "")
    /// What is mounted where (proc_pid_mountinfo(5)).
    package var mounts = ""
    /// What memory goes to (proc_swaps(5)).
    package var swaps = ""
    /// `vm.overcommit_memory` (proc_sys_vm(5)).
    package var overcommit = ""
    /// Whether there are time zones by name.
    package var hasTimeZones = true
    /// The names of the environment's variables.
    package var variables: [String] = []

    /// One of which nothing bad is told.
    package init() {}

    /// The machine that this runs on, for a ledger's directory.
    package init(ofLedgerAt path: String) {
        func text(_ file: String) -> String {
            // Of a system that does not tell nothing is found.
            (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        }
        isClockSynchronized = SystemClock.isSynchronized()
        clockWitness = SystemClock.witness(of: path)
        limits = .current
        mounts = text("/proc/self/mountinfo")
        swaps = text("/proc/swaps")
        overcommit = text("/proc/sys/vm/overcommit_memory")
        hasTimeZones = TimeZones.zone(named: "Europe/Berlin") != nil
        variables = Array(ProcessInfo.processInfo.environment.keys)
    }

    /// The kind of the file system that a path stands on; nil: none is told.
    ///
    /// `path`: absolute, without links.
    func fileSystem(of path: String) -> String? {
        var found: (length: Int, kind: String)?
        for line in mounts.split(separator: "\n") {
            let words = line.split(separator: " ")
            // Optional fields end with a lone hyphen; the kind stands behind it.
            guard words.count > 4, let end = words.dropFirst(5).firstIndex(of: "-"),
                end + 1 < words.count
            else { continue }
            // A space in a name is written so.
            let place = words[4].replacingOccurrences(of: "\\040", with: " ")
            let isAbove = place == "/" || path == place || path.hasPrefix(place + "/")
            // What is mounted over another comes behind it.
            if isAbove, place.utf8.count >= found?.length ?? 0 {
                found = (place.utf8.count, String(words[end + 1]))
            }
        }
        return found?.kind
    }
}
