import Encodings

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
        guard let index = Self.names.index(of: name) else { return nil }
        self = Self.allCases[index]
    }

    /// The environment of the name that stands in a text.
    init?(_ node: Int, of text: JSONText) {
        guard let index = text.index(node, in: Self.names) else { return nil }
        self = Self.allCases[index]
    }

    private static let names = WordList(allCases.map(\.name))
}
