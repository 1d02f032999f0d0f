public import Entitlements
public import LedgerAPI

/// What an app may want to know of its client, and never has to act upon.
public enum ClientNotice: Sendable, Hashable {
    /// A kept file did not verify: it was put aside, and is not used.
    case cacheRefused(file: String)
    /// Something could not be kept or read: the app goes on without it.
    case cacheFailed(ServiceError)
    /// The clock is behind what was seen before, `newest`; answers go by the clock all the same
    /// (row Z17).
    case clockSetBack(newest: Instant)
    /// The clock is ahead of the server's by so many milliseconds: answers go by the server's.
    case clockAhead(milliseconds: Int64)
    /// The customer's token does not count: what is known stays (row CL5).
    case tokenRefused(ServiceError)
    /// The store does not say what it sells: what it said before is shown, with its age (rows 1.4, 1.5).
    case productsKept(ServiceError)
    /// The store handed in what its own library could not verify: it grants nothing (row ES2).
    case unverifiedTransaction
    /// What was tried often waits for somebody to try it again (row 8.1).
    case needsAttention(ServiceError)
    /// What can never succeed was put aside; this is told once.
    case refused(ServiceError)
}
