import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI

/// Whether the machine can do what a ledger needs.
extension Checkup {
    /// File systems of another machine: locks and mapped memory do not hold across machines (LMDB's
    /// `lmdb.h`, "Caveats").
    private static let remoteSystems: Set<Name> = [
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.sshfs",
        "fuse.s3fs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.rclone", "virtiofs",
    ]
    /// Those that are gone with their container, or with the machine's memory.
    private static let volatileSystems: Set<Name> = ["overlay", "tmpfs", "ramfs", "aufs"]

    /// Looks at the clock, limits, memory, time zones and the file system.
    package mutating func lookAtMachine() {
        if !machine.isClockSynchronized {
            add(
                .clockUnsynchronized,
                "nothing holds the machine's clock to the time",
                do: "run chrony or systemd-timesyncd on the machine (`timedatectl`)"
            )
        }
        lookAtFileSystem()
        if let bytes = machine.limits.soft(ProcessLimits.addressSpace) {
            add(
                .addressSpaceLimited,
                "a process may have \(bytes) bytes of address space: the log cannot grow beyond it",
                do: "ulimit -v unlimited, or set \(Setting.mapBytes.variable)"
            )
        }
        if machine.swaps.split(separator: "\n").count > 1 {
            add(
                .swapInUse,
                "memory may be written to a disk, keys too",
                at: "/proc/swaps",
                do: "encrypt the swap, or turn it off"
            )
        }
        if machine.overcommit.first == "2" {
            add(
                .overcommitStrict,
                "the system hands out no memory that it does not have",
                at: "vm.overcommit_memory",
                do: "leave room for caches and audits, or `sysctl vm.overcommit_memory=0`"
            )
        }
        if !machine.hasTimeZones {
            add(
                .timeZonesMissing,
                "there are no time zones: catalogs and sentences with one are refused",
                at: "/usr/share/zoneinfo",
                do: "install tzdata"
            )
        }
        lookAtVariables()
    }

    private mutating func lookAtFileSystem() {
        let place = URL(filePath: path).resolvingSymlinksInPath().path
        guard let kind = machine.fileSystem(of: place) else { return }
        if Self.remoteSystems.contains(Name(kind)) {
            add(
                .fileSystemRemote,
                "the ledger stands on \(kind): locks and mapped memory do not hold there",
                at: path,
                do: "stop whoever writes, and move it to a disk of the machine that runs it"
            )
        }
        if Self.volatileSystems.contains(Name(kind)) {
            add(
                .fileSystemVolatile,
                "the ledger stands on \(kind): it is gone with its container or at the next start",
                at: path,
                do: "put it on a volume or a disk of its own"
            )
        }
    }

    /// A variable that sets nothing leaves the default without a word.
    private mutating func lookAtVariables() {
        let known = Set(
            (Setting.allCases.map(\.variable) + Settings.otherVariables).map { Name($0) }
        )
        for name in machine.variables.sorted(by: { $0.precedes($1) })
        where name.hasPrefix(Setting.variablePrefix) && !known.contains(Name(name)) {
            let near = NearNames.near(name, among: known.map(\.text))
            add(
                .variableUnknown,
                "the variable sets nothing",
                at: name,
                do: near.isEmpty
                    ? "take it away; `entitle config show` lists those that there are"
                    : "did you mean \(near.joined(separator: ", "))?"
            )
        }
    }
}
