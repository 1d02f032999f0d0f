/// Takes what a cluster begins with, whole or not at all.
package protocol ClusterMaker {
    /// Adds items of the vault, in their order.
    func add(items: [NewStream]) throws

    /// Adds a batch behind those before it; its new streams are items of the vault, too.
    func add(_ batch: JournalBatch) throws

    /// Adds a signed checkpoint.
    func add(checkpoint size: UInt64, note: String) throws

    /// Makes all of it durable.
    ///
    /// `manifest`: the text of `ledger.json`. `keys`: the vault's keys, wrapped by the master key.
    func finish(
        manifest: String,
        end: LogEnd,
        keys: [UInt8],
        generation: UInt64,
        allowsAsynchronous: Bool
    ) throws
}

/// All that a cluster holds, for a node that has nothing yet.
package protocol ClusterContents {
    /// The text of `ledger.json`.
    func manifest() throws -> String

    /// The vault's keys, wrapped by the master key, and their generation.
    func keys() throws -> (bytes: [UInt8], generation: UInt64)

    /// Hands out the vault's items up to a position, in their order.
    func readItems(upTo position: UInt64, _ body: (NewStream) throws -> Void) throws

    /// The signed checkpoints, ascending by size.
    func checkpoints() throws -> [(size: UInt64, note: String)]
}
