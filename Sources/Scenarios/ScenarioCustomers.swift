import Encodings
import Entitlements
import StoreSimulator

/// Who uses the scenarios' app.
enum ScenarioCustomers {
    /// Who is meant where nobody is named: `alice`.
    static let usual: CustomerID = "5ce0a210-0000-4000-8000-616c69636500"

    static let form = "expected a name"

    /// What stands before the name; its last three digits are the scenario's number.
    private static let prefix = "5ce0a210-0000-4000-8"

    /// The customer of a name: a UUID, as the App Store wants it, of its bytes, where they are more than
    /// a UUID has room for of their hash.
    static func customer(_ json: JSONValue) -> CustomerID? {
        guard let name = json.string, !name.isEmpty else { return nil }
        var bytes = Array(name.utf8)
        if bytes.count > byteCount {
            let hash = bytes.reduce(UInt64(bytes.count)) { SeededWords.mix($0 ^ UInt64($1)) }
            bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: hash >> UInt64(8 * $0)) }
        }
        bytes += Array(repeating: 0, count: byteCount - bytes.count)
        return CustomerID(prefix + "000-" + Hexadecimal.encode(bytes))
    }

    /// Bytes of a name that a UUID has room for.
    private static let byteCount = 6

    /// The customer of the same name in the scenario of a number, 0 to 999.
    static func placed(_ customer: CustomerID, _ number: Int) -> CustomerID {
        let digits = String(number)
        let padding = String(repeating: "0", count: max(0, 3 - digits.count))
        let name = customer.text.suffix(12)
        return CustomerID("\(prefix)\(padding)\(digits)-\(name)") ?? customer
    }
}
