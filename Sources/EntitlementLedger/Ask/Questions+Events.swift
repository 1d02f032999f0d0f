public import Encodings
public import Entitlements
import EventLog
import LedgerAPI
import PostingIndex

/// Which events to list.
public struct EventFilter: Sendable {
    /// Only events about this customer, under any name, and about the purchases they claimed or owned.
    public var customer: CustomerID?
    /// Only events about this purchase, of the customer's where both are named.
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
    /// The size of the prefix that tells whose an event is, beyond the sequences; nil: as they end.
    var knownTo: UInt64?

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
        let size = try log.end().size
        let end = min(filter.sequences.upperBound, size)
        guard filter.sequences.lowerBound < end else { return nil }
        var within = filter
        within.sequences = filter.sequences.lowerBound..<end
        let known = max(end, min(filter.knownTo ?? end, size))
        return (within, try sequences(filter, below: known))
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
        for sequence in own where filter.sequences.contains(sequence) {
            var goesOn = true
            try log.readRecords([sequence]) { goesOn = try lend($1) }
            if !goesOn { return }
        }
    }

    /// The sequences of a customer's or purchase's events, of those of both where both are named, ascending;
    /// nil: all.
    private func sequences(_ filter: EventFilter, below end: UInt64) throws -> [UInt64]? {
        let subjects = [
            filter.customer.map(Subject.customer), filter.purchase.map(Subject.purchase),
        ]
        let environments = filter.environment.map { [$0] } ?? StoreEnvironment.allCases
        var sequences: Set<UInt64>?
        for subject in subjects.compactMap(\.self) {
            var found: Set<UInt64> = []
            for environment in environments {
                let streams = try streams(about: subject, in: environment, below: end)
                found.formUnion(try self.sequences(of: streams, below: end))
            }
            sequences = sequences?.intersection(found) ?? found
        }
        return sequences?.sorted()
    }

    /// The streams of a customer or a purchase in a prefix; none of one who is unknown.
    private func streams(
        about subject: Subject,
        in environment: StoreEnvironment,
        below end: UInt64
    ) throws -> [UInt64] {
        // Another process may have erased them: the views tell, before the name is looked up.
        if views.end < end { try views.catchUp() }
        guard let stream = try vault.stream(of: StreamName(subject, in: environment)) else {
            return []
        }
        if case .purchase = subject { return try streams(ofPurchase: stream, below: end) }
        return try streams(ofCustomer: stream, below: end)
    }

    /// The streams of a customer's names, as links lead to them (C2), and of the purchases that they
    /// claimed or owned at some time, in a prefix.
    ///
    /// Whoever else these facts concern (whom a transfer takes from, whose name it was before another link)
    /// has what is theirs left out. Cost: as `show`.
    func streams(ofCustomer stream: UInt64, below end: UInt64) throws -> [UInt64] {
        if views.end < end { try views.catchUp() }
        var loader = FactLoader(log: log, vault: vault, views: views, size: end)
        let facts = try loader.facts(ofCustomer: stream)
        let owners = OwnerFacts(facts, catalogs: try catalogHistory(size: end))
        let customer = owners.customers.canonical(stream)
        var purchases: Set<UInt64> = []
        owners.forEach { purchase, ownership in
            if ownership.isClaimed(by: customer) || !ownership.stretches(of: customer).isEmpty {
                purchases.insert(purchase)
            }
        }
        return loader.lastSequences.keys.filter { met in
            owners.customers.canonical(met) == customer
                || purchases.contains(owners.purchases.canonical(met))
        }
    }

    /// The streams of a purchase's names (P13) in a prefix.
    private func streams(ofPurchase stream: UInt64, below end: UInt64) throws -> [UInt64] {
        var loader = FactLoader(log: log, vault: vault, views: views, size: end)
        let links = Links(try loader.facts(ofPurchase: stream), of: .purchaseLinked)
        let purchase = links.canonical(stream)
        return loader.lastSequences.keys.filter { links.canonical($0) == purchase }
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
