// Unsafe: a text of LMDB's, which it never frees, is copied.
//
// What can go wrong in LMDB, and which of it a caller may act on.

internal import CLMDB

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A fault reported by LMDB or by the system below it.
///
/// It holds no path, key or value. Decide by ``kind``; ``message`` is for people.
package struct LMDBError: Error, Sendable, Equatable {
    /// What a caller may do about a fault.
    package enum Kind: Sendable, Equatable {
        /// The map is full: ``Environment/grow(toMapSize:)`` and try again.
        case mapFull
        /// Every reader slot is taken by a living transaction of some process.
        case readersFull
        /// Another process made the map larger, and a transaction of this one was open.
        case mapResized
        /// The disk or the quota is full.
        case diskFull
        /// Reading or writing failed; LMDB reports a full disk this way too, by a short write.
        case io
        /// A write of the environment's first pages failed: it is to be opened again.
        case panicked
        /// The file system or the options of the environment refuse the operation.
        case notPermitted
        /// The directory or its data file does not exist.
        case notFound
        /// The file is damaged, of another version, or no LMDB file.
        case invalid
        /// This process has the environment open already.
        case alreadyOpen
        /// The environment was closed before the transaction began.
        case closed
        /// Any other code, see ``LMDBError/code``.
        case other
    }

    /// The code of `lmdb.h` (negative) or of `errno.h` (positive).
    package var code: Int32
    /// What was being done: the name of the C function or of ours.
    package var operation: String
    /// A sentence for people: that of `mdb_strerror` if there is no better one.
    package var message: String
    /// What a caller may do about it.
    package var kind: Kind

    /// Describes a code returned by `operation`.
    init(code: Int32, operation: String) {
        self.init(
            code: code,
            operation: operation,
            message: unsafe String(cString: mdb_strerror(code)),
            kind: Kind(code: code)
        )
    }

    init(code: Int32, operation: String, message: String, kind: Kind) {
        self.code = code
        self.operation = operation
        self.message = message
        self.kind = kind
    }
}

extension LMDBError.Kind {
    fileprivate init(code: Int32) {
        self =
            switch code {
            case MDB_MAP_FULL: .mapFull
            case MDB_READERS_FULL: .readersFull
            case MDB_MAP_RESIZED: .mapResized
            case ENOSPC, EDQUOT: .diskFull
            case EIO: .io
            case MDB_PANIC: .panicked
            case EACCES, EPERM, EROFS: .notPermitted
            case ENOENT, ENOTDIR: .notFound
            case MDB_INVALID, MDB_VERSION_MISMATCH, MDB_CORRUPTED, MDB_PAGE_NOTFOUND: .invalid
            case MDB_INCOMPATIBLE, MDB_CURSOR_FULL: .invalid
            default: .other
            }
    }
}

/// Throws unless `code` is success.
func check(_ code: Int32, _ operation: StaticString) throws(LMDBError) {
    guard code == MDB_SUCCESS else {
        throw LMDBError(code: code, operation: "\(operation)")
    }
}
