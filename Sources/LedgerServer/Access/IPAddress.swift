/// An address of IPv4 or IPv6; one of IPv4 is held as IPv6 maps it (RFC 4291, section 2.5.5.2), so
/// that a socket which takes both knows it for the same.
package struct IPAddress: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    /// Bytes of a text that are looked at; `inet_ntop` writes 45 at most, and a zone behind them.
    private static let byteLimit = 64
    private static let mappedPrefix: UInt64 = 0xFFFF_0000_0000

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the text of an address, a zone behind `%` left out; nil: it is none.
    package init?(_ text: some StringProtocol) {
        let bytes = text.utf8.prefix { $0 != UInt8(ascii: "%") }
        guard text.utf8.count <= Self.byteLimit else { return nil }
        if let address = Self.dotted(bytes) {
            self.init(high: 0, low: Self.mappedPrefix | UInt64(address))
            return
        }
        guard let groups = Self.groups(Array(bytes)) else { return nil }
        let halves = [groups[0..<4], groups[4..<8]].map { half in
            half.reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
        }
        self.init(high: halves[0], low: halves[1])
    }

    var isIPv4: Bool { high == 0 && low >> 32 == Self.mappedPrefix >> 32 }

    /// What one client has: of IPv4 an address, of IPv6 the first 64 bits (RFC 6177).
    var network: IPAddress { isIPv4 ? self : IPAddress(high: high, low: 0) }

    /// The first bits; the others are 0.
    func prefix(_ bits: Int) -> IPAddress {
        IPAddress(
            high: high & ~(UInt64.max >> UInt64(min(bits, 64))),
            low: low & ~(UInt64.max >> UInt64(max(bits, 64) - 64))
        )
    }

    /// Four numbers up to 255, without leading zeros: some read those as octal.
    private static func dotted(_ bytes: some Collection<UInt8>) -> UInt32? {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0"),
                part.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            // Fits: three digits.
            let number = part.reduce(UInt32(0)) { $0 * 10 + UInt32($1 - 0x30) }
            guard number <= 255 else { return nil }
            address = address << 8 | number  // Fits: four times eight bits.
        }
        return address
    }

    /// Eight groups of 16 bits, with `::` at most once for the zeros that are missing.
    private static func groups(_ bytes: [UInt8]) -> [UInt16]? {
        let colon = UInt8(ascii: ":")
        let gap = bytes.indices.dropLast().first { bytes[$0] == colon && bytes[$0 + 1] == colon }
        guard let gap else {
            let groups = side(bytes[...])
            return groups?.count == 8 ? groups : nil
        }
        guard let before = side(bytes[..<gap], isLast: false),
            let after = side(bytes[(gap + 2)...]),
            before.count + after.count < 8
        else { return nil }
        return before + Array(repeating: 0, count: 8 - before.count - after.count) + after
    }

    /// Groups between colons; the last of all may be an address of IPv4.
    private static func side(_ bytes: ArraySlice<UInt8>, isLast: Bool = true) -> [UInt16]? {
        guard !bytes.isEmpty else { return [] }
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var groups: [UInt16] = []
        for (place, part) in parts.enumerated() {
            if isLast, place == parts.count - 1, let address = dotted(part) {
                groups += [UInt16(address >> 16), UInt16(truncatingIfNeeded: address)]
                continue
            }
            // `UInt16` would read a sign.
            guard (1...4).contains(part.count), part.first != UInt8(ascii: "+"),
                let group = UInt16(String(decoding: part, as: UTF8.self), radix: 16)
            else { return nil }
            groups.append(group)
        }
        return groups
    }
}

extension IPAddress {
    /// Networks that are not part of the public internet, or lead back from it (IANA's registries of
    /// special-purpose addresses, RFC 6890).
    private static let special = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24", "224.0.0.0/3", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96",
        "64:ff9b:1::/48", "100::/64",
        "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/9",
        "ff00::/8",
    ]
    .compactMap { IPNetwork($0) }

    /// Whether the address is one that anybody may have on the public internet.
    var isPublic: Bool { !Self.special.contains { $0.contains(self) } }
}

/// Addresses that begin with the same bits.
package struct IPNetwork: Hashable, Sendable {
    private let first: IPAddress
    /// 0 to 128.
    private let bits: Int

    /// Reads `ADDRESS/BITS` (CIDR), or an address alone; nil: it is neither.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(parts[0]) else { return nil }
        var bits = 128
        if parts.count == 2 {
            let most = address.isIPv4 && !parts[0].contains(":") ? 32 : 128
            guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(parts[1]), number <= most
            else { return nil }
            bits = 128 - most + number  // Fits: at most 128.
        }
        self.bits = bits
        first = address.prefix(bits)
    }

    func contains(_ address: IPAddress) -> Bool { address.prefix(bits) == first }
}
