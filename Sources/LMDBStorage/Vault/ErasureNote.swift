import DurableFiles
import EventLog

/// The file that notes an erasure before the log says it, until it is finished.
///
/// Layout: `ELX1`, signal digest (16), number of streams u32, streams u64 each, CRC-32C.
enum ErasureNote {
    static let fileName = "erasure"
    private static let magic: UInt32 = 0x3158_4C45

    static func bytes(of erasure: VaultErasure) -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: 32 + 8 * erasure.streams.count)
        writer.append(magic)
        writer.append(erasure.signal.high)
        writer.append(erasure.signal.low)
        writer.append(UInt32(erasure.streams.count))
        for stream in erasure.streams { writer.append(stream) }
        writer.append(CRC32C.checksum(writer.bytes.span))
        return writer.bytes
    }

    /// Reads a note; nil if there is none.
    ///
    /// - Throws: `LogStorageFault.damaged`, `FileFault`.
    static func read(_ path: String) throws -> VaultErasure? {
        try DurableFile.read(path).map { try erasure(of: $0) }
    }

    /// Reads a note's bytes.
    ///
    /// - Throws: `LogStorageFault.damaged`.
    static func erasure(of bytes: [UInt8]) throws -> VaultErasure {
        do {
            return try erasure(bytes.span)
        } catch {
            throw LogStorageFault(.damaged, "the note of an erasure is damaged")
        }
    }

    private static func erasure(_ bytes: Span<UInt8>) throws(DecodingFault) -> VaultErasure {
        var cursor = ByteCursor()
        guard try cursor.uint32(bytes) == magic else {
            throw DecodingFault(what: "not the note of an erasure", offset: 0)
        }
        let signal = SignalDigest(high: try cursor.uint64(bytes), low: try cursor.uint64(bytes))
        var streams: [UInt64] = []
        for _ in 0..<(try cursor.uint32(bytes)) { streams.append(try cursor.uint64(bytes)) }
        let end = cursor.position
        guard try cursor.uint32(bytes) == CRC32C.checksum(bytes.extracting(0..<end)) else {
            throw DecodingFault(what: "checksum differs", offset: end)
        }
        try cursor.finish(bytes)
        return VaultErasure(streams: streams, signal: signal)
    }
}
