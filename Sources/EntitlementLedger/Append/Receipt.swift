public import Entitlements

/// What became of a submission.
public enum Receipt: Sendable, Equatable {
    /// It stands in the log: the sequence of its first event and how many they are.
    case appended(first: UInt64, count: Int)
    /// Its signal was recorded before, with this first sequence (E1).
    case duplicate(of: UInt64)
    /// It says nothing that the ledger does not know: nothing was appended.
    case known
    /// It is refused; nothing of it was appended.
    case refused(Refusal)
}

/// A value, or the refusal that stands in its place.
enum Decided<Value> {
    case value(Value)
    case refused(Refusal)
}

/// An expected no: returned, never thrown.
public struct Refusal: Sendable, Equatable {
    /// The reason.
    public var code: Code
    /// The field or fields concerned, such as `data.expiresAt`; empty for the whole.
    public var path: String
    /// A sentence; holds no id.
    public var detail: String
    /// When there are uses again, for a limit that is used up (C5); nil: time does not help.
    public var resetsAt: Instant?

    /// The closed set of reasons.
    public enum Code: String, Sendable {
        /// Other content under a known id (E1).
        case conflict
        /// Another customer owns the purchase (`policy.claim` `keep`, C1).
        case claimedByAnother = "claimed_by_another"
        /// The trial was given before (C4).
        case trialUsed = "trial_used"
        /// The catalog in force does not know it.
        case unknownTrial = "unknown_trial"
        /// The catalog in force does not know it.
        case unknownFeature = "unknown_feature"
        /// Access to the feature is not allowed.
        case notAllowed = "not_allowed"
        /// The limit of the window or of one use is reached (C5).
        case overLimit = "over_limit"
        /// The catalog has faults (K10).
        case invalidCatalog = "invalid_catalog"
        /// A type that only the ledger itself may record (C6).
        case notPermitted = "not_permitted"
        /// More than a record, an evidence or an attachment may hold.
        case tooLarge = "too_large"
        /// A recorded time before the log's last, or after the clock (T3).
        case recordedTime = "recorded_time"
        /// A grant that is not known.
        case unknownGrant = "unknown_grant"
        /// A use that is not known.
        case unknownUse = "unknown_use"
        /// A purchase that no event names.
        case unknownPurchase = "unknown_purchase"
        /// A value that is not of its field's shape.
        case invalidValue = "invalid_value"
        /// A number or an instant beyond its field's range.
        case outOfRange = "out_of_range"
    }

    /// Makes a refusal.
    public init(_ code: Code, _ path: String, _ detail: String, resetsAt: Instant? = nil) {
        self.code = code
        self.path = path
        self.detail = detail
        self.resetsAt = resetsAt
    }
}
