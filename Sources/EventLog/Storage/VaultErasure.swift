/// Streams that are to go, and the event that says so.
///
/// The vault notes it before the log says it: whoever opens the ledger after a stop looks the event
/// up, and finishes the erasure or forgets it.
package struct VaultErasure: Sendable, Equatable {
    /// The numbers of the streams, ascending.
    package var streams: [UInt64]
    /// The digest of the event, by which it is found in the log.
    package var signal: SignalDigest

    /// Notes streams, in any order.
    package init(streams: some Sequence<UInt64>, signal: SignalDigest) {
        self.streams = Set(streams).sorted()
        self.signal = signal
    }
}

/// What became of copies of the vault when names and keys were destroyed.
package struct ErasedCopies: Sendable, Equatable {
    /// The generation of the epoch keys since; 0 where there are none.
    package var generation: UInt64
    /// Backups that were brought up to it.
    package var reached: [String]
    /// Backups that still open what was erased, and until when they are to be deleted, in
    /// milliseconds since 1970.
    package var missed: [Missed]
    /// Exports that hold what was erased: they are to be deleted by whoever has them.
    package var exports: [String]
    /// Machines of a cluster that did not say yet that they followed, by name.
    package var machines: [String]
    /// What of a cluster's database keeps what was replaced, a sentence each.
    package var database: [String]

    /// A backup that could not be reached.
    package struct Missed: Sendable, Equatable {
        /// Where it was made.
        package var path: String
        /// When it is to be deleted at the latest, milliseconds since 1970.
        package var until: Int64

        /// Names one.
        package init(path: String, until: Int64) {
            self.path = path
            self.until = until
        }
    }

    /// Puts it together.
    package init(
        generation: UInt64,
        reached: [String] = [],
        missed: [Missed] = [],
        exports: [String] = [],
        machines: [String] = [],
        database: [String] = []
    ) {
        self.generation = generation
        self.reached = reached
        self.missed = missed
        self.exports = exports
        self.machines = machines
        self.database = database
    }
}
