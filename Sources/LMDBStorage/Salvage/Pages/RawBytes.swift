import DurableFiles
import Glibc
import Synchronization

/// Bytes of which nothing is believed: a damaged file, or an input that a test makes.
protocol RawBytes: Sendable {
    /// How many there are.
    var byteCount: UInt64 { get }

    /// The bytes from an offset on; fewer than asked for only at the end.
    func read(at offset: UInt64, count: Int) throws -> [UInt8]
}

/// A file that is read in blocks, never mapped: a damaged disk gives an error, not a signal.
///
/// What the disk does not give reads as zeros, so that the rest is not lost with it.
final class RawFile: RawBytes {
    private let descriptor: Int32
    let byteCount: UInt64
    private let unreadable = Atomic<UInt64>(0)

    private static let sectorCount = 4096

    /// Opens a file.
    ///
    /// - Throws: `FileFault` where there is none, or it may not be read.
    init(path: String) throws {
        descriptor = try DurableFile.openForReading(path)
        byteCount = UInt64(max(0, lseek(descriptor, 0, SEEK_END)))
    }

    deinit { close(descriptor) }

    /// Bytes that the disk did not give.
    var unreadableByteCount: UInt64 { unreadable.load(ordering: .relaxed) }

    func read(at offset: UInt64, count: Int) throws -> [UInt8] {
        guard offset < byteCount, count > 0 else { return [] }
        let count = Int(min(UInt64(count), byteCount - offset))
        do {
            return try DurableFile.read(descriptor, at: offset, count: count)
        } catch let fault as FileFault where fault.code == EIO {
            return try readBySectors(at: offset, count: count)
        }
    }

    private func readBySectors(at offset: UInt64, count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            let part = min(Self.sectorCount, count - bytes.count)
            do {
                bytes += try DurableFile.read(
                    descriptor,
                    at: offset + UInt64(bytes.count),
                    count: part
                )
            } catch let fault as FileFault where fault.code == EIO {
                unreadable.add(UInt64(part), ordering: .relaxed)
                bytes += Array(repeating: 0, count: part)
            }
        }
        return bytes
    }
}

extension [UInt8]: RawBytes {
    var byteCount: UInt64 { UInt64(count) }

    func read(at offset: UInt64, count: Int) -> [UInt8] {
        guard offset < byteCount, count > 0 else { return [] }
        let end = Swift.min(UInt64(count), byteCount - offset) + offset
        return Array(self[Int(offset)..<Int(end)])
    }
}
