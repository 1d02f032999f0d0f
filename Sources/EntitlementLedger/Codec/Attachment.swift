import Encodings
import Entitlements
import EventLog

/// What is attached to a record in clear: a catalog document, readable without any key.
///
/// Layout: `ELA1`, length u32, JSON text, CRC-32C.
enum Attachment {
    private static let magic: UInt32 = 0x3141_4C45
    /// Bytes of a catalog document.
    static let byteLimit = 8 << 20

    static func bytes(of document: JSONValue) -> [UInt8] {
        let text = Array(document.description.utf8)
        var writer = ByteWriter(reservingCapacity: text.count + 12)
        writer.append(magic)
        writer.append(UInt32(text.count + 12))
        writer.append(text.span)
        writer.append(CRC32C.checksum(writer.bytes.span))
        return writer.bytes
    }

    static func document(_ attachment: [UInt8]) throws -> JSONValue {
        let bytes = attachment.span
        let end = bytes.count - 4
        guard end >= 8, bytes.uint32(at: 0) == magic, Int(bytes.uint32(at: 4)) == bytes.count,
            CRC32C.checksum(bytes.extracting(0..<end)) == bytes.uint32(at: end)
        else { throw DecodingFault(what: "not an attachment of this version", offset: 0) }
        do {
            return try JSONValue(parsing: bytes.extracting(8..<end))
        } catch {
            throw DecodingFault(what: "an attachment is not JSON", offset: error.offset)
        }
    }
}
