import DurableFiles
import EventLog
import Glibc

/// Reads a vault's journal, or any bytes that may hold its items, whatever is damaged in it.
///
/// Items come in the order of the bytes. Of a stream the last one counts, but a tombstone is final:
/// entries before it are sealed under keys that no longer exist.
package enum VaultJournalReader {
    /// A part of the file: an item, or bytes that are none.
    package enum Part: Sendable, Equatable {
        /// A whole item.
        case item(VaultItem)
        /// Bytes that are no item: torn, overwritten, or somebody else's; reading goes on behind.
        case unreadable(byteCount: Int)
    }

    /// Bytes that are held at once: enough for many of the longest items.
    private static let windowCount = 1 << 20

    /// Hands out the parts of a file in their order, each with its offset.
    ///
    /// - Throws: `FileFault` where the file cannot be read; what `body` throws. Never for what
    ///   stands in it.
    ///
    /// Cost: one pass, a CRC for each item; memory of about 1 MiB.
    package static func read(
        _ path: String,
        _ body: (_ offset: UInt64, Part) throws -> Void
    ) throws {
        let descriptor = try DurableFile.openForReading(path)
        defer { close(descriptor) }
        var window: [UInt8] = []
        var start: UInt64 = 0
        var scanner = Scanner()
        while true {
            let more = try DurableFile.read(
                descriptor,
                at: start + UInt64(window.count),
                count: windowCount
            )
            window += more
            let isLast = more.isEmpty
            let used = try scanner.scan(window.span, from: start, isLast: isLast, body)
            window.removeFirst(used)
            start += UInt64(used)
            if isLast { return }
        }
    }

    /// Hands out the parts of some bytes in their order, each with its offset.
    package static func read(
        _ bytes: Span<UInt8>,
        _ body: (_ offset: UInt64, Part) throws -> Void
    ) rethrows {
        var scanner = Scanner()
        _ = try scanner.scan(bytes, from: 0, isLast: true, body)
    }
}

/// Goes through windows of bytes, and joins what is unreadable.
private struct Scanner {
    /// Where unreadable bytes began that are not handed out yet, and how many they are.
    private var unreadable: (offset: UInt64, count: Int)?

    /// Scans a window.
    ///
    /// Returns: how many bytes of it are done with; the rest, which may begin an item, comes again
    /// with what follows.
    mutating func scan(
        _ bytes: Span<UInt8>,
        from start: UInt64,
        isLast: Bool,
        _ body: (_ offset: UInt64, VaultJournalReader.Part) throws -> Void
    ) rethrows -> Int {
        var offset = 0
        while offset < bytes.count {
            if let (item, count) = VaultItem.find(in: bytes, at: offset) {
                try handOut(body)
                try body(start + UInt64(offset), .item(item))
                offset += count
            } else if !isLast, bytes.count - offset < VaultItem.byteLimit {
                break
            } else {
                let place = unreadable ?? (start + UInt64(offset), 0)
                unreadable = (place.offset, place.count + 1)
                offset += 1
            }
        }
        if isLast { try handOut(body) }
        return offset
    }

    private mutating func handOut(
        _ body: (_ offset: UInt64, VaultJournalReader.Part) throws -> Void
    ) rethrows {
        guard let (offset, count) = unreadable else { return }
        unreadable = nil
        try body(offset, .unreadable(byteCount: count))
    }
}
