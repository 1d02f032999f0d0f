import ArgumentParser
import Entitlements
import LedgerOperations

/// Where in both times a question stands.
struct PointOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: "Effective time: RFC 3339, a date, now, -36h, -30d (default: now)."
    )
    var at: String?

    @Option(
        parsing: .unconditional,
        help: "As known then: RFC 3339, a date, now, -36h, -30d (default: everything)."
    )
    var known: String?

    @Option(help: "As known after the first N events.")
    var knownSequence: UInt64?

    func point() throws -> BitemporalPoint {
        if known != nil && knownSequence != nil {
            throw OperationFault(
                .usage,
                "--known and --known-sequence exclude each other",
                place: "--known-sequence"
            )
        }
        let now = SystemClock.now()
        let at = try at.map { try InstantArgument.parse($0, place: "--at", now: now) } ?? now
        if let known {
            return BitemporalPoint(
                at: at,
                knownAt: .instant(try InstantArgument.parse(known, place: "--known", now: now))
            )
        }
        return BitemporalPoint(
            at: at,
            knownAt: knownSequence.map { .sequence($0) } ?? .everything
        )
    }
}

/// An instant as a person types it.
enum InstantArgument {
    /// The instant; what is compared with another reading of the clock is given that one as
    /// `now`, so that "now" is never later than itself.
    static func parse(
        _ text: String,
        place: String,
        now: Instant = SystemClock.now()
    ) throws -> Instant {
        if let instant = Instant(argument: text, now: now) { return instant }
        throw OperationFault(
            .usage,
            "not an instant",
            place: place,
            hint: "RFC 3339 with an offset, a date, now, -36h or -30d"
        )
    }
}
