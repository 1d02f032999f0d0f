// Unsafe: the text that realpath(3) makes is copied, then freed, in the same scope.
//
// One directory is open at most once in a process.
//
// LMDB's locks are POSIX record locks: closing a second environment of the same file would drop
// the locks of the first (lmdb.h, "Caveats").

internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The canonical paths of the environments that are open in this process.
enum OpenEnvironments {
    private static let paths = Mutex<Set<String>>([])
    private static let lastNumber = Atomic<UInt32>(0)

    /// Reserves the directory and returns its canonical path.
    static func reserve(_ path: String) throws(LMDBError) -> String {
        let canonical = try canonicalPath(path)
        guard paths.withLock({ $0.insert(canonical).inserted }) else {
            throw LMDBError(
                code: EBUSY,
                operation: "open",
                message: "this process has the environment open already",
                kind: .alreadyOpen
            )
        }
        return canonical
    }

    static func release(_ canonical: String) {
        _ = paths.withLock { $0.remove(canonical) }
    }

    /// A number no other environment of this process has had.
    static func nextNumber() -> UInt32 {
        lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    }

    private static func canonicalPath(_ path: String) throws(LMDBError) -> String {
        guard let resolved = unsafe realpath(path, nil) else {
            throw LMDBError(code: errno, operation: "realpath")
        }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}
