// Unsafe: a lock and a condition of the system at fixed addresses, which this object alone owns, from
// its first line to its `deinit`.
//
// Who has a transaction open in this process, and who must have the environment alone.
//
// The map may be moved or closed only while no transaction of this process is open (lmdb.h,
// mdb_env_set_mapsize). A request to be alone holds newcomers back, so it cannot starve; a thread
// that is inside already passes, so a read within a read or a write cannot deadlock with it.

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A readers-writer lock that knows its holders.
///
/// Unchecked: every `var` is touched only while `mutex` is held.
@safe
final class TransactionGate: @unchecked Sendable {
    private struct Holder {
        var thread: pthread_t
        var isWriting: Bool
    }

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var holders: [Holder] = []
    private var requestsToBeAlone = 0
    private var isAlone = false
    private var isClosed = false

    init() {
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe changed.initialize(to: pthread_cond_t())
        let made = unsafe pthread_mutex_init(mutex, nil)
        precondition(made == 0, "a mutex can be made")
        let madeCondition = unsafe pthread_cond_init(changed, nil)
        precondition(madeCondition == 0, "a condition can be made")
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    /// Enters beside others, after anyone who waits to be alone.
    ///
    /// - Throws: ``LMDBError`` if the gate is closed.
    /// - Precondition: A thread that is writing does not enter to write again: LMDB would wait for
    ///   itself for ever.
    func enter(isWriting: Bool = false) throws(LMDBError) {
        lock()
        defer { unlock() }
        let thread = pthread_self()
        while requestsToBeAlone > 0, !isInside(thread) { wait() }
        guard !isClosed else { throw TransactionGate.closed }
        precondition(
            !(isWriting && holders.contains { isSame($0.thread, thread) && $0.isWriting }),
            "a write transaction is not opened within a write transaction"
        )
        holders.append(Holder(thread: thread, isWriting: isWriting))
    }

    /// Leaves what this thread entered last.
    func leave() {
        lock()
        defer { unlock() }
        let thread = pthread_self()
        guard let position = holders.lastIndex(where: { isSame($0.thread, thread) }) else {
            preconditionFailure("a thread leaves what it entered")
        }
        holders.remove(at: position)
        if holders.isEmpty, requestsToBeAlone > 0 { unsafe pthread_cond_broadcast(changed) }
    }

    /// Runs `body` while no transaction of this process is open, and waits for that.
    ///
    /// - Parameters:
    ///   - closing: Whether nobody may enter afterwards.
    ///   - body: Runs alone.
    /// - Returns: `nil` if this thread is inside itself, or the gate is closed.
    func alone<Result>(closing: Bool = false, _ body: () -> Result) -> Result? {
        lock()
        defer { unlock() }
        guard !isInside(pthread_self()) else { return nil }
        requestsToBeAlone += 1
        while !holders.isEmpty || isAlone { wait() }
        defer {
            requestsToBeAlone -= 1
            unsafe pthread_cond_broadcast(changed)
        }
        guard !isClosed else { return nil }
        isClosed = closing
        isAlone = true
        defer { isAlone = false }
        unlock()
        defer { lock() }
        return body()
    }

    /// Whether this thread has a transaction open.
    var isHeldHere: Bool {
        lock()
        defer { unlock() }
        return isInside(pthread_self())
    }

    static let closed = LMDBError(
        code: EINVAL,
        operation: "begin",
        message: "the environment is closed",
        kind: .closed
    )

    private func isInside(_ thread: pthread_t) -> Bool {
        holders.contains { isSame($0.thread, thread) }
    }

    private func isSame(_ one: pthread_t, _ other: pthread_t) -> Bool {
        pthread_equal(one, other) != 0
    }

    private func wait() {
        let waited = unsafe pthread_cond_wait(changed, mutex)
        precondition(waited == 0, "a condition can be waited for")
    }

    private func lock() {
        let locked = unsafe pthread_mutex_lock(mutex)
        precondition(locked == 0, "the gate's mutex can be locked")
    }

    private func unlock() {
        let unlocked = unsafe pthread_mutex_unlock(mutex)
        precondition(unlocked == 0, "the gate's mutex can be unlocked")
    }
}
