/// An environment of purchases; environments never mix (Model, "Events").
public enum StoreEnvironment: UInt8, CaseIterable, Sendable {
    /// Real money; the default.
    case production = 0
    /// The stores' test environments.
    case sandbox = 1
    /// Xcode and the simulator.
    case local = 2

    /// The name in JSON.
    public var name: String {
        switch self {
        case .production: "production"
        case .sandbox: "sandbox"
        case .local: "local"
        }
    }

    /// The environment of that name.
    public init?(name: String) {
        guard let match = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = match
    }
}
