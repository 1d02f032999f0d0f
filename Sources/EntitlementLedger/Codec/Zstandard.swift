// Unsafe: calls into libzstd with buffers that live for the call and are passed with their lengths,
// and with contexts that one thread at a time has and that are freed once.

import CZstd
import Synchronization

/// Zstandard frames (RFC 8878).
enum Zstandard {
    private static let level: Int32 = 3

    /// Contexts that nobody uses now: as many as threads have compressed at once.
    ///
    /// Their tables take longer to make than a small content takes to compress.
    private static let idle = Mutex<[CompressionContext]>([])

    /// One frame; nil where it would not be smaller.
    static func compress(_ content: [UInt8]) -> [UInt8]? {
        let context = idle.withLock { $0.popLast() } ?? CompressionContext()
        defer { idle.withLock { $0.append(context) } }
        let frame = context.compress(content, level: level)
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

/// What libzstd keeps from frame to frame.
///
/// Unchecked: whoever takes it from the idle ones has it alone.
@safe
private final class CompressionContext: @unchecked Sendable {
    private let pointer: OpaquePointer

    init() {
        guard let made = unsafe ZSTD_createCCtx() else {
            preconditionFailure("memory for a context is there")
        }
        unsafe pointer = made
    }

    deinit { unsafe ZSTD_freeCCtx(pointer) }

    /// One frame; empty if it could not be made.
    func compress(_ content: [UInt8], level: Int32) -> [UInt8] {
        let bound = ZSTD_compressBound(content.count)
        return unsafe [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
            let written = unsafe content.withUnsafeBytes { source in
                unsafe ZSTD_compressCCtx(
                    pointer,
                    buffer.baseAddress,
                    bound,
                    source.baseAddress,
                    source.count,
                    level
                )
            }
            count = ZSTD_isError(written) == 0 ? written : 0
        }
    }
}
