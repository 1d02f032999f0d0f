import Crypto
import Encodings

/// A line of a file, under a digest of its own: a torn or damaged one is known as such.
enum DigestedLine {
    /// Bytes of SHA-256 that stand before the text, in hexadecimal.
    private static let digestByteCount = 8

    /// A document as a line, with its end.
    static func bytes(_ json: JSONValue) -> [UInt8] {
        let text = Array(json.description.utf8)
        return Array((digest(text) + " ").utf8) + text + [UInt8(ascii: "\n")]
    }

    /// What a line says, without its end; nil: it is torn, damaged or none.
    static func json(_ line: ArraySlice<UInt8>) -> JSONValue? {
        let head = digestByteCount * 2
        guard line.count > head else { return nil }
        let text = Array(line.dropFirst(head + 1))
        guard String(decoding: line.prefix(head + 1), as: UTF8.self) == digest(text) + " " else {
            return nil
        }
        // What holds by its digest and is no JSON is none of ours.
        return try? JSONValue(parsing: text)
    }

    private static func digest(_ text: [UInt8]) -> String {
        Hexadecimal.encode(Array(SHA256.hash(data: text).prefix(digestByteCount)))
    }
}
