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

/// All that a cluster holds beside its two journals, and for a node that has nothing yet.
package protocol ClusterContents: Sendable {
    /// The text of `ledger.json`.
    func manifest() throws -> String

    /// The vault's keys, wrapped by the master key, and their generation.
    func keys() throws -> (bytes: [UInt8], generation: UInt64)

    /// Replaces the vault's keys by the same keys, wrapped by another master key, where they are what the caller
    /// knows.
    ///
    /// - Returns: false where another one was faster: nothing was changed.
    func rewrapKeys(_ bytes: [UInt8], insteadOf known: [UInt8]) throws -> Bool

    /// What was sealed anew since a generation of the keys, of the first items of the vault, in one snapshot.
    func rotation(since generation: UInt64, below position: UInt64) throws -> VaultRotation

    /// Has the database give up the space of keys and items that were replaced.
    ///
    /// Cost: a pass over the vault's items.
    func vacuum() throws

    /// What keeps what was replaced, a sentence each: slots, transactions, a standby.
    ///
    /// Cost: two connections.
    func keepersOfReplaced() throws -> [String]

    /// How many items the vault had when the log had so many events, where a commit ends.
    func vaultPosition(at size: UInt64) throws -> UInt64

    /// Hands out the vault's items up to a position, in their order.
    func readItems(upTo position: UInt64, _ body: (NewStream) throws -> Void) throws

    /// The signed checkpoints of so many events and more, ascending by size.
    func checkpoints(from size: UInt64) throws -> [(size: UInt64, note: String)]

    /// Keeps a signed checkpoint for every node, durably, in place of a note of that size that is no longer than
    /// it: what witnesses added stays.
    func keep(checkpoint size: UInt64, note: String) throws

    /// What nodes hold in common beside log and vault, such as the digests of API keys; nil: nothing of
    /// that name.
    func held(_ name: String) throws -> [UInt8]?

    /// Replaces what is held under a name, where it is still what the caller knows.
    ///
    /// - Returns: false where another one was faster: nothing was changed.
    func hold(_ bytes: [UInt8], as name: String, insteadOf known: [UInt8]?) throws -> Bool

    /// Tells that a node is there, and how far it is.
    ///
    /// - Returns: whether nobody knew of it.
    @discardableResult
    func note(_ node: ClusterMember) throws -> Bool

    /// Who was there of late, by name.
    func members() throws -> [ClusterMember]

    /// Has a node's name for as long as this one is connected; again, where it has it.
    ///
    /// - Returns: false where another process has it.
    func holdName(_ name: String) throws -> Bool

    /// Has it no longer.
    func giveUpName()
}

extension ClusterContents {
    /// What machines said of the copies that they made, sealed, in the order of their names; one is left out.
    func copies(but name: String) throws -> [(machine: String, sealed: [UInt8])] {
        try members().compactMap { machine in
            guard machine.name != name else { return nil }
            return try held(machine.copiesName).map { (machine.name, $0) }
        }
    }
}

/// A node as the others know it.
package struct ClusterMember: Sendable, Equatable {
    /// Its name, one in the cluster.
    package var name: String
    /// Where it is reached.
    package var address: String
    /// Events that it has.
    package var size: UInt64
    /// The generation of the vault's keys that it has.
    package var generation: UInt64
    /// Seconds since it told so.
    package var age: Int64

    /// Puts it together.
    package init(name: String, address: String, size: UInt64, generation: UInt64, age: Int64 = 0) {
        self.name = name
        self.address = address
        self.size = size
        self.generation = generation
        self.age = age
    }

    /// Under which name is held what it said of the copies that it made.
    package var copiesName: String { Self.copiesName(of: name) }

    /// The same of the machine of a name.
    package static func copiesName(of name: String) -> String { "copies/" + name }
}
