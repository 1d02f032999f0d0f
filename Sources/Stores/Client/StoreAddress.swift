import Encodings
import Entitlements

/// The address of a store's API other than its own, such as a simulator's on this machine.
enum StoreAddress {
    /// Reads a member of the configuration; nil: it is not there.
    ///
    /// - Throws: `InputFault` for what is neither encrypted nor on this machine.
    static func read(_ name: String, _ reader: ObjectReader) throws -> String? {
        guard let text = try reader.text(name) else { return nil }
        let isLocal = ["http://127.0.0.1:", "http://localhost:"].contains { text.hasPrefix($0) }
        guard isLocal || text.hasPrefix("https://"), !text.hasSuffix("/") else {
            throw reader.fault(
                name,
                "expected https://, or http:// on this machine, without / at its end"
            )
        }
        return text
    }
}
