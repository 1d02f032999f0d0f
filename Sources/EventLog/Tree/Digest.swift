/// A SHA-256 hash of the tree: 32 bytes, held inline.
///
/// Comparing is not constant in time: tree hashes are public.
package struct Digest: Hashable, Sendable {
    /// How many bytes a digest has.
    package static let byteCount = 32

    typealias Words = (UInt64, UInt64, UInt64, UInt64)

    /// The bytes in memory order, whatever the machine's byte order.
    var words: Words

    init(words: Words) { self.words = words }

    /// Takes over 32 bytes.
    ///
    /// - Precondition: `bytes` are 32; for bytes from outside use ``init(exactly:)``.
    package init(_ bytes: Span<UInt8>) {
        precondition(bytes.count == Self.byteCount, "a digest has 32 bytes")
        self.init(bytes, at: 0)
    }

    /// Takes over the 32 bytes that start at an offset.
    ///
    /// - Precondition: 32 bytes from `offset` on lie inside the span.
    package init(_ bytes: Span<UInt8>, at offset: Int) {
        words = (
            bytes.uint64(at: offset).littleEndian,
            bytes.uint64(at: offset + 8).littleEndian,
            bytes.uint64(at: offset + 16).littleEndian,
            bytes.uint64(at: offset + 24).littleEndian
        )
    }

    /// Takes over bytes from outside, or nil where they are not 32.
    package init?(exactly bytes: Span<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(bytes, at: 0)
    }

    /// The 32 bytes, as an array of their own.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        append(to: &bytes)
        return bytes
    }

    /// Compares the 32 bytes.
    package static func == (left: Digest, right: Digest) -> Bool {
        left.words == right.words
    }

    /// Feeds the 32 bytes to a hasher.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}
