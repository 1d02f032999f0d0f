package import EventLog
import Synchronization

/// A vault whose streams another machine gives numbers to, for a while.
extension LMDBVault {
    /// See `NameVault`.
    package var surrenders: UInt64 { surrenderCount.load(ordering: .acquiring) }

    /// Takes up streams that are new by another machine's commit, which the log is given next: they are found
    /// from here on, and taken over behind.
    ///
    /// What was reserved here and stands nowhere is given up: another machine may have given its numbers
    /// to others. Those that were taken up before are passed over, so that what failed is done again.
    ///
    /// - Throws: `LogStorageFault.damaged` for one that does not open.
    package func follow(_ new: [NewStream]) throws {
        try turn.withLock { turn in
            let items = try Self.items(new, epochs)
            turn.isInDoubt = false
            // Whoever is erased already has neither name nor key here from the first.
            let gone = items.filter(\.isErased)
            if !gone.isEmpty { close(gone.map(\.stream)) }
            state.withLock { state in
                if state.surrender() { surrenderCount.add(1, ordering: .acquiringAndReleasing) }
                let next = state.nextCounter
                let unknown = items.filter { StreamNumber.counter(of: $0.stream) >= next }
                guard let last = unknown.last else { return }
                state.waiting.add(unknown)
                for case let entry? in unknown.lazy.map(\.entry) {
                    state.newNumbers[entry.name] = entry.stream
                }
                // Fits: a counter has fewer bits than a number.
                state.nextCounter = StreamNumber.counter(of: last.stream) + 1
            }
        }
        followBehind()
    }
}

extension LMDBVault.State {
    /// Gives up what is reserved; whether something was.
    fileprivate mutating func surrender() -> Bool {
        guard !reserved.isEmpty else { return false }
        for entry in reserved {
            if newNumbers[entry.name] == entry.stream { newNumbers[entry.name] = nil }
            keys[entry.stream] = nil
        }
        // Their numbers are free again, as far as this machine knows.
        if let first = reserved.first { nextCounter = StreamNumber.counter(of: first.stream) }
        reserved = []
        return true
    }
}
