import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerBenchmarks
import LedgerOperations
import SQLite

/// What a command ends with when it cannot do what it was asked: what, where, and what to do.
struct CommandFailure: Error {
    var exitCode: ExitCode
    /// A word of a closed set, for programs.
    var code: String
    /// What is wrong.
    var message: String
    /// Where, such as a path or a line.
    var place: String?
    /// What to do.
    var hint: String?
    /// When there are uses again, for a limit that is used up.
    var resetsAt: Instant?

    init(
        _ exitCode: ExitCode,
        _ code: String,
        _ message: String,
        place: String? = nil,
        hint: String? = nil
    ) {
        self.exitCode = exitCode
        self.code = code
        self.message = message
        self.place = place
        self.hint = hint
    }

    private static let fullDisk = "storage_full"

    /// RFC 9457 members, `code` and `hint`.
    var json: JSONValue {
        var members = [
            JSONMember("type", "about:blank"), JSONMember("title", .string(message)),
            JSONMember("code", .string(code)), JSONMember("detail", .optional(place)),
            JSONMember("hint", .optional(hint)),
            JSONMember("exitCode", .integer(exitCode.rawValue)),
        ]
        if let resetsAt { members.append(JSONMember("resetsAt", .instant(resetsAt))) }
        return .object(members)
    }
}

extension ExitCode {
    static let no = ExitCode(1)
    static let failed = ExitCode(2)
    static let integrity = ExitCode(3)
    static let conflict = ExitCode(4)
    static let usage = ExitCode(64)
    static let badInput = ExitCode(65)
    static let noInput = ExitCode(66)
    static let `internal` = ExitCode(70)
    static let cannotCreate = ExitCode(73)
    static let io = ExitCode(74)
    static let tryAgain = ExitCode(75)
    static let notPermitted = ExitCode(77)
    static let misconfigured = ExitCode(78)
    static let interrupted = ExitCode(130)
}

extension CommandFailure {
    /// Gives a fault of the layers below its exit code and advice.
    init(_ error: any Error) {
        switch error {
        case let fault as OperationFault: self.init(fault)
        case let fault as BenchFault: self.init(fault)
        case let fault as LedgerOpenFault: self.init(fault)
        case let fault as LogStorageFault: self.init(fault)
        case let fault as LedgerFault: self.init(fault)
        case let fault as ArchiveFault: self.init(fault)
        case let fault as NoteFault: self.init(.integrity, fault.code.rawValue, fault.message)
        case let fault as FileFault where [ENOSPC, EDQUOT].contains(fault.code):
            self.init(
                .io,
                Self.fullDisk,
                "the disk is full (\(fault.operation))",
                hint: "make room: nothing was half-written, and writing goes on by itself"
            )
        case let fault as FileFault where fault.code == ENOTDIR:
            self.init(
                .cannotCreate,
                "cannot_create",
                "something else stands where a directory is needed",
                hint: "choose another"
            )
        case let fault as FileFault:
            self.init(.io, "io", "\(fault.operation) failed (errno \(fault.code))")
        case let fault as DecodingFault where fault.isNewer: self.init(newer: fault.what)
        case let fault as DecodingFault:
            self.init(
                .integrity,
                "damaged",
                fault.what,
                hint: "run `entitle audit` to see what is damaged"
            )
        case let fault as DatabaseFault:
            self.init(.io, "io", "a database cannot be written (SQLite \(fault.code))")
        case let error as CocoaError:
            self.init(.io, "io", "a file cannot be read or written (\(error.code.rawValue))")
        default:
            self.init(
                .internal,
                "internal",
                "unexpected: \(type(of: error))",
                hint: "this is a fault of the program: please report it"
            )
        }
    }

    private init(_ fault: BenchFault) {
        switch fault {
        case .wrongAnswer(let what):
            self.init(.internal, "wrong_answer", "a benchmark went wrong", place: what)
        case .interrupted:
            self.init(.interrupted, "interrupted", "the benchmarks were ended")
        case .cannotCreate(let parent):
            self.init(
                .cannotCreate,
                "cannot_create",
                "the directory cannot be made",
                place: parent
            )
        }
    }

    private init(_ fault: OperationFault) {
        let exitCode: ExitCode =
            switch fault.code {
            case .usage: .usage
            case .noInput, .noFile, .noSource, .noVault: .noInput
            case .tooLarge, .notText: .badInput
            case .damaged, .forked: .integrity
            case .noCheckpoint: .tryAgain
            case .notPermitted: .notPermitted
            case .configuration, .noKey, .badKey: .misconfigured
            case .notEmpty, .cannotCreate: .cannotCreate
            case .io, .output: .io
            }
        self.init(
            exitCode,
            fault.code.rawValue,
            fault.message,
            place: fault.place,
            hint: fault.hint
        )
    }

