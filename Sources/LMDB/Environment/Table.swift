/// A named table of one environment: a handle, free to copy.
///
/// It stays valid until its ``Environment`` closes. Used with another environment's transaction it
/// is a programmer error and stops the process, for both would hold *some* table of that number.
package struct Table: Sendable, Hashable {
    /// LMDB's `MDB_dbi`.
    let handle: UInt32
    /// The number of the environment in this process, see `OpenEnvironments`.
    let environment: UInt32
}
