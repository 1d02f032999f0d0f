/// How large what the App Store signs may be; beyond, it is refused before anything is computed.
///
/// A real notification has about 20 KB, its nested messages included, and a real header 4.4 KB.
/// The depth of a payload is JSON's (`JSONValue.depthLimit`).
package enum AppStoreLimits {
    /// Bytes of a compact JWS, nested ones included.
    package static let jwsBytes = 256 * 1024
    /// Bytes of a JWS's first part, as text.
    package static let headerBytes = 32 * 1024
    /// Bytes of one DER certificate.
    package static let certificateBytes = 8 * 1024
    /// Certificates in `x5c`: leaf, intermediate and root, no more and no fewer.
    package static let certificateCount = 3
    /// Bytes of a notification's UUID: leaves room for the `#N` of a signal's later events.
    package static let signalIDBytes = 1000
}
