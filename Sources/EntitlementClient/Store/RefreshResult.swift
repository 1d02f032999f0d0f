public import Entitlements
public import LedgerAPI

/// What came of asking the server.
public enum RefreshResult: Sendable, Hashable {
    /// The server answered; when.
    case refreshed(Instant?)
    /// What was known stays, because of this.
    case kept(ServiceError)
    /// Nobody is signed in, or somebody else by now: nothing was asked.
    case signedOut
}
