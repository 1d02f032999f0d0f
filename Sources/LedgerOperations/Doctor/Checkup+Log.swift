package import EntitlementLedger
import Entitlements
import LMDBStorage
package import LedgerAPI

/// Whether the log is whole, signed, kept elsewhere and has room.
extension Checkup {
    /// Events that views may be behind before anybody waits for them.
    private static let viewsBehindLimit: UInt64 = 1_000_000
    /// Bytes below which the next large commit or a view may not find room.
    private static let leastFreeBytes: Int64 = 256 << 20
    /// Days of growth that are to find room.
    private static let roomDays: Int64 = 30
    private static let growthDays: Int64 = 7
    /// Days after which something that is done daily at least is old.
    private static let signedDays: Int64 = 1
    private static let backupDays: Int64 = 7

    /// Looks at what the log says of itself.
    ///
    /// `hasNames`: whether it was opened with the master key.
    ///
    /// - Throws: what the log or a file of the directory throws.
    package mutating func lookAtLog(
        _ auditor: Auditor,
        _ status: StatusAnswer,
        hasNames: Bool = true
    ) throws {
        for impediment in auditor.impediments() where hasNames || impediment != .vault {
            addNotReady(impediment.rawValue)
        }
        if let fault = try auditor.clockFault(now, machine.clockWitness) {
            add(.clockWrong, fault.message, do: fault.remedy ?? "put the clock right")
        }
        lookAtHealth(status)
        if let disk = status.disk {
            let week = now.advanced(byMilliseconds: -Self.growthDays * Instant.millisecondsPerDay)
            lookAtRoom(
                disk,
                events: status.sequence,
                ofThemNew: try auditor.count(recordedAfter: week)
            )
        }
        if let since = try auditor.recordedAt(behind: status.checkpoint?.size ?? 0),
            isOlder(since, thanDays: Self.signedDays)
        {
            add(
                .checkpointOld,
                "events since \(since) are in no signed checkpoint",
                do: "`entitle checkpoint`, or a server with checkpointSeconds above 0"
            )
        }
        try lookAtCopies(auditor, status)
    }

    /// Adds what stands in the way of the ledger's whole work, in the words of `/readyz`.
    package mutating func addNotReady(_ reason: String) {
        add(
            .notReady,
            "the ledger does not do its whole work: \(reason)",
            at: path,
            do: "look at the server's log for \(reason); the page Run it says more"
        )
    }

    /// Adds the faults that an audit found, but those that a salvage named.
    package mutating func lookAtAudit(_ audit: AuditAnswer) {
        let kinds = Set(audit.faults.filter { !$0.isKnown }.map(\.kind.rawValue)).sorted()
        guard !kinds.isEmpty else { return }
        add(
            .auditFaults,
            "an audit finds faults: \(kinds.joined(separator: ", "))",
            at: path,
            do: "`entitle audit` names each; of views alone, `entitle rebuild` makes them anew"
        )
    }

    private mutating func lookAtHealth(_ status: StatusAnswer) {
        if let lost = status.lost {
            add(
                .eventsLost,
                "a salvage could not bring back \(lost) events",
                at: path,
                do: "`entitle audit` says which; import them again from their sources"
            )
        }
        if let discarded = status.views.discarded {
            add(
                .viewsDiscarded,
                "views are not believed: \(discarded)",
                at: path + "/" + LedgerDirectory.viewsName,
                do: "`entitle rebuild`, or let the next command that writes make them anew"
            )
        }
        let behind =
            status.sequence > status.views.position ? status.sequence - status.views.position : 0
        if behind > Self.viewsBehindLimit, status.views.discarded == nil {
            add(
                .viewsBehind,
                "views are \(behind) events behind the log",
                at: path + "/" + LedgerDirectory.viewsName,
                do: "nothing: whoever opens it to write follows up; `entitle rebuild` does it now"
            )
        }
    }

    /// Looks whether there is room for what comes, and to make the views anew beside the old ones.
    package mutating func lookAtRoom(
        _ disk: StatusAnswer.DiskUse,
        events: UInt64,
        ofThemNew new: UInt64
    ) {
        let free = "\(disk.free >> 20) MiB are free"
        guard disk.free >= Self.leastFreeBytes else {
            add(
                .diskLow,
                free,
                at: path,
                do: "make room or move the ledger to a larger disk: what is full takes nothing"
            )
            return
        }
        // Approximate, so that no product of large counts needs to fit.
        let taken = Double(disk.log) + Double(disk.vault) + Double(disk.views)
        let daily = taken / Double(max(1, events)) * Double(new) / Double(Self.growthDays)
        if daily > 0, Double(disk.free) / daily < Double(Self.roomDays) {
            add(
                .diskFilling,
                "\(free), enough for \(Int(Double(disk.free) / daily)) days as the ledger grows",
                at: path,
                do: "make room or move the ledger to a larger disk"
            )
        } else if disk.free < disk.views {
            add(
                .diskFilling,
                "\(free), less than the views take, which are made anew beside the old ones",
                at: path,
                do: "make room or move the ledger to a larger disk"
            )
        }
    }

    /// Looks at backups and the archive.
    private mutating func lookAtCopies(_ auditor: Auditor, _ status: StatusAnswer) throws {
        let archive = settings[.archive] ?? path + "/" + ArchiveDirectory.name
        let archived = try Publication.archivedSize(at: archive)
        if settings[.archive] != nil || archived != nil,
            let since = try auditor.recordedAt(behind: archived ?? 0),
            isOlder(since, thanDays: Self.signedDays)
        {
            add(
                .archiveBehind,
                "events since \(since) are not in the archive",
                at: archive,
                do: "`entitle archive`, or run the server with \(Setting.archive.variable)"
            )
        }
        guard let last = try BackupList.lastInstant(ofLedgerAt: path) else {
            guard status.sequence > 0 else { return }
            add(
                .backupMissing,
                "no backup was made, and an archive alone brings back no name",
                at: path,
                do: "`entitle backup DIRECTORY` to another disk, daily; keep the key apart from it"
            )
            return
        }
        if isOlder(last, thanDays: Self.backupDays), try auditor.count(recordedAfter: last) > 0 {
            add(
                .backupOld,
                "the last backup is of \(last), and events were recorded since",
                at: path,
                do: "`entitle backup DIRECTORY`, daily"
            )
        }
    }
}
