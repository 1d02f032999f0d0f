package import EventLog
import Synchronization

/// A vault whose streams another machine gives numbers to, for a while.
extension LMDBVault {
    /// See `NameVault`.
    package var surrenders: UInt64 { state.withLock(\.surrenders) }

    /// Takes up streams that are new in the log by another machine's commit: they are found from here on,
    /// and taken over behind.
    ///
    /// What was reserved here and stands nowhere is given up: another machine may have given its numbers
    /// to others.
    ///
    /// - Precondition: the log holds them.
    /// - Throws: `LogStorageFault.damaged` for one that does not open.
    package func follow(_ new: [NewStream]) throws {
        try turn.withLock { turn in
            let items = try Self.items(new, epochs)
            turn.isInDoubt = false
            state.withLock { state in
                state.surrender()
                state.waiting.add(items)
                for case let entry? in items.lazy.map(\.entry) {
                    state.newNumbers[entry.name] = entry.stream
                }
                guard let last = items.last else { return }
                state.nextCounter = max(
                    state.nextCounter,
                    // Fits: a counter has fewer bits than a number.
                    StreamNumber.counter(of: last.stream) + 1
                )
            }
        }
        followBehind()
    }
}

extension LMDBVault.State {
    /// Gives up what is reserved.
    fileprivate mutating func surrender() {
        guard !reserved.isEmpty else { return }
        for entry in reserved {
            if newNumbers[entry.name] == entry.stream { newNumbers[entry.name] = nil }
            keys[entry.stream] = nil
        }
        // Their numbers are free again, as far as this machine knows.
        if let first = reserved.first { nextCounter = StreamNumber.counter(of: first.stream) }
        reserved = []
        surrenders += 1
    }
}
