// The only unsafe code of this target: calls into libzstd with buffers that live for the call.

import CZstd

/// Zstandard frames (RFC 8878).
enum Zstandard {
    private static let level: Int32 = 3

    /// One frame; nil where it would not be smaller.
    static func compress(_ content: [UInt8]) -> [UInt8]? {
        let bound = ZSTD_compressBound(content.count)
        let frame = unsafe [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
            let written = unsafe content.withUnsafeBytes { source in
                unsafe ZSTD_compress(
                    buffer.baseAddress,
                    bound,
                    source.baseAddress,
                    source.count,
                    level
                )
            }
            count = ZSTD_isError(written) == 0 ? written : 0
        }
        return frame.isEmpty || frame.count >= content.count ? nil : frame
    }

    /// The content of one frame; nil if it is not one or is larger than a limit.
    static func decompress(_ frame: [UInt8], limit: Int) -> [UInt8]? {
        let size = unsafe frame.withUnsafeBytes {
            unsafe ZSTD_getFrameContentSize($0.baseAddress, $0.count)
        }
        guard size <= UInt64(limit) else { return nil }
        let content = unsafe [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            let written = unsafe frame.withUnsafeBytes { source in
                unsafe ZSTD_decompress(
                    buffer.baseAddress,
                    Int(size),
                    source.baseAddress,
                    source.count
                )
            }
            count = ZSTD_isError(written) == 0 ? written : 0
        }
        return content.count == Int(size) ? content : nil
    }
}
