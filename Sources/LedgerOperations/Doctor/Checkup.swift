import DurableFiles
package import Entitlements
import Glibc
import LMDBStorage
package import LedgerAPI

/// A look at a ledger and all that it stands on: what is wrong, in words, with what to do.
///
/// Each part of the look takes what others measured and adds findings; none writes anything.
package struct Checkup: Sendable {
    /// The ledger's directory.
    package let path: String
    /// What is set.
    package let settings: Settings
    /// When it is looked.
    package let now: Instant
    let machine: Machine
    private var findings: [Finding] = []

    /// Begins a look.
    package init(
        ofLedgerAt path: String,
        _ settings: Settings,
        _ machine: Machine,
        at now: Instant
    ) {
        self.path = path
        self.settings = settings
        self.machine = machine
        self.now = now
    }

    /// What was found.
    package var answer: DoctorAnswer { DoctorAnswer(at: now, findings) }

    /// Files that the process may have open; nil: there is no limit.
    package var openFiles: Int? { machine.limits.soft(ProcessLimits.openFiles) }

    /// Whether others than its owner may read or write a file; false where it cannot be looked at.
    package func isOpenToOthers(_ file: String) -> Bool {
        // Whoever needs the file says why it cannot be had.
        guard let status = try? DurableFile.status(file, followsLinks: true) else { return false }
        return status.mode & (S_IRWXG | S_IRWXO) != 0
    }

    /// Adds a finding.
    package mutating func add(
        _ code: Finding.Code,
        _ what: String,
        at place: String? = nil,
        do remedy: String
    ) {
        findings.append(Finding(code, what, at: place, do: remedy))
    }

    /// Adds a fault as a finding.
    package mutating func add(_ code: Finding.Code, _ error: any Error, do remedy: String) {
        let fault = OperationFault(telling: error, ofLedgerAt: path)
        add(code, fault.message, at: fault.place, do: fault.hint ?? remedy)
    }

    /// Whether an instant lies more than some days back.
    func isOlder(_ instant: Instant, thanDays days: Int64) -> Bool {
        // Fits: a handful of days.
        instant.advanced(byMilliseconds: days * Instant.millisecondsPerDay) < now
    }
}
