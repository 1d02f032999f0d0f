import ArgumentParser
import Encodings
import Entitlements
import Foundation
import Glibc
import LedgerAPI
import LedgerOperations
import Synchronization

/// Standard output carries the result and nothing else; everything else goes to standard error.
enum Terminal {
    /// Ends the program if the output takes nothing more: as a closed pipe ends any, or, where the disk is
    /// full, with a fault; what was recorded stands.
    static func write(_ text: String) { write(Data(text.utf8)) }

    static func write(_ bytes: Data) {
        do {
            try FileHandle.standardOutput.write(contentsOf: bytes)
        } catch {
            if isBrokenPipe(error) { endByPipe() }
            let failure = OperationFault(
                .output,
                "standard output cannot be written",
                hint: "what was recorded stands: look at it before you run this again"
            )
            Invocation.end(failure, json: CommandLine.arguments.contains("--json"))
        }
    }

    private static func isBrokenPipe(_ error: any Error) -> Bool {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        return cause?.domain == NSPOSIXErrorDomain && cause?.code == Int(EPIPE)
    }

    /// Ends as a closed pipe ends any program: nobody reads any more, as behind `head -1`.
    ///
    /// The networking has this process pass over the signal that says so.
    private static func endByPipe() -> Never {
        TemporaryLedger.removeAll()
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        // Where this thread holds the signal back, the shell is told the same.
        Glibc.exit(128 + SIGPIPE)
    }

    static func line(_ text: String) { write(text + "\n") }

    /// A text from outside as a part of a line: it rewrites nothing, and is no longer than one reads.
    static func plain(_ text: String) -> String { plain(text, upTo: plainLimit) }

    /// `kept`: a control character that stays; nil: none does.
    private static func plain(
        _ text: String,
        upTo limit: Int,
        keeping kept: Unicode.Scalar? = nil
    ) -> String {
        let scalars = text.unicodeScalars.prefix(limit).map { scalar in
            scalar.properties.generalCategory == .control && scalar != kept ? "\u{FFFD}" : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }

    private static let plainLimit = 200
    /// Characters of each part of a fault that people are told.
    private static let faultLimit = 4096

    static func lines(_ lines: [String]) { write(lines.map { $0 + "\n" }.joined()) }

    static func line(_ json: JSONValue) { line(json.description) }

    static func line(_ text: AnswerText) { write(Data(text.bytes + [UInt8(ascii: "\n")])) }

    /// An answer: its JSON, or the lines that people read.
    static func tell(
        _ text: @autoclosure () -> AnswerText,
        or lines: @autoclosure () -> [String],
        asJSON isJSON: Bool
    ) {
        if isJSON { line(text()) } else { self.lines(lines()) }
    }

    static func note(_ text: String) {
        writeError(text + "\n")
    }

    static func warn(_ text: String) { note("warning: " + text) }

    static func writeError(_ text: String) {
        // Nobody can be told of an error output that does not work.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    static func report(_ failure: OperationFault, json: Bool) {
        if json {
            note(failure.json.description)
            return
        }
        // A no of `use` or `can` is an answer; its reason is the message.
        let place = failure.place.map { $0.isEmpty ? "" : " (\(plainLines($0)))" } ?? ""
        note("error: \(plainLines(failure.message))\(place)")
        if let hint = failure.hint { note("hint: \(plainLines(hint))") }
    }

    /// A part of a fault, which may list others a line each and repeat what stands in a file.
    private static func plainLines(_ text: String) -> String {
        plain(text, upTo: faultLimit, keeping: "\n")
    }

    static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}

/// Shows how far a long piece of work is: a line that is written over on a terminal, else a plain
/// line every few seconds.
final class Progress {
    private let what: String
    private let start = ContinuousClock.now
    private var lastShown = ContinuousClock.now
    private let isTerminal = Terminal.isErrorTerminal
    private static let terminalInterval = Duration.milliseconds(200)
    private static let plainInterval = Duration.seconds(5)

    init(_ what: String) { self.what = what }

    func show(_ done: UInt64, of total: UInt64?) {
        show(done, of: total, after: total.map { (done, $0) })
    }

    /// `way`: how much of what lies behind and ahead is behind, where that is told by something
    /// else, such as the bytes of files.
    func show(_ done: UInt64, of total: UInt64?, after way: (done: UInt64, total: UInt64)?) {
        let now = ContinuousClock.now
        let interval = isTerminal ? Self.terminalInterval : Self.plainInterval
        guard now - lastShown >= interval else { return }
        lastShown = now
        let whole = total.map { " of \($0)" } ?? ""
        let text = "\(what) \(done)\(whole)" + Self.pace(done, way, now - start)
        if isTerminal {
            Terminal.writeError("\r\u{1B}[K\(text)")
        } else {
            Terminal.note(text)
        }
    }

    /// The share that is done, how fast it goes, and how long it will.
    private static func pace(
        _ done: UInt64,
        _ way: (done: UInt64, total: UInt64)?,
        _ elapsed: Duration
    ) -> String {
        let seconds = elapsed / .seconds(1)
        var text = ""
        if let way, way.total > 0 {
            let share = Double(way.done) / Double(way.total)
            text = " (\(Int(share * 100)) %)"
            if share > 0 { text += ", \(Int(seconds / share * (1 - share)) + 1) s left" }
        }
        return text + (seconds > 0 ? ", \(Int(Double(done) / seconds)) a second" : "")
    }

    func finish() {
        if isTerminal { Terminal.writeError("\r\u{1B}[K") }
    }
}

/// Progress that several threads tell of.
final class SharedProgress: Sendable {
    private let progress: Mutex<Progress>

    init(_ what: String) { progress = Mutex(Progress(what)) }

    func show(_ done: UInt64, of total: UInt64?) {
        progress.withLock { $0.show(done, of: total) }
    }

    func show(_ done: UInt64, of total: UInt64?, after way: (done: UInt64, total: UInt64)?) {
        progress.withLock { $0.show(done, of: total, after: way) }
    }

    func finish() { progress.withLock { $0.finish() } }
}
