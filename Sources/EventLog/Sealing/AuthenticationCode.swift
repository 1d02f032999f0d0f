/// The first 16 bytes of an HMAC-SHA256 (RFC 2104, section 5): says that whoever has the key wrote
/// what it stands behind.
package struct AuthenticationCode: Sendable {
    private var high: UInt64 = 0
    private var low: UInt64 = 0

    /// How many bytes a code has.
    package static let byteCount = 16

    /// All zeros, where none stands yet.
    package init() {}

    /// The code of a message under a key.
    package init(of message: Span<UInt8>, under key: KeyedHash) {
        let words = key.code(for: message).words
        high = UInt64(littleEndian: words.0)
        low = UInt64(littleEndian: words.1)
    }

    /// Takes over the 16 bytes that start at an offset.
    ///
    /// - Precondition: 16 bytes from `offset` on lie inside the span.
    package init(_ bytes: Span<UInt8>, at offset: Int) {
        high = bytes.uint64(at: offset)
        low = bytes.uint64(at: offset + 8)
    }

    /// The 16 bytes.
    package var bytes: [UInt8] {
        var writer = ByteWriter(reservingCapacity: Self.byteCount)
        writer.append(high)
        writer.append(low)
        return writer.bytes
    }

    /// Whether both are the same; takes as long whatever they are.
    package func matches(_ other: AuthenticationCode) -> Bool {
        (high ^ other.high) | (low ^ other.low) == 0
    }
}
