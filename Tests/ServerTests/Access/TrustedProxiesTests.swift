import Encodings
import ModelSupport
import NIOCore
import Testing

@testable import LedgerServer

struct `An address` {
    /// As `inet_pton` reads it, in the form of `inet_ntop`.
    private static func reference(_ text: String) -> String? {
        (try? SocketAddress(ipAddress: text, port: 0))?.ipAddress
    }

    private static let pieces = [
        "0", "1", "ff", "::", ":", ":", ".", "255", "256", "1.2.3.4", "192.0.2.1", "g", "00001",
        "+1", "-1", "01", "ffff", "::ffff:", "2001:db8:", "1:2:3:4:5:6:7:8", " ", "/", "é",
    ]

    @Test func `is read where inet_pton reads one, and as the same`() {
        var random = SplitMix64(seed: 7)
        var seen: [IPAddress: String] = [:]
        var (read, refused) = (0, 0)
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...6, using: &random)
            let text = (0..<count).map { _ in Self.pieces.randomElement(using: &random) ?? "" }
                .joined()
            let (address, reference) = (IPAddress(text), Self.reference(text))
            #expect((address == nil) == (reference == nil), "\(text)")
            guard let address, let reference else {
                refused += 1
                continue
            }
            read += 1
            // One of IPv4 is the same in both ways to write it.
            let plain = reference.hasPrefix("::ffff:") ? String(reference.dropFirst(7)) : reference
            #expect(seen[address, default: plain] == plain, "\(text)")
            seen[address] = plain
        }
        #expect(Set(seen.values).count == seen.count)
        #expect(read > 1000 && refused > 1000)
    }

    @Test(arguments: [
        "", "%", "%eth0", ":", ":::", "1.2.3", "1.2.3.4.5", "1.2.3.04", "1.2.3.4%", "::1%eth0",
        String(repeating: ":", count: 1 << 16), String(repeating: "1", count: 1 << 16),
    ])
    func `of another form is none`(_ text: String) {
        let isZoned = text.contains("%") && text.count > 1 && text.first != "%"
        #expect((IPAddress(text) == nil) == !isZoned)
    }

    // RFC 6177
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.2", false), ("192.0.2.1", "::ffff:192.0.2.1", true),
        ("2001:db8:1:2::9", "2001:db8:1:2:3:4:5:6", true), ("::1", "::2", true),
        ("2001:db8:1:2::9", "2001:db8:1:3::9", false), ("::", "0.0.0.0", false),
    ])
    func `of one network is one client`(_ one: String, _ other: String, _ isOne: Bool) throws {
        let (one, other) = (try #require(IPAddress(one)), try #require(IPAddress(other)))
        #expect((RateLimitClient.address(one) == .address(other)) == isOne)
    }
}

struct `A network` {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false),
        ("10.1.2.3/8", "10.9.9.9", true), ("192.0.2.1", "192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false), ("192.0.2.0/31", "192.0.2.1", true),
        ("10.0.0.0/8", "::ffff:10.0.0.1", true), ("0.0.0.0/0", "192.0.2.1", true),
        ("0.0.0.0/0", "::1", false), ("::/0", "::1", true), ("fd00::/8", "fdff::1", true),
        ("fd00::/8", "fc00::1", false), ("2001:db8::/65", "2001:db8::7fff:0:0:0", true),
        ("2001:db8::/65", "2001:db8::8000:0:0:0", false), ("::1/128", "::1", true),
        ("::ffff:10.0.0.0/104", "10.1.2.3", true), ("2001:db8::/64", "2001:db8::1:0:0:1", true),
    ])
    func `holds what begins as it does`(_ text: String, _ address: String, _ holds: Bool) throws {
        let network = try #require(IPNetwork(text))
        #expect(network.contains(try #require(IPAddress(address))) == holds)
    }

    @Test(arguments: [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8",
        "::/129", "10.0.0/8", "a", "::/99999999999999999999",
    ])
    func `of another form is none`(_ text: String) { #expect(IPNetwork(text) == nil) }
}

struct `Trusted proxies` {
    private static let networks = ["10.0.0.0/8", "fd00::/8"]

    @Test(arguments: [
        // Without a proxy the header is the client's own word.
        ("192.0.2.7", ["203.0.113.1"], "192.0.2.7"),
        ("10.0.0.1", [], "10.0.0.1"), ("10.0.0.1", ["203.0.113.1"], "203.0.113.1"),
        // Whatever a client sends stands left of what the proxy writes.
        ("10.0.0.1", ["10.9.9.9, 198.51.100.1, 203.0.113.1"], "203.0.113.1"),
        ("10.0.0.1", ["203.0.113.1, 10.0.0.2", "10.0.0.3,\t10.0.0.4"], "203.0.113.1"),
        ("fd00::1", ["2001:db8::1, ::ffff:10.0.0.2"], "2001:db8::1"),
        ("10.0.0.1", ["10.0.0.2, 10.0.0.3"], "10.0.0.2"),
        ("10.0.0.1", ["[2001:db8::1]:443"], "2001:db8::1"),
        ("10.0.0.1", ["203.0.113.1:5000"], "203.0.113.1"),
        // What is no address is nobody's.
        ("10.0.0.1", ["203.0.113.1, unknown, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["203.0.113.1,"], "10.0.0.1"), ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", ["["], "10.0.0.1"), ("10.0.0.1", ["[]:"], "10.0.0.1"),
        ("10.0.0.1", [":"], "10.0.0.1"), ("10.0.0.1", ["\u{FF11}.1.1.1"], "10.0.0.1"),
    ])
    func `are believed, and nobody else is`(
        _ peer: String,
        _ headers: [String],
        _ client: String
    ) {
        let proxies = TrustedProxies(Self.networks.compactMap { IPNetwork($0) })
        #expect(proxies.client(peer: IPAddress(peer), forwardedFor: headers) == IPAddress(client))
        #expect(
            TrustedProxies.none.client(peer: IPAddress(peer), forwardedFor: headers)
                == IPAddress(peer)
        )
    }

    // Whom the owner of a socket of this machine lets connect is a proxy, whoever else is trusted.
    @Test(
        arguments: [
            ([], nil), (["203.0.113.1"], "203.0.113.1"), (["10.9.9.9, 203.0.113.1"], "203.0.113.1"),
            (["203.0.113.1, 10.0.0.2"], "203.0.113.1"), (["unknown"], nil),
        ] as [([String], String?)]
    )
    func `are believed through a socket`(_ headers: [String], _ client: String?) {
        let proxies = TrustedProxies(Self.networks.compactMap { IPNetwork($0) })
        #expect(
            proxies.client(peer: nil, forwardedFor: headers) == client.flatMap { IPAddress($0) }
        )
    }

    @Test func `survive whatever a client writes`() {
        let proxies = TrustedProxies(Self.networks.compactMap { IPNetwork($0) })
        let pieces = [
            "10.0.0.1", ",", "[", "]", ":", " ", "\t", "\u{301}", "\"", "9", "fd00::1", "%",
        ]
        var random = SplitMix64(seed: 3)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...40, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            #expect(proxies.client(peer: IPAddress("10.0.0.1"), forwardedFor: [text]) != nil)
        }
    }
}
