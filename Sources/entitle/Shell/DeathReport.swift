// The only unsafe code of this target beside `Interrupt`: a constant sentence is written from a
// signal handler, where nothing else may be called.

import ArgumentParser
import Glibc

/// What is said when the system ends the program: nobody is left without a word.
///
/// LMDB reads its files as memory and has no checksums of pages: a damaged or truncated file may
/// end whoever reads it by SIGSEGV, SIGBUS or an assertion of LMDB (SIGABRT). The exit code is that
/// of an integrity fault, for nothing else is likely in a program without memory faults of its own.
/// Traps of the program itself (SIGILL, SIGTRAP) are left to the Swift runtime.
enum DeathReport {
    private static let signals = [SIGSEGV, SIGBUS, SIGABRT]

    /// From here on such a death is an exit with code 3 and a sentence on standard error.
    ///
    /// - Parameter json: Whether the sentence is a problem object.
    static func install(json: Bool) {
        for number in signals {
            if json {
                signal(number) { _ in DeathReport.die(DeathReport.problem) }
            } else {
                signal(number) { _ in DeathReport.die(DeathReport.text) }
            }
        }
    }

    private static func die(_ sentence: StaticString) -> Never {
        unsafe _ = write(STDERR_FILENO, sentence.utf8Start, sentence.utf8CodeUnitCount)
        _exit(code)
    }

    /// As a literal: a handler may not wait for a global that is made at its first use.
    private static var code: Int32 { 3 }

    private static var text: StaticString {
        """
        error: a file of the ledger is damaged so that reading it ended the program
        hint: nothing that was recorded is lost by this: run `entitle audit`; if it finds nothing, \
        please report a fault of the program

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
