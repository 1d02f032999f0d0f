import Encodings
import Entitlements
import EventLog
import Synchronization

/// How many events of a log there are, of each source and environment, and how far each store is known: what
/// `status` tells.
struct LogTally: Sendable {
    /// Events that are counted, the log's first.
    private(set) var size: UInt64 = 0
    private var environments = [Int](repeating: 0, count: 256)
    /// By the codes of their sources.
    private var sources = [Source](repeating: Source(), count: 256)
    /// When signals of a store were refused last, by its name.
    private(set) var refused: [Name: Int64] = [:]

    /// What one source told.
    struct Source: Sendable {
        var events = 0
        /// When its last event was recorded; 0: none was.
        var recordedAt: Int64 = 0
        /// Up to when a store is known to have told all, in milliseconds; nil: it was never asked.
        var through: Int64?

        /// Of two sources under one name.
        fileprivate func joined(_ other: Source) -> Source {
            Source(
                events: events + other.events,
                recordedAt: max(recordedAt, other.recordedAt),
                through: [through, other.through].compactMap(\.self).max()
            )
        }
    }

    /// The sources by their names; those whose name stands in their records are one.
    var named: [Name: Source] {
        var named: [Name: Source] = [:]
        for (code, source) in sources.enumerated() where source.events > 0 {
            let name = Name(SourceCode.name(of: UInt8(code)) ?? "other")
            named[name] = source.joined(named[name] ?? Source())
        }
        return named
    }

    /// Events of an environment.
    func events(in environment: StoreEnvironment) -> Int { environments[Int(environment.rawValue)] }

    /// Events of all environments: without the gaps that a salvage left.
    var events: Int { environments.reduce(0, +) }

    /// Counts what stands behind what is counted.
    ///
    /// `stores`: stores by the streams that are about them: events stand in a stream once it is there.
    ///
    /// - Throws: `LogStorageFault.damaged` where a record is not what it should be.
    mutating func goOn(
        _ log: any LogReader,
        upTo end: UInt64,
        stores: [UInt64: String]
    ) throws {
        try log.scan(from: size, upTo: end) { header, record in
            environments[Int(header.environment)] += 1
            sources[Int(header.source)].events += 1
            // Recorded time never goes back (law 2).
            sources[Int(header.source)].recordedAt = header.recordedAt
            switch try header.eventKind() {
            case .syncCompleted, .syncReconciled:
                guard let through = try header.through(record)?.milliseconds else { break }
                let known = sources[Int(header.source)].through ?? .min
                sources[Int(header.source)].through = max(known, through)
            case .signalNoted:
                guard let store = stores[header.stream], try header.notesRefusals(record) else {
                    break
                }
                let name = Name(store)
                refused[name] = max(refused[name] ?? .min, header.time)
            default: break
            }
            return true
        }
        size = end
    }
}

/// The tally of a ledger's log as it was last asked for: the next one counts only what is new.
final class TallyCache: Sendable {
    private let kept = Mutex(LogTally())

    /// The tally of a log as it is now.
    ///
    /// Cost: one pass over the headers behind the last one that was asked for.
    ///
    /// `stores`: as `LogTally.goOn` takes them.
    ///
    /// - Throws: `LogStorageFault.damaged`.
    func tally(
        of log: any LogReader,
        stores: () throws -> [UInt64: String]
    ) throws -> LogTally {
        var tally = kept.withLock { $0 }
        // Behind the tally: a log only grows. Before the stores: whose events are counted has a stream by then.
        let end = try log.end().size
        try tally.goOn(log, upTo: end, stores: stores())
        let made = tally
        kept.withLock { $0 = made }
        return made
    }
}

extension RecordHeader {
    /// Whether a `signal.noted` says that signals were refused.
    fileprivate func notesRefusals(_ record: Span<UInt8>) throws -> Bool {
        var opened = OpenedEvent(header: self, kind: try eventKind())
        try opened.read(record, facts) { _ in nil }
        return opened.values[.name] == .text(RefusalNote.name)
    }

    /// `through` of a sync event.
    fileprivate func through(_ record: Span<UInt8>) throws -> Instant? {
        var opened = OpenedEvent(header: self, kind: try eventKind())
        try opened.read(record, facts) { _ in nil }
        guard case .instant(let instant)? = opened.values[.through] else { return nil }
        return instant
    }
}
