// Unsafe: pointers to lent bytes and to words of a digest; each lives for one call inside one closure
// and covers exactly what was lent.

internal import COpenSSL

/// SHA-256 (FIPS 180-4) of what it was fed so far: a value, which is copied as it stands.
///
/// OpenSSL's. A state of swift-crypto's is an object, and another one for each copy that goes on:
/// for the short messages of a ledger that costs as much as hashing them.
struct HashState: Sendable {
    private var context: SHA256_CTX

    /// Of nothing yet.
    init() {
        context = SHA256_CTX()
        _ = unsafe SHA256_Init(&context)
    }

    /// Feeds the bytes lent, without copying them.
    mutating func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe update($0) }
    }

    /// Feeds one byte.
    mutating func update(_ byte: UInt8) {
        unsafe withUnsafeBytes(of: byte) { unsafe update($0) }
    }

    /// Feeds the bytes of a text.
    mutating func update(_ text: String) { update(text.utf8Span.span) }

    /// Feeds the 32 bytes of a digest.
    mutating func update(_ digest: Digest) {
        unsafe withUnsafeBytes(of: digest.words) { unsafe update($0) }
    }

    private mutating func update(_ bytes: UnsafeRawBufferPointer) {
        _ = unsafe SHA256_Update(&context, bytes.baseAddress, bytes.count)
    }

    /// The hash of what it was fed; it can be fed on.
    func digest() -> Digest {
        var context = context
        var words: Digest.Words = (0, 0, 0, 0)
        unsafe withUnsafeMutableBytes(of: &words) { bytes in
            _ = unsafe SHA256_Final(bytes.baseAddress, &context)
        }
        return Digest(words: words)
    }
}
