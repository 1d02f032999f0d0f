// Unsafe: one variable without a lock, which one function touches, once, on the main thread.

import Dispatch
import Glibc
import Synchronization

/// `^C` and SIGTERM: long work ends after the commit that is under way.
enum Interrupt {
    private static let isRaisedFlag = Atomic<Bool>(false)
    /// Only `catchSignals` touches it, once, on the main thread: it keeps the sources alive.
    nonisolated(unsafe) private static var sources: [any DispatchSourceSignal] = []

    private static let acknowledgement =
        "stopping after what is under way; once more stops at once"

    static var isRaised: Bool { isRaisedFlag.load(ordering: .relaxed) }

    /// From here on the first signal only raises the flag; a second one ends the program.
    ///
    /// `says`: whether the first one is acknowledged in words, where what is under way takes a while.
    static func catchSignals(says: Bool = false) {
        for signalNumber in [SIGINT, SIGTERM] {
            signal(signalNumber, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: signalNumber, queue: .global())
            source.setEventHandler {
                if isRaisedFlag.exchange(true, ordering: .relaxed) { exit(128 + signalNumber) }
                if says { Terminal.note(acknowledgement) }
            }
            source.resume()
            unsafe sources.append(source)
        }
    }
}
