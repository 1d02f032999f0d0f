import Entitlements

/// The size of the log that the next answer must have seen.
///
/// What was seen is not unseen: of several machines one may be behind another (row Z17). A server that was
/// restored to less never comes that far again, and is believed after a while.
struct LeastSize: Sendable {
    private var size: UInt64?
    /// The largest size that a server did not come to when it was asked for it; nil: there was none, or it has come
    /// to it since.
    private(set) var missed: UInt64?

    /// Milliseconds behind an answer in which none is taken that has seen less: a machine that lacks what others have
    /// answers no longer without them.
    private static let patience: Int64 = 3_600_000

    /// Asks for a size that was recorded, once.
    mutating func ask(for asked: UInt64?) {
        if let asked, asked != missed { size = max(asked, size ?? 0) }
    }

    /// Hands the size out to the question that asks for it; nil: any will do.
    ///
    /// `known`: what was known last.
    mutating func take(knowing known: CustomerEntitlements, at now: Instant) -> UInt64? {
        defer { size = nil }
        guard let asOf = known.asOf, now < asOf.advanced(byMilliseconds: Self.patience) else {
            return size
        }
        return max(size ?? 0, known.sequence)
    }

    /// Notes that the server did not come to a size.
    mutating func miss(_ asked: UInt64) { missed = max(asked, missed ?? 0) }

    /// Notes what an answer has seen.
    mutating func see(_ seen: UInt64) {
        if let asked = missed, seen >= asked { missed = nil }
    }
}
