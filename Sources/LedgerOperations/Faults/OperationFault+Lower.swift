import DurableFiles
import EntitlementLedger
import EventLog
import Foundation
import Glibc
import LMDBStorage
import SQLite
import Stores

/// Faults of the layers below, as a command tells them.
extension OperationFault {
    /// Gives a fault its exit status and advice.
    ///
    /// `place`: the directory of the ledger that it befell; nil: none is in hand.
    package init(telling error: any Error, ofLedgerAt place: String?) {
        switch error {
        case let fault as OperationFault: self = fault
        case let fault as LedgerOpenFault: self.init(fault, place)
        case let fault as LogStorageFault: self.init(fault, place)
        case let fault as LedgerFault: self.init(fault)
        case let fault as ArchiveFault: self.init(fault)
        case let fault as FileFault: self.init(fault, place)
        case let fault as StoreFault: self.init(fault)
        case let fault as NoteFault:
            self.init(Code(fault.code.rawValue, .integrity), fault.message)
        case let fault as DecodingFault where fault.isNewer: self.init(newer: fault.what, place)
        case let fault as DecodingFault:
            self.init(.damaged, fault.what, hint: "run `entitle audit` to see what is damaged")
        case let fault as DatabaseFault:
            self.init(.io, "a database cannot be written (SQLite \(fault.code))")
        case let error as CocoaError
        where [.fileReadNoPermission, .fileWriteNoPermission].contains(error.code):
            self.init(FileFault(EACCES, "open"), place)
        case let error as CocoaError:
            self.init(.io, "a file cannot be read or written (\(error.code.rawValue))")
        default:
            self.init(
                Code("internal", .internal),
                "unexpected: \(type(of: error))",
                hint: "this is a fault of the program: please report it"
            )
        }
    }

    private init(_ fault: StoreFault) {
        let (status, hint): (ExitStatus, String?) =
            switch fault.code {
            case .unavailable, .rateLimited, .resting, .malformed: (.tryAgain, nil)
            case .notPermitted:
                (.notPermitted, "look at the store's key in stores.json, and at its rights")
            case .notFound: (.conflict, "is it of this app, and of this environment?")
            case .rejected: (.failed, nil)
            }
        self.init(
            Code("store_" + fault.code.rawValue, status),
            "the store did not do it" + (fault.status.map { " (HTTP \($0))" } ?? ""),
            hint: fault.retryAfter.map { "try again in \($0) seconds" } ?? hint
        )
    }

    private init(_ fault: LedgerOpenFault, _ place: String?) {
        let word = fault.code.rawValue
        let (code, hint): (Code, String?) =
            switch fault.code {
            case .missing:
                (Code("no_ledger", .noInput), "make one with `entitle init --ledger DIR`")
            case .foreign: (Code("not_a_ledger", .badInput), nil)
            case .foreignLog:
                (
                    Code("foreign_log", .integrity),
                    "put its own log/ back, or `entitle restore` a backup into another directory"
                )
            case .newer: (.newer, Self.newerHint)
            case .notEmpty: (.notEmpty, "choose another directory")
            case .cannotCreate: (.cannotCreate, nil)
            case .wrongKey:
                (
                    Code("wrong_key", .misconfigured),
                    "give the ledger's master key, the newest one: --key-file FILE or ENTITLE_KEY_FILE"
                )
            case .locked, .recovering:
                (
                    Code(word, .tryAgain),
                    "wait until it is done, or end the server that holds it; commands that only read work "
                        + "meanwhile"
                )
            case .damaged:
                (.damaged, "`entitle salvage \(place ?? "DIR") --into NEW` rescues what is intact")
            case .treeLost:
                (
                    Code(word, .integrity),
                    "salvage it again with an archive or a backup, or with --continue"
                )
            case .shortened:
                (
                    Code(word, .integrity),
                    "`entitle salvage \(place ?? "DIR") --into NEW --continue --origin NAME` "
                        + "goes on with it under a new name"
                )
            case .clustered:
                (
                    Code(word, .tryAgain),
                    "serve it with `entitle serve --cluster`, and ask that server with --server"
                )
            case .sameOrigin: (.usage, "choose a name that the log never had")
            }
        // A key and a name are not of the directory.
        let isOfPlace = fault.code != .wrongKey && fault.code != .sameOrigin
        self.init(code, fault.message, place: isOfPlace ? place : nil, hint: hint)
    }

    private init(_ fault: LogStorageFault, _ place: String?) {
        switch fault.code {
        case .full: self.init(.fullDisk, fault.message, hint: Self.fullDiskHint)
        case .outcomeUnknown:
            self.init(
                Code("outcome_unknown", .io),
                fault.message,
                hint: "see whether it stands before you run it again; an import finds what does"
            )
        case .damaged:
            self.init(
                .damaged,
                fault.message,
                hint: "run `entitle audit`; views are remade with `entitle rebuild`"
            )
        case .replaced:
            self.init(
                Code(fault.code.rawValue, .io),
                fault.message + " while it was open: nothing was written",
                place: place,
                hint: "files of a ledger in use are never to be moved; run `entitle audit`"
            )
        case .unreadable: self.init(.io, fault.message)
        case .busy:
            self.init(
                Code("busy", .tryAgain),
                fault.message,
                hint: "run the same command again in a moment"
            )
        case .newerFormat: self.init(newer: fault.message, place)
        case .notInCluster:
            self.init(Code(fault.code.rawValue, .misconfigured), fault.message, place: place)
        case .noLeader:
            self.init(
                Code("no_leader", .tryAgain),
                fault.message,
                hint: "run the same command again in a moment"
            )
        }
    }

    private init(_ fault: FileFault, _ place: String?) {
        switch fault.code {
        case ENOSPC, EDQUOT:
            self.init(
                .fullDisk,
                "the disk is full (\(fault.operation))",
                hint: Self.fullDiskHint
            )
        case ENOTDIR:
            self.init(
                .cannotCreate,
                "something else stands where a directory is needed",
                hint: "choose another"
            )
        case EACCES, EPERM, EROFS:
            self.init(
                .notPermitted,
                "a file or directory may not be used so (\(fault.operation))",
                place: place,
                hint: "run it as the user to whom the ledger belongs, where it may write"
            )
        default: self.init(.io, "\(fault.operation) failed (errno \(fault.code))")
        }
    }

    private init(_ fault: ArchiveFault) {
        let word = "archive_" + fault.code.rawValue
        switch fault.code {
        case .missing: self.init(Code(word, .noInput), fault.message)
        case .locked: self.init(Code(word, .tryAgain), fault.message)
        case .forked, .damaged, .tooLong, .notSigned:
            self.init(
                Code(word, .integrity),
                fault.message,
                place: fault.sequence.map { "event \($0)" },
                hint: "`entitle archive --check --to PLACE` says all that is wrong there"
            )
        }
    }

    /// E5: the program stops, it never skips.
    private init(newer message: String, _ place: String?) {
        self.init(.newer, message, place: place, hint: Self.newerHint)
    }

    private static let newerHint = "use the program version that wrote it, or a newer one"
    private static let fullDiskHint =
        "make room, then run it again: nothing was half-written"
}

extension OperationFault.Code {
    fileprivate static let newer = OperationFault.Code("newer_format", .badInput)
}
