/// A fault of a ``MappedTable``; holds no path and no key.
public enum MappedTableError: Error, Sendable, Equatable {
    /// Three quarters of the slots are taken: build a larger table.
    case full
    /// The table was opened to be read only.
    case readOnly
    /// The system refused `operation`; `code` is that of `errno.h`.
    case system(operation: String, code: Int32)
}
