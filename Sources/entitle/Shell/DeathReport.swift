// Unsafe: a constant sentence, which lives as long as the program, is written from a signal handler,
// where nothing else may be called; of a variable it is only asked whether it is there.

import ArgumentParser
import Encodings
import Glibc

/// What is said when the system ends the program: nobody is left without a word.
///
/// LMDB reads its files as memory and has no checksums of pages: a damaged or truncated file may
/// end whoever reads it by SIGSEGV, SIGBUS or an assertion of LMDB (SIGABRT). The exit code is that
/// of an integrity fault, for nothing else is likely in a program without memory faults of its own.
///
/// A trap of the program itself (SIGILL, SIGTRAP, SIGFPE) is an exit with code 70, at once. The Swift
/// runtime would start another program that writes out stacks and registers, what requests held
/// among them, while a server answers nobody for seconds and cannot be started again. Whoever wants
/// that sets `SWIFT_BACKTRACE`: traps are then left to the runtime.
enum DeathReport {
    private static let signals = [SIGSEGV, SIGBUS, SIGABRT]
    private static let traps = [SIGILL, SIGTRAP, SIGFPE]

    /// From here on such a death is an exit with a code and a sentence on standard error.
    ///
    /// - Parameter json: Whether the sentence is a problem object.
    static func install(json: Bool) {
        for number in signals {
            if json {
                signal(number) { _ in DeathReport.die(3, DeathReport.problem) }
            } else {
                signal(number) { _ in DeathReport.die(3, DeathReport.text) }
            }
        }
        guard unsafe getenv("SWIFT_BACKTRACE") == nil else { return }
        for number in traps {
            if json {
                signal(number) { _ in DeathReport.die(70, DeathReport.trapProblem) }
            } else {
                signal(number) { _ in DeathReport.die(70, DeathReport.trapText) }
            }
        }
        signal(SIGQUIT, SIG_DFL)
    }

    /// Codes and sentences are literals: a handler may not wait for a global that is made at its
    /// first use.
    private static func die(_ code: Int32, _ sentence: StaticString) -> Never {
        unsafe _ = write(STDERR_FILENO, sentence.utf8Start, sentence.utf8CodeUnitCount)
        _exit(code)
    }

    private static var text: StaticString {
        """
        error: a file of the ledger is damaged so that reading it ended the program
        hint: nothing that was recorded is lost by this: run `entitle audit`; if it finds nothing, \
        please report a fault of the program

        """
    }

    private static var trapText: StaticString {
        """
        error: a fault of the program ended it
        hint: nothing that was recorded is lost by this; please report it, with the lines before \
        this one

        """
    }

    private static var trapProblem: StaticString {
        """
        {"type":"about:blank","title":"a fault of the program ended it","code":"internal",\
        "detail":null,"hint":"nothing that was recorded is lost by this; please report it, with \
        the lines before this one","exitCode":70}

        """
    }

    private static var problem: StaticString {
        """
        {"type":"about:blank","title":"a file of the ledger is damaged so that reading it ended \
        the program","code":"damaged","detail":null,"hint":"nothing that was recorded is lost by \
        this: run `entitle audit`; if it finds nothing, please report a fault of the program",\
        "exitCode":3}

        """
    }
}
