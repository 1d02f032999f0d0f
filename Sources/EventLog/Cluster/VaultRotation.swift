/// New keys for some shards of a cluster's vault, and what is sealed under them anew: what an erasure does
/// to it.
package struct VaultRotation: Sendable, Equatable {
    /// The generation of the new keys.
    package var generation: UInt64
    /// All keys of the vault, wrapped by the master key.
    package var keys: [UInt8]
    /// What stands in the vault from then on for streams of these shards, ascending.
    package var items: [Item]

    /// A stream's new entry, or the tombstone of one that goes.
    package struct Item: Sendable, Equatable {
        /// Its place among the vault's items, which stays.
        package var position: UInt64
        /// The stream's number, and what stands for it.
        package var entry: NewStream

        /// Puts it together.
        package init(position: UInt64, entry: NewStream) {
            self.position = position
            self.entry = entry
        }
    }

    /// Puts one together.
    package init(generation: UInt64, keys: [UInt8], items: [Item]) {
        self.generation = generation
        self.keys = keys
        self.items = items
    }
}

/// Where an erasure of a cluster is noted, and becomes durable before any machine's own files know of it.
package protocol ErasureJournal: Sendable {
    /// The vault's keys as the cluster has them, wrapped by the master key.
    ///
    /// - Throws: `LogStorageFault`.
    func vaultKeys() throws -> [UInt8]

    /// What was noted and not forgotten; nil: nothing.
    ///
    /// - Throws: `LogStorageFault`.
    func erasureNote() throws -> [UInt8]?

    /// Replaces the note; nil: there is none.
    ///
    /// - Throws: `LogStorageFault`: `busy` where another one stands than the caller knows, `noLeader`.
    func replaceErasureNote(_ known: [UInt8]?, by note: [UInt8]?) throws

    /// The other machines of the cluster, as they said of themselves last.
    ///
    /// - Throws: `LogStorageFault`.
    func otherMembers() throws -> [ClusterMember]

    /// What other machines said last of the copies that they made, sealed, in the order of their names.
    ///
    /// - Throws: `LogStorageFault`.
    func copiesOfOthers() throws -> [(machine: String, sealed: [UInt8])]

    /// What of the cluster's database keeps what was replaced, a sentence each: slots, transactions, a standby.
    ///
    /// - Throws: `LogStorageFault`.
    func keepersOfReplaced() throws -> [String]

    /// Replaces keys and items in one transaction, under the fence of an append, and then has the machine's
    /// own files follow.
    ///
    /// `position`: how many items the vault has that the rotation was made from. `known`: the wrapped keys that
    /// it replaces. `own`: writes it to this machine's files; where it fails, another machine is to lead.
    ///
    /// - Throws: `LogStorageFault.noLeader` where nothing was changed, `outcomeUnknown`.
    func rotate(
        _ rotation: VaultRotation,
        of position: UInt64,
        insteadOf known: [UInt8],
        _ own: () throws -> Void
    ) throws
}
