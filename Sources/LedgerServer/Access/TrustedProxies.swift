/// The proxies that are believed when they say for whom they ask.
package struct TrustedProxies: Sendable {
    private let networks: [IPNetwork]

    /// Nobody is believed: the header says nothing.
    package static let none = TrustedProxies([])

    /// Takes the networks in which the proxies stand.
    package init(_ networks: [IPNetwork]) { self.networks = networks }

    /// Whether a proxy has this address.
    func contains(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

    /// Who asks: the first address from the right that is none of a proxy.
    ///
    /// Each proxy writes behind what it was sent whom it was sent it by; so what stands left of an
    /// address that is not trusted is that client's own word. What is not an address ends the walk
    /// too: the last proxy counts then.
    /// A peer without an address came through a socket of this machine, to which its owner lets a proxy alone.
    /// `Forwarded` (RFC 7239) is not looked at: a proxy that writes the one hands on the other as
    /// the client sent it.
    func client(peer: IPAddress?, forwardedFor values: [String]) -> IPAddress? {
        if let peer, !contains(peer) { return peer }
        var client = peer
        for value in values.reversed() {
            for entry in value.split(separator: ",", omittingEmptySubsequences: false).reversed() {
                guard let address = Self.address(entry) else { return client }
                client = address
                guard contains(address) else { return client }
            }
        }
        return client
    }

    /// The address of an entry: alone, or with a port as some write it.
    private static func address(_ entry: Substring) -> IPAddress? {
        let text = entry.drop { $0 == " " || $0 == "\t" }
        let end = text.lastIndex { $0 != " " && $0 != "\t" }
        guard let end else { return nil }
        let trimmed = text[...end]
        if trimmed.first == "[" {
            guard let close = trimmed.firstIndex(of: "]") else { return nil }
            return IPAddress(trimmed[..<close].dropFirst())
        }
        let colons = trimmed.utf8.count { $0 == UInt8(ascii: ":") }
        return IPAddress(colons == 1 ? trimmed.prefix { $0 != ":" } : trimmed)
    }
}
