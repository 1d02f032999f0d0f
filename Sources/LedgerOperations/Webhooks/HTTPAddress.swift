package import Entitlements
import Foundation

/// An address that is asked or told over HTTP: a webhook's, a server's.
package struct HTTPAddress: Sendable, Hashable {
    /// The whole address, as it was given.
    package let url: String
    /// The host, without the brackets of an IPv6 address.
    package let host: String
    /// The port.
    package let port: Int

    /// Bytes of an address, at most.
    private static let byteLimit = 2048
    /// Bytes of a name, at most (RFC 1035, section 2.3.4), with the brackets of an address.
    private static let hostByteLimit = 255
    private static let hostBytes = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_[]:".utf8
    )

    /// Reads an address: HTTPS, or HTTP where it may be one of a network of one's own.
    package init(_ text: String, mayBePrivate: Bool) throws(InputFault) {
        guard text.utf8.count <= Self.byteLimit,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let host = parts.host, !host.isEmpty
        else {
            throw InputFault(
                .invalidValue,
                "url",
                "expected https://HOST/PATH of at most \(Self.byteLimit) characters of ASCII"
            )
        }
        guard scheme == "https" || (scheme == "http" && mayBePrivate) else {
            throw InputFault(.invalidValue, "url", "expected https")
        }
        guard parts.user == nil, parts.password == nil, parts.fragment == nil else {
            throw InputFault(.invalidValue, "url", "neither a user nor a fragment")
        }
        guard host.utf8.count <= Self.hostByteLimit, host.utf8.allSatisfy(Self.hostBytes.contains)
        else {
            throw InputFault(.invalidValue, "url", "expected the name or the address of a host")
        }
        let port = parts.port ?? (scheme == "https" ? 443 : 80)
        guard (1...65_535).contains(port) else {
            throw InputFault(.outOfRange, "url", "a port is 1 to 65535")
        }
        url = text
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        self.port = port
    }
}
