/// A stream that is new in the log: its sealed entry, the very bytes that the vault keeps.
///
/// It rides in the log's commit, so that a key is durable together with the records that need it, and
/// stands there until the vault has taken it over (Storage, "Append").
package struct NewStream: Sendable, Equatable {
    /// The stream's number.
    package var stream: UInt64
    /// Its sealed entry.
    package var bytes: [UInt8]

    /// Names one.
    package init(stream: UInt64, bytes: [UInt8]) {
        self.stream = stream
        self.bytes = bytes
    }

    /// So many wait for the vault at most: an append above is refused as on a full disk.
    package static let waitingLimit = 100_000
}
