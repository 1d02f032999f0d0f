/// A snapshot of the newest commit, lent by ``Environment/read(_:)``.
///
/// It can be used only inside the closure that it is lent to. See ``ReadableTransaction`` for what
/// it can do.
package struct ReadTransaction: ~Copyable, ReadableTransaction {
    /// LMDB's transaction.
    package let handle: TransactionHandle
}
