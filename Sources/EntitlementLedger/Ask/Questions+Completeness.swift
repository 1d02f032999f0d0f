package import Entitlements
import EventLog
import PostingIndex

/// What the log says of a store itself (Z12).
struct StoreCompleteness {
    /// Until when the store's history is known to be complete; nil: nobody asked.
    var through: Instant?
    /// The last time that signals in the store's name were refused.
    var lastRefusedAt: Instant?
}

extension Questions {
    /// Until when a store's history is known to be complete; nil: nobody asked.
    ///
    /// Cost: the last events about the store.
    package func completeThrough(
        of store: String,
        in environment: StoreEnvironment
    ) throws -> Instant? {
        let size = try log.end().size
        if views.end < size { try views.catchUp() }
        return try completeness(of: store, in: environment, size: size).through
    }

    /// What the first events say of a store, the last of them that are about it.
    func completeness(
        of store: String,
        in environment: StoreEnvironment,
        size: UInt64
    ) throws -> StoreCompleteness {
        var found = StoreCompleteness()
        let name = StreamName(.store(store), in: environment)
        guard let stream = try vault.stream(of: name) else { return found }
        let entries = try views.entries(of: stream, below: size)
        func last(_ kinds: [EventKind]) -> [UInt64] {
            entries.filter { entry in kinds.contains { $0.rawValue == entry.kind } }
                .suffix(Self.storeEventLimit).map(\.sequence)
        }
        // Each apart: a wrong secret, noted hour by hour, makes nobody forget how far the store was asked.
        let wanted = last([.syncCompleted, .syncReconciled]) + last([.signalNoted])
        try log.readRecords(wanted.sorted()) { _, record in
            let header = try RecordHeader(checking: record)
            var opened = OpenedEvent(header: header, kind: try header.eventKind())
            try opened.read(record, header.facts) { _ in nil }
            if opened.kind == .signalNoted {
                guard opened.values[.name] == .text(RefusalNote.name) else { return }
                let time = Instant(milliseconds: header.time)
                found.lastRefusedAt = [found.lastRefusedAt, time].compactMap(\.self).max()
            } else if case .instant(let through)? = opened.values[.through] {
                found.through = [found.through, through].compactMap(\.self).max()
            }
        }
        return found
    }
}
