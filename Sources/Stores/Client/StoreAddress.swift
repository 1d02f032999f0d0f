import Entitlements

extension ObjectReader {
    /// An address other than a store's own, such as a simulator's on this machine; nil if absent.
    func address(_ name: String) throws(InputFault) -> String? {
        guard let text = try text(name) else { return nil }
        let isLocal = ["http://127.0.0.1:", "http://localhost:"].contains { text.hasPrefix($0) }
        guard isLocal || text.hasPrefix("https://"), !text.hasSuffix("/") else {
            throw fault(
                name,
                "expected https://, or http:// on this machine, without / at its end"
            )
        }
        return text
    }
}
