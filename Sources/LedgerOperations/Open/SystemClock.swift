// Unsafe: ntp_adjtime(3) fills a local structure, which lives for the call.

import CTimex
import Encodings
public import EntitlementLedger
public import Entitlements
import Foundation
import LMDBStorage

/// The machine's clock and boot, and what tells whether the clock is right.
public enum SystemClock {
    /// Milliseconds since 1970, rounded down.
    @Sendable
    public static func now() -> Instant {
        Instant(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }

    /// Changes with each start of the machine (proc(5)).
    public static let bootID =
        // A boot that is not told is one of which nothing is known.
        ((try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))
        ?? unknownBoot)
        .filter { !$0.isWhitespace }

    private static let unknownBoot = "unknown"

    /// A boot id that tells starts of the machine apart; nil for one that does not.
    package static func told(_ bootID: String) -> String? { bootID == unknownBoot ? nil : bootID }

    /// What tells of a ledger's directory whether the clock is right (T3).
    public static func witness(of path: String) -> ClockWitness {
        let start = ContinuousClock.now
        return ClockWitness(
            elapsed: {
                // CLOCK_BOOTTIME on Linux: it goes on while the machine is suspended.
                Int64((ContinuousClock.now - start) / .milliseconds(1))
            },
            isSynchronized: isSynchronized,
            confirmation: {
                LedgerDirectory.acceptedClock(at: path).map {
                    ClockWitness.Confirmation(
                        date: Instant(milliseconds: $0.clock),
                        size: $0.size
                    )
                }
            }
        )
    }

    /// Whether the kernel's clock is held by a source of time (ntp_adjtime(3)); false where it does
    /// not say so.
    @Sendable package static func isSynchronized() -> Bool {
        var state = timex()
        let answer = unsafe ntp_adjtime(&state)
        return answer >= 0 && answer != TIME_ERROR && state.status & STA_UNSYNC == 0
    }
}
