import Encodings
import LedgerAPI
import Synchronization

@testable import EntitlementClient

/// Files in memory, which a test may damage, fill up or make fail.
final class MemoryStorage: CacheStorage {
    private struct State {
        var files: [CacheFile: [UInt8]] = [:]
        var aside: [CacheFile: [UInt8]] = [:]
        var fault: ServiceError?
        var writes = 0
        var removed: [CacheFile] = []
        var beforeWrite: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    static let diskFull = ServiceError(.databaseError, nativeCode: "NSCocoaErrorDomain/640")

    /// Thrown by each call; nil: none.
    var fault: ServiceError? {
        get { state.withLock { $0.fault } }
        set { state.withLock { $0.fault = newValue } }
    }

    /// Called before something is written; nil: nothing is.
    var beforeWrite: (@Sendable () -> Void)? {
        get { state.withLock { $0.beforeWrite } }
        set { state.withLock { $0.beforeWrite = newValue } }
    }

    /// What was removed, in its order.
    var removed: [CacheFile] { state.withLock { $0.removed } }

    /// How often something was written.
    var writes: Int { state.withLock { $0.writes } }

    subscript(file: CacheFile) -> [UInt8]? {
        get { state.withLock { $0.files[file] } }
        set { state.withLock { $0.files[file] = newValue } }
    }

    func aside(_ file: CacheFile) -> [UInt8]? { state.withLock { $0.aside[file] } }

    var isEmpty: Bool { state.withLock { $0.files.isEmpty && $0.aside.isEmpty } }

    func read(_ file: CacheFile) throws(ServiceError) -> [UInt8]? {
        if let fault { throw fault }
        return self[file]
    }

    func write(_ bytes: [UInt8], to file: CacheFile) throws(ServiceError) {
        if let fault { throw fault }
        beforeWrite?()
        state.withLock {
            $0.files[file] = bytes
            $0.writes += 1
        }
    }

    func append(_ bytes: [UInt8], to file: CacheFile) throws(ServiceError) {
        if let fault { throw fault }
        beforeWrite?()
        state.withLock {
            $0.files[file, default: []] += bytes
            $0.writes += 1
        }
    }

    func remove(_ file: CacheFile) throws(ServiceError) {
        if let fault { throw fault }
        state.withLock {
            $0.files[file] = nil
            $0.aside[file] = nil
            $0.removed.append(file)
        }
    }

    func putAside(_ file: CacheFile) throws(ServiceError) {
        if let fault { throw fault }
        state.withLock { state in
            state.aside[file] = state.files.removeValue(forKey: file)
        }
    }
}
