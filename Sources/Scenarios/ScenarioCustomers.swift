import Encodings
import Entitlements

/// Who uses the scenarios' app.
enum ScenarioCustomers {
    /// Who is meant where nobody is named: `alice`.
    static let usual: CustomerID = "5ce0a210-0000-4000-8000-616c69636500"

    static let form = "expected a name"

    /// The customer of a name: a UUID, as the App Store wants it, of its first bytes.
    static func customer(_ json: JSONValue) -> CustomerID? {
        guard let name = json.string, !name.isEmpty else { return nil }
        let bytes = Array(name.utf8) + Array(repeating: 0, count: 6)
        return CustomerID("5ce0a210-0000-4000-8000-" + Hexadecimal.encode(bytes.prefix(6)))
    }
}
