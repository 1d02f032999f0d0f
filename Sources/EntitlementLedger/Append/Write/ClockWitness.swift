public import Entitlements
import EventLog

/// What tells whether the clock is to be believed (T3): one that ran ahead once would block the log
/// until then.
public struct ClockWitness: Sendable {
    /// Milliseconds since some moment, by a clock that nobody sets and that goes on while the machine
    /// is suspended.
    public var elapsed: @Sendable () -> Int64
    /// Whether the kernel says that the clock is synchronised.
    public var isSynchronized: @Sendable () -> Bool
    /// What somebody confirmed; nil: nothing.
    public var confirmation: @Sendable () -> Confirmation?

    /// A date that somebody says it is.
    public struct Confirmation: Sendable, Equatable {
        /// The date.
        public var date: Instant
        /// How many events the log held then: it stands until the next one is appended.
        public var size: UInt64

        /// Confirms.
        public init(date: Instant, size: UInt64) {
            self.date = date
            self.size = size
        }

        /// How far from the date the clock may be: it may be another zone's, and a day old.
        private static let tolerance = 2 * Instant.millisecondsPerDay

        func covers(_ now: Instant, size: UInt64) -> Bool {
            size == self.size && now >= date.advanced(byMilliseconds: -Self.tolerance)
                && now <= date.advanced(byMilliseconds: Self.tolerance)
        }
    }

    /// Names the witnesses.
    public init(
        elapsed: @escaping @Sendable () -> Int64,
        isSynchronized: @escaping @Sendable () -> Bool,
        confirmation: @escaping @Sendable () -> Confirmation?
    ) {
        self.elapsed = elapsed
        self.isSynchronized = isSynchronized
        self.confirmation = confirmation
    }

    /// Believes every clock: for who only reads, and for clocks that are set at will.
    public static let trusting = ClockWitness(
        elapsed: { 0 },
        isSynchronized: { true },
        confirmation: { nil }
    )
}

/// Judges the clock before each append (T3).
struct ClockJudge: Sendable {
    let clock: @Sendable () -> Instant
    private let witness: ClockWitness
    /// Both clocks at this process's last append.
    private var last: (now: Instant, elapsed: Int64)?

    /// How far the log's last recorded time may lie ahead of the clock, in milliseconds.
    private static let behindLimit: Int64 = 300_000
    /// How long after the last event that was recorded by the clock it is believed without a witness.
    private static let idleLimit = 400 * Instant.millisecondsPerDay
    /// How much it may run ahead between two appends, in milliseconds.
    private static let aheadLimit: Int64 = 3_600_000

    init(_ clock: @escaping @Sendable () -> Instant, _ witness: ClockWitness) {
        self.clock = clock
        self.witness = witness
    }

    /// The time for an append behind a log's end.
    ///
    /// - Throws: `LedgerFault.clockBehind`, `.clockAhead`; what the log throws.
    func now(behind end: LogEnd, of log: any LogReader) throws -> Instant {
        let now = clock()
        guard end.lastRecordedAt <= now.advanced(byMilliseconds: Self.behindLimit).milliseconds
        else {
            throw LedgerFault(
                .clockBehind,
                "the clock says \(now), \(Self.last(end)): appends wait for the clock",
                remedy:
                    "wait, or put the clock right; where events were recorded by a wrong clock, "
                    + Self.wayOut(try log.size(recordedBy: now, upTo: end.size))
            )
        }
        guard isDoubted(now, end), !witness.isSynchronized(),
            witness.confirmation()?.covers(now, size: end.size) != true
        else { return now }
        throw LedgerFault(
            .clockAhead,
            "the clock says \(now), \(Self.last(end)): it is not believed until the kernel says that "
                + "it is synchronised",
            remedy: "put the clock right, or confirm it: --accept-clock "
                + "\(now.description.prefix(while: { $0 != "T" })); a server is started with it; where events "
                + "were recorded by a wrong clock, " + Self.wayOut(end.size)
        )
    }

    private func isDoubted(_ now: Instant, _ end: LogEnd) -> Bool {
        if let own = end.lastOwnRecordedAt,
            now > Instant(milliseconds: own).advanced(byMilliseconds: Self.idleLimit)
        {
            return true
        }
        guard let last else { return false }
        let elapsed = witness.elapsed() - last.elapsed
        return now > last.now.advanced(byMilliseconds: elapsed + Self.aheadLimit)
    }

    /// Notes an append at a time that was believed.
    mutating func note(_ now: Instant) { last = (now, witness.elapsed()) }

    private static func last(_ end: LogEnd) -> String {
        guard end.size > 0 else { return "the log is empty" }
        let recordedAt = Instant(milliseconds: end.lastRecordedAt)
        return "the log's last event, sequence \(end.size - 1), was recorded at \(recordedAt)"
    }

    /// How a log goes on without what was recorded behind its first events.
    private static func wayOut(_ size: UInt64) -> String {
        "`entitle restore BACKUP --into NEW --until-sequence \(size) --continue --origin NAME`, then "
            + "`entitle import --on-error skip` there what `entitle events --json --from \(size)` "
            + "gives here"
    }
}
