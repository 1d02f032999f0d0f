public import Encodings
public import Entitlements
import EventLog
import LedgerAPI
import PostingIndex

/// Which events to list.
public struct EventFilter: Sendable {
    /// Only events about this customer, under any name, and about the purchases they claimed.
    public var customer: CustomerID?
    /// Only events about this purchase.
    public var purchase: PurchaseName?
    /// Only events of this `type`.
    public var kind: EventKind?
    /// Only events of this source.
    public var source: String?
    /// Only events of this environment; nil: of all.
    public var environment: StoreEnvironment?
    /// Sequences, half-open.
    public var sequences: Range<UInt64>
    /// Effective times, half-open.
    public var times: Interval?
    /// Only what it shows, as it shows it.
    var view = CustomerView.everything

    /// Makes a filter of everything in a range of sequences.
    public init(sequences: Range<UInt64>) {
        self.sequences = sequences
    }
}

extension Questions {
    /// One event; nil if it is erased or there is none at that sequence.
    public func event(at sequence: UInt64) throws -> RecordedEvent? {
        let opener = EventOpener(vault: vault, log: log)
        var event: RecordedEvent?
        try log.readRecords([sequence]) { _, record in
            if !LostRecord.isOne(record) { event = try opener.open(record).recorded }
        }
        return event
    }

    /// Lends the events that a filter lets through as CloudEvents, ascending, until the body
    /// returns false.
    ///
    /// No snapshot of the log is held meanwhile: a body may wait as long as it likes. Cost: the
    /// customer's or purchase's own events, else the range of the log.
    public func events(
        _ filter: EventFilter,
        _ body: (_ sequence: UInt64, JSONValue) throws -> Bool
    ) throws {
        guard let (within, own) = try range(of: filter) else { return }
        var rest = within
        while true {
            var lent: [(sequence: UInt64, json: JSONValue)] = []
            try openedEvents(rest, among: own) { event in
                lent.append((event.header.sequence, event.json))
                return lent.count < Self.lentCount
            }
            for event in lent {
                guard try body(event.sequence, event.json) else { return }
            }
            guard lent.count == Self.lentCount, let last = lent.last?.sequence else { return }
            // Fits: it lies below the range's end.
            rest.sequences = last + 1..<within.sequences.upperBound
        }
    }

    /// Events that are read before they are lent.
    private static let lentCount = 256

    /// Lends the events that a filter lets through, as they are shown to its view, ascending, until
    /// the body returns false.
    func openedEvents(
        _ filter: EventFilter,
        _ body: (OpenedEvent) throws -> Bool
    ) throws {
        guard let (within, own) = try range(of: filter) else { return }
        try openedEvents(within, among: own, body)
    }

    /// `own`: what ``range(of:)`` says of a filter that is the same but for its sequences.
    private func openedEvents(
        _ filter: EventFilter,
        among own: [UInt64]?,
        _ body: (OpenedEvent) throws -> Bool
    ) throws {
        let opener = EventOpener(vault: vault, log: log)
        try records(filter, among: own) { header, record in
            guard let opened = try filter.view.shown(opener.open(record), record) else {
                return true
            }
            if let source = filter.source, !source.isSame(as: opened.source) { return true }
            return try body(opened)
        }
    }

    /// The headers of the events that a filter lets through, ascending; sources are not looked at.
    func headers(_ filter: EventFilter, _ body: (RecordHeader) throws -> Void) throws {
        try records(filter) { header, _ in
            try body(header)
            return true
        }
    }

    /// Lends the records that a filter lets through, ascending, until the body returns false; sources are
    /// not looked at.
    func records(
        _ filter: EventFilter,
        _ body: (RecordHeader, Span<UInt8>) throws -> Bool
    ) throws {
        guard let (within, own) = try range(of: filter) else { return }
        try records(within, among: own, body)
    }

    /// A filter that ends where the log does, and the sequences of its customer's or purchase's events,
    /// ascending, nil for all; nil: it lets nothing through.
    private func range(of filter: EventFilter) throws -> (EventFilter, own: [UInt64]?)? {
        let end = min(filter.sequences.upperBound, try log.end().size)
        guard filter.sequences.lowerBound < end else { return nil }
        var within = filter
        within.sequences = filter.sequences.lowerBound..<end
        return (within, try sequences(filter, below: end))
    }