    private init(_ fault: LedgerOpenFault) {
        let place = Settings.current.ledgerPath
        switch fault.code {
        case .missing:
            self.init(
                .noInput,
                "no_ledger",
                fault.message,
                place: place,
                hint: "make one with `entitle init --ledger DIR`"
            )
        case .foreign:
            self.init(.badInput, "not_a_ledger", fault.message, place: place)
        case .foreignLog:
            self.init(
                .integrity,
                "foreign_log",
                fault.message,
                place: place,
                hint: "put its own log/ back, or `entitle restore` a backup into another directory"
            )
        case .newer: self.init(newer: fault.message)
        case .notEmpty:
            self.init(
                .cannotCreate,
                "not_empty",
                fault.message,
                place: place,
                hint: "choose another directory"
            )
        case .cannotCreate: self.init(.cannotCreate, "cannot_create", fault.message, place: place)
        case .wrongKey:
            self.init(
                .misconfigured,
                "wrong_key",
                fault.message,
                hint: "give the key that `init` wrote: --key-file FILE or ENTITLE_KEY_FILE"
            )
        case .locked, .recovering:
            self.init(
                .tryAgain,
                fault.code.rawValue,
                fault.message,
                place: place,
                hint: "wait until it is done; commands that only read work meanwhile"
            )
        case .damaged:
            self.init(
                .integrity,
                "damaged",
                fault.message,
                place: place,
                hint: "`entitle salvage \(place ?? "DIR") --into NEW` rescues what is intact"
            )
        case .treeLost:
            self.init(
                .integrity,
                fault.code.rawValue,
                fault.message,
                place: place,
                hint: "salvage it again with an archive or a backup, or with --continue"
            )
        }
    }

    private init(_ fault: LogStorageFault) {
        switch fault.code {
        case .full:
            self.init(
                .io,
                Self.fullDisk,
                fault.message,
                hint: "make room: nothing was half-written, and writing goes on by itself"
            )
        case .outcomeUnknown:
            self.init(
                .io,
                "outcome_unknown",
                fault.message,
                hint: "run the same command again: what was recorded is found by its id"
            )
        case .damaged:
            self.init(
                .integrity,
                "damaged",
                fault.message,
                hint: "run `entitle audit`; views are remade with `entitle rebuild`"
            )
        case .replaced:
            self.init(
                .io,
                fault.code.rawValue,
                fault.message + " while it was open: nothing was written",
                place: Settings.current.ledgerPath,
                hint: "files of a ledger in use are never to be moved; run `entitle audit`"
            )
        case .unreadable: self.init(.io, "io", fault.message)
        case .busy: self.init(busy: fault.message)
        case .newerFormat: self.init(newer: fault.message)
        }
    }

    /// E5: the program stops, it never skips.
    private init(newer message: String) {
        self.init(
            .badInput,
            "newer_format",
            message,
            place: Settings.current.ledgerPath,
            hint: "use the program version that wrote it, or a newer one"
        )
    }

    private init(busy message: String) {
        self.init(
            .tryAgain,
            "busy",
            message,
            hint: "others are reading it in great number: run the same command again"
        )
    }

    private init(_ fault: LedgerFault) {
        switch fault.code {
        case .clockBehind, .clockAhead, .contended:
            self.init(.tryAgain, fault.code.rawValue, fault.message, hint: fault.remedy)
        case .readOnly: self.init(.notPermitted, "read_only", fault.message)
        case .unknownSequence:
            self.init(.badInput, "unknown_sequence", fault.message, hint: fault.remedy)
        case .shortened:
            self.init(
                .integrity,
                fault.code.rawValue,
                fault.message,
                hint: "events go on being recorded; whoever holds that checkpoint can show the gap"
            )
        }
    }

    private init(_ fault: ArchiveFault) {
        let place = fault.sequence.map { "event \($0)" }
        let code = "archive_" + fault.code.rawValue
        switch fault.code {
        case .missing: self.init(.noInput, code, fault.message)
        case .locked: self.init(.tryAgain, code, fault.message)
        case .forked, .damaged, .tooLong, .notSigned:
            self.init(
                .integrity,
                code,
                fault.message,
                place: place,
                hint: "run `entitle archive --check` to see all that is wrong"
            )
        }
    }

    /// Gives a refusal its exit code.
    init(_ refusal: Refusal) {
        let exitCode: ExitCode =
            switch refusal.code {
            case .overLimit, .notAllowed: .no
            case .invalidCatalog, .notPermitted, .tooLarge, .recordedTime: .badInput
            default: .conflict
            }
        self.init(
            exitCode,
            refusal.code.rawValue,
            refusal.detail,
            place: refusal.path.isEmpty ? nil : refusal.path,
            hint: refusal.resetsAt.map { "there are uses again at \($0)" }
        )
        resetsAt = refusal.resetsAt
    }
}
