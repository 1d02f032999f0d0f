import EntitlementLedger
import Entitlements
import Foundation
import LMDBStorage
import LedgerAPI
import LedgerOperations
import Stores
import Testing

/// Each row plants one fault and sees its code.
struct `A look at a ledger` {
    /// A ledger as it should be: signed, backed up, its key elsewhere.
    private static func healthy(_ body: (FileLedger, _ keyFile: String) throws -> Void) throws {
        try FileLedger.with { ledger throws in
            let digits = FileLedger.masterKey.map {
                String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
            }
            let key = try ledger.file("key", Array(digits.joined().utf8))
            try setMode(0o600, key)
            _ = try ledger.open { try $0.prover.checkpoint() }
            try noteBackup(ledger, at: SystemClock.now())
            try body(ledger, key)
        }
    }

    private static func noteBackup(_ ledger: FileLedger, at instant: Instant) throws {
        try BackupList.note(
            BackupList.Entry(path: ledger.folder + "/backup", at: instant.description),
            ledgerPath: ledger.path
        )
    }

    private static func setMode(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private static func later(_ days: Int64) -> Instant {
        SystemClock.now().advanced(byMilliseconds: days * Instant.millisecondsPerDay)
    }

    /// The codes of a look at directory, machine and log, the worst first.
    private static func codes(
        _ ledger: FileLedger,
        key: String?,
        machine: Machine = Machine(),
        settings: [Setting: String] = [:],
        at now: Instant = SystemClock.now(),
        _ more: (inout Checkup) throws -> Void = { _ in }
    ) throws -> [Finding.Code] {
        let settings = try Settings(file: nil) { settings[$0] }
        var checkup = Checkup(ofLedgerAt: ledger.path, settings, machine, at: now)
        var options = MasterKeyOptions(ofLedgerAt: ledger.path, settings)
        options.file = key
        try checkup.lookAtDirectory(options)
        checkup.lookAtMachine()
        checkup.lookAtWriter()
        try ledger.open(isReadOnly: true) { open throws in
            var status = try open.auditor.status()
            status.disk = StatusAnswer.DiskUse(log: 0, vault: 0, views: 0, free: 1 << 40)
            try checkup.lookAtLog(open.auditor, status)
        }
        try more(&checkup)
        return checkup.answer.findings.map(\.code)
    }

    // The control of all rows
    @Test func `finds nothing where nothing is wrong`() throws {
        try Self.healthy { ledger, key throws in
            #expect(try Self.codes(ledger, key: key) == [])
            let answer = DoctorAnswer(at: SystemClock.now(), [])
            #expect(answer.isOK)
        }
    }

    @Test(arguments: [
        (Finding.Code.directoryOpen, 0o770, ""), (.directoryOpen, 0o755, "/vault"),
        (.keyOpen, 0o640, "/../key"),
    ])
    func `finds what others may read or write`(
        _ code: Finding.Code,
        _ mode: Int,
        _ part: String
    ) throws {
        try Self.healthy { ledger, key throws in
            if part == "/vault" { try Self.setMode(0o711, ledger.path) }
            try Self.setMode(mode, ledger.path + part)
            #expect(try Self.codes(ledger, key: key) == [code])
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func `finds what is somebody else's`() throws {
        try Self.healthy { ledger, key throws in
            try FileManager.default.setAttributes(
                [.ownerAccountID: 12_345],
                ofItemAtPath: ledger.path + "/vault/data.mdb"
            )
            #expect(try Self.codes(ledger, key: key) == [.ownersDiffer])
        }
    }

    // A command of root's left it so, and the service that runs as the directory's owner cannot begin.
    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func `finds what the directory's owner may not read`() throws {
        try Self.healthy { ledger, key throws in
            func give(_ name: String, to user: Int) throws {
                try FileManager.default.setAttributes(
                    [.ownerAccountID: user],
                    ofItemAtPath: ledger.path + name
                )
            }
            for name in try FileManager.default.subpathsOfDirectory(atPath: ledger.path) {
                try give("/" + name, to: 12_345)
            }
            try give("", to: 12_345)
            #expect(try Self.codes(ledger, key: key) == [], "the control")
            try give("/closed", to: 0)
            #expect(try Self.codes(ledger, key: key) == [.ownersDiffer])
            // Such as settings that root keeps there.
            try Self.setMode(0o644, ledger.path + "/closed")
            #expect(try Self.codes(ledger, key: key) == [])
        }
    }

    @Test func `finds a key beside what it protects`() throws {
        try withTemporaryFolder { folder in
            let ledger = FileLedger(folder: folder)
            try Ledger.create(at: ledger.path)
            var checkup = Checkup(
                ofLedgerAt: ledger.path,
                Settings(),
                Machine(),
                at: SystemClock.now()
            )
            try checkup.lookAtDirectory(MasterKeyOptions(ofLedgerAt: ledger.path, Settings()))
            #expect(checkup.answer.findings.map(\.code) == [.keyBesideData])
            #expect(checkup.answer.isOK, "it is a note")
        }
    }

    @Test func `finds an older format and a writer that was stopped`() throws {
        try Self.healthy { ledger, key throws in
            let manifest = ledger.path + "/ledger.json"
            let text = try String(contentsOfFile: manifest, encoding: .utf8)
            let older = text.replacingOccurrences(of: #""format" : 2"#, with: #""format" : 1"#)
            #expect(older != text)
            try Data(older.utf8).write(to: URL(filePath: manifest))
            try Data().write(to: URL(filePath: ledger.path + "/unclean"))
            #expect(try Self.codes(ledger, key: key) == [.uncleanStop, .formatOlder])
        }
    }

    // Z6
    @Test func `finds an erasure that is not finished`() throws {
        try Self.healthy { ledger, _ in
            try Data().write(to: URL(filePath: ledger.path + "/vault/erasure"))
            var checkup = Checkup(
                ofLedgerAt: ledger.path,
                Settings(),
                Machine(),
                at: SystemClock.now()
            )
            try checkup.lookAtDirectory(nil)
            #expect(checkup.answer.findings.map(\.code) == [.erasureUnfinished])
        }
    }

    @Test func `finds who writes, and a server that does not answer`() throws {
        try Self.healthy { ledger, _ in
            func codes() -> [Finding.Code] {
                var checkup = Checkup(
                    ofLedgerAt: ledger.path,
                    Settings(),
                    Machine(),
                    at: SystemClock.now()
                )
                checkup.lookAtWriter()
                return checkup.answer.findings.map(\.code)
            }
            try ledger.open { _ throws in
                #expect(codes() == [.writerBusy])
                let socket = try #require(try LedgerSocket.prepare(ofLedgerAt: ledger.path))
                try Data().write(to: URL(filePath: socket))
                #expect(codes() == [.serverSilent])
            }
            #expect(codes() == [], "whoever has gone")
        }
    }

    @Test func `finds what is old`() throws {
        try Self.healthy { ledger, key throws in
            #expect(try Self.codes(ledger, key: key, at: Self.later(300)) == [], "nothing is new")
            _ = try ledger.importing([FileLedger.grant("late")])
            #expect(try Self.codes(ledger, key: key, at: Self.later(2)) == [.checkpointOld])
            let old: [Finding.Code] = [.backupOld, .checkpointOld]
            #expect(try Self.codes(ledger, key: key, at: Self.later(30)) == old)
            try FileManager.default.removeItem(atPath: ledger.path + "/" + BackupList.fileName)
            let archive: [Setting: String] = [.archive: ledger.folder + "/archive"]
            #expect(
                try Self.codes(ledger, key: key, settings: archive, at: Self.later(2))
                    == [.archiveBehind, .backupMissing, .checkpointOld]
            )
        }
    }

    @Test func `finds a clock that is not believed`() throws {
        try Self.healthy { ledger, key throws in
            #expect(try Self.codes(ledger, key: key, at: Self.later(-1)) == [.clockWrong])
        }
    }

    /// Spoils what a machine tells.
    private typealias Plant = @Sendable (inout Machine) -> Void
    private static let machineFaults: [(Finding.Code, Plant)] = [
        (.clockUnsynchronized, { $0.isClockSynchronized = false }),
        (
            .addressSpaceLimited,
            { $0.limits = ProcessLimits(text: "Max address space   8388608   unlimited  bytes\n") }
        ),
        (.swapInUse, { $0.swaps = "Filename Type\n/dev/sda2 partition\n" }),
        (.overcommitStrict, { $0.overcommit = "2\n" }),
        (.timeZonesMissing, { $0.hasTimeZones = false }),
        (.variableUnknown, { $0.variables = ["PATH", "ENTITLE_PORT", "ENTITLE_PROT"] }),
        (
            .fileSystemRemote,
            { $0.mounts = "1 0 0:1 / / rw - ext4 a rw\n2 1 0:2 / / rw,x shared:1 - nfs4 b rw\n" }
        ),
        (.fileSystemVolatile, { $0.mounts = "1 0 0:1 / / rw - overlay a rw\n" }),
    ]

    @Test func `finds a machine that cannot do it`() throws {
        for (code, plant) in Self.machineFaults {
            try Self.healthy { ledger, key throws in
                var machine = Machine()
                machine.limits = ProcessLimits(text: "Max address space   unlimited  unlimited\n")
                machine.swaps = "Filename Type\n"
                machine.overcommit = "0\n"
                machine.variables = ["PATH", "ENTITLE_PORT", "ENTITLE_CONFIG"]
                machine.mounts = "1 0 0:1 / / rw - ext4 a rw\n2 1 0:2 / /mnt/nfs rw - nfs4 b rw\n"
                #expect(try Self.codes(ledger, key: key, machine: machine) == [], "the control")
                plant(&machine)
                #expect(try Self.codes(ledger, key: key, machine: machine) == [code])
            }
        }
    }

    @Test(arguments: [
        (Int64(1 << 20), Int64(0), UInt64(0), Finding.Code.diskLow),
        (1 << 30, 2 << 30, 0, .diskFilling), (1 << 30, 0, 100, .diskFilling),
        (1 << 40, 1 << 30, 100, nil),
    ])
    func `finds too little room`(
        _ free: Int64,
        _ views: Int64,
        _ new: UInt64,
        _ code: Finding.Code?
    ) throws {
        var checkup = Checkup(ofLedgerAt: "/ledger", Settings(), Machine(), at: SystemClock.now())
        let disk = StatusAnswer.DiskUse(log: 1 << 30, vault: 0, views: views, free: free)
        checkup.lookAtRoom(disk, events: 100, ofThemNew: new)
        #expect(checkup.answer.findings.map(\.code) == [code].compactMap(\.self))
    }

    @Test func `finds what the log says of itself`() throws {
        try Self.healthy { ledger, key throws in
            let found = try Self.codes(ledger, key: key) { checkup in
                try ledger.open(isReadOnly: true) { open throws in
                    var status = try open.auditor.status()
                    status.lost = 7
                    status.views.discarded = "a reason"
                    try checkup.lookAtLog(open.auditor, status)
                    status.lost = nil
                    status.views = .init(position: 0, discarded: nil)
                    status.sequence = 2_000_000
                    try checkup.lookAtLog(open.auditor, status)
                }
                checkup.lookAtAudit(.unreadable)
                checkup.addNotReady("vault")
            }
            #expect(found == [.auditFaults, .eventsLost, .notReady, .viewsDiscarded, .viewsBehind])
        }
    }

    @Test func `comes with the worst first and in words`() throws {
        var checkup = Checkup(ofLedgerAt: "/ledger", Settings(), Machine(), at: SystemClock.now())
        checkup.add(.swapInUse, "a note", do: "nothing")
        #expect(checkup.answer.isOK)
        checkup.add(.viewsDiscarded, "a warning", at: "/ledger/views", do: "rebuild")
        let fault = OperationFault(.noKey, "an error", place: "/ledger/key", hint: "give it")
        checkup.add(.keyUnusable, fault, do: "else")
        checkup.add(.unreadable, OperationFault(.damaged, "it is damaged"), do: "audit")
        let answer = checkup.answer
        #expect(!answer.isOK)
        #expect(
            answer.findings.map(\.code) == [.keyUnusable, .unreadable, .viewsDiscarded, .swapInUse]
        )
        #expect(answer.findings.map(\.remedy) == ["give it", "audit", "rebuild", "nothing"])
    }
}
