/// How a message came to us, where the way itself vouches for it.
public enum SignalChannel: Hashable, Sendable {
    /// A file that the operator hands in (`entitle import`).
    case operatorImport
    /// A request of which the server has checked, in constant time, what the store proves itself by.
    case authenticatedRequest
}
