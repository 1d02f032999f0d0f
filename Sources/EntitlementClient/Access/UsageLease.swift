import Encodings
public import Entitlements

/// One use of a limited feature, and until when it may go on (rows B2, Z16).
///
/// Nothing ends it: whoever uses the feature asks ``remaining(at:)``, and stops when nothing is left.
public struct UsageLease: Sendable, Hashable {
    /// The use's id: the server knows it under this.
    public let id: String
    /// The feature's id.
    public let feature: String
    /// When it ends; nil: its length is not limited in seconds.
    public let endsAt: Instant?
    /// Whether the server has recorded it; else it is told as soon as it is reached.
    public let isRecorded: Bool

    /// Milliseconds that are left at an instant, none behind the end; nil: they are not limited.
    public func remaining(at instant: Instant) -> Int64? {
        guard let endsAt else { return nil }
        let (left, overflow) = endsAt.milliseconds.subtractingReportingOverflow(
            instant.milliseconds
        )
        return overflow ? 0 : max(0, left)
    }
}

/// What came of asking for a use.
public enum UseResult: Sendable, Hashable {
    /// It may begin.
    case granted(UsageLease)
    /// Nothing is left in this window, or it takes more than one use may; the window's end, where it
    /// is known.
    case overLimit(resetsAt: Instant?)
    /// The feature is closed, and this opens it.
    case closed(SubscriptionRequired)
}

/// A use that an answer of the server may not have seen: it counts against what is left.
struct PendingUse: Sendable, Hashable {
    @Bytewise private(set) var feature: String
    /// The log's size behind it; nil: it is not recorded.
    let size: UInt64?
    /// The end of the window that it counts in; nil: none is known.
    let until: Instant?

    /// Whether it counts at an instant beside what was known at a size of the log.
    func counts(at instant: Instant, beside known: UInt64) -> Bool {
        (size.map { $0 > known } ?? true) && (until.map { instant < $0 } ?? true)
    }
}
