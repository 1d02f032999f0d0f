import Encodings

/// The first eight bytes of the root at a size: which history a place in the log is of.
///
/// A log that was restored to less and went on has other events at the same places. It is no proof:
/// who wants one asks for a checkpoint.
package struct RootPrefix: Sendable, Hashable {
    /// The bytes, the first one highest.
    package let bits: UInt64

    /// How many bytes it has.
    package static let byteCount = 8

    /// The beginning of a root.
    package init(of root: Digest) {
        bits = UInt64(bigEndianBytes: root.bytes.prefix(Self.byteCount))
    }

    /// Takes over what a token holds.
    package init(bits: UInt64) { self.bits = bits }

    /// Reads 16 hexadecimal digits in lower case; nil for other text.
    package init?(_ text: String) {
        guard let bytes = Hexadecimal.decode(text), bytes.count == Self.byteCount else {
            return nil
        }
        bits = UInt64(bigEndianBytes: bytes)
        guard self.text.isSame(as: text) else { return nil }
    }

    /// 16 hexadecimal digits in lower case.
    package var text: String { Hexadecimal.encode(bits.bigEndianBytes) }
}
