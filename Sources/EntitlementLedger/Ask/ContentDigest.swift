import Crypto
import Encodings
import EventLog

/// A short name for what an answer says, such as an HTTP entity tag.
package enum ContentDigest {
    /// Bytes of SHA-256 that are kept: no two answers meet by chance.
    private static let byteCount = 16

    /// 128 bits of SHA-256 over a text's UTF-8, in lower-case hexadecimal.
    package static func text(of content: [UInt8]) -> String {
        Hexadecimal.encode(Array(SHA256.hash(data: content).prefix(byteCount)))
    }
}
