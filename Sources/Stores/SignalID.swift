import Entitlements

/// The id under which a store's signal is recorded (Model, "Events").
enum SignalID {
    /// Bytes that an id may have: leaves room for the `#N` of a signal's later events.
    static let byteLimit = Identifier.byteLimit - 24

    /// The store's own id; one that ends in `#` and digits has `#1` behind it, so that it is no later
    /// event of another signal, which are numbered so.
    static func of(_ id: String) -> String {
        let digits = id.utf8.reversed().prefix { (0x30...0x39).contains($0) }.count
        let isNumbered = digits > 0 && id.utf8.dropLast(digits).last == UInt8(ascii: "#")
        return isNumbered ? id + "#1" : id
    }
}