    private func records(
        _ filter: EventFilter,
        among own: [UInt64]?,
        _ body: (RecordHeader, Span<UInt8>) throws -> Bool
    ) throws {
        func lend(_ record: Span<UInt8>) throws -> Bool {
            let header = try RecordHeader(reading: record)
            return try filter.admits(header) ? body(header, record) : true
        }
        guard let own else {
            let range = filter.sequences
            try log.scan(from: range.lowerBound, upTo: range.upperBound) { try lend($1) }
            return
        }
        for sequence in own where sequence >= filter.sequences.lowerBound {
            var goesOn = true
            try log.readRecords([sequence]) { goesOn = try lend($1) }
            if !goesOn { return }
        }
    }

    /// The sequences of a customer's or purchase's events, ascending; nil: all.
    private func sequences(_ filter: EventFilter, below end: UInt64) throws -> [UInt64]? {
        guard filter.customer != nil || filter.purchase != nil else { return nil }
        if views.end < end { try views.catchUp() }
        let environments = filter.environment.map { [$0] } ?? StoreEnvironment.allCases
        var sequences: Set<UInt64> = []
        for environment in environments {
            var loader = FactLoader(log: log, vault: vault, views: views, size: end)
            let subject =
                filter.customer.map(Subject.customer) ?? filter.purchase.map(Subject.purchase)
            guard let subject,
                let stream = try vault.stream(
                    of: StreamName(subject, in: environment)
                )
            else { continue }
            let streams = try loader.streams(
                about: stream,
                isCustomer: filter.customer != nil
            )
            sequences.formUnion(try self.sequences(of: streams, below: end))
        }
        return sequences.sorted()
    }

    /// The streams of a customer's names and claimed purchases in a prefix.
    func streams(ofCustomer stream: UInt64, below end: UInt64) throws -> [UInt64] {
        if views.end < end { try views.catchUp() }
        var loader = FactLoader(log: log, vault: vault, views: views, size: end)
        return try loader.streams(about: stream, isCustomer: true)
    }

    /// The sequences of those events that name one of some streams which a view shows, ascending.
    func sequences(
        of streams: [UInt64],
        below end: UInt64,
        shownTo view: CustomerView
    ) throws -> [UInt64] {
        let sequences = try sequences(of: streams, below: end)
        guard !view.isWhole else { return sequences }
        var shown: [UInt64] = []
        try log.readRecords(sequences) { sequence, record in
            if try view.shows(RecordHeader(checking: record)) { shown.append(sequence) }
        }
        return shown
    }

    /// The sequences of the events that name one of some streams, ascending.
    func sequences(of streams: [UInt64], below end: UInt64) throws -> [UInt64] {
        var sequences: Set<UInt64> = []
        for stream in streams {
            for entry in try views.entries(of: stream, below: end) {
                sequences.insert(entry.sequence)
            }
        }
        return sequences.sorted()
    }
}

extension EventFilter {
    fileprivate func admits(_ header: RecordHeader) -> Bool {
        if let kind, header.kind != kind.rawValue { return false }
        if let environment, header.environment != environment.rawValue,
            header.stream != StreamNumber.catalog
        {
            return false
        }
        if let times, !times.contains(Instant(milliseconds: header.time)) { return false }
        return view.shows(header)
    }
}

extension FactLoader {
    /// The streams of a customer's names and claimed purchases, or of a purchase's names.
    mutating func streams(about stream: UInt64, isCustomer: Bool) throws -> [UInt64] {
        _ = isCustomer ? try facts(ofCustomer: stream) : try facts(ofPurchase: stream)
        return ownStreams
    }
}

extension OpenedEvent {
    /// The CloudEvents form.
    var json: JSONValue { recorded?.json ?? .object(ListedEvent.fields.members(of: listed)) }

    /// The event as answers list it; what is erased shows `erased/NUMBER` and null (C6).
    var listed: ListedEvent {
        ListedEvent(
            id: id,
            source: source,
            type: kind.name,
            subject: subject ?? "erased/\(header.stream)",
            time: Instant(milliseconds: header.time),
            environment: StoreEnvironment(rawValue: header.environment),
            sequence: header.sequence,
            recordedAt: Instant(milliseconds: header.recordedAt),
            data: recorded?.event.dataJSON ?? dataOfWhatIsLeft
        )
    }

    private var dataOfWhatIsLeft: JSONValue {
        .object(
            values.sorted { $0.key < $1.key }.map { JSONMember($0.key.name, $0.value.json) }
                + erased.sorted().map { JSONMember($0.name, .null) }
        )
    }
}
