import Encodings
package import Entitlements
import EventLog
import LedgerAPI

/// Who reads the feed: how much of an event they are shown (row 8.5).
package enum FeedReader: Sendable {
    /// Whoever may see everything.
    case everything
    /// An app's backend: neither who looked at whom, nor free text and who wrote it.
    case application
    /// An auditor: what stands in the log in clear, and no name of anybody or anything.
    case auditor

    fileprivate var redaction: ExportRedaction { self == .auditor ? .all : .none }

    /// Whether they are shown events of a kind.
    package func shows(_ kind: EventKind) -> Bool {
        self != .application || kind != .accessLogged
    }

    fileprivate func hides(_ field: Field) -> Bool {
        self == .application && field.shape == .text
    }
}

/// Events of the feed, and where it goes on.
package struct FeedPage: Sendable {
    /// Ascending, as CloudEvents.
    package fileprivate(set) var events: [(sequence: UInt64, text: String)] = []
    /// The first sequence that was not looked at.
    package fileprivate(set) var next: UInt64
    /// The log's size.
    package let size: UInt64

    /// Whether there is more that may be let through.
    package var goesOn: Bool { next < size }
}

extension Questions {
    /// Events that one page looks at, at most: those that a filter leaves out cost too.
    static let feedScanLimit: UInt64 = 50_000
    /// Bytes of a page, beyond which no further event is added: a catalog has up to 4 MiB.
    private static let feedByteLimit = 1 << 20

    /// The events that a filter lets through, from the first of its sequences on, as a reader is shown them.
    ///
    /// `limit`: events, at most. `withEvidence`: with the payload that each was read from, as `withEvidence`
    /// adds it. Cost: the customer's or purchase's own events, else at most 50 000 of
    /// the log's.
    package func feed(
        _ filter: EventFilter,
        for reader: FeedReader,
        limit: Int,
        withEvidence: Bool = false
    ) throws -> FeedPage {
        let size = try log.end().size
        let start = min(filter.sequences.lowerBound, size)
        var end = min(filter.sequences.upperBound, size)
        if filter.customer == nil, filter.purchase == nil {
            // Fits: the log's size is far from the largest number.
            end = min(end, start + Self.feedScanLimit)
        }
        var page = FeedPage(next: end, size: size)
        var bounded = filter
        bounded.sequences = start..<max(start, end)
        var byteCount = 0
        try records(bounded) { header, record in
            guard let event = try shown(record, filter, reader) else { return true }
            let json = event.json
            let shown = withEvidence ? try self.withEvidence(json, of: header.sequence) : json
            let text = shown.description
            page.events.append((header.sequence, text))
            byteCount += text.utf8.count
            guard page.events.count < limit, byteCount < Self.feedByteLimit else {
                // Behind the first one at least, and within the log, whatever a damaged record calls itself.
                page.next = max(start, min(header.sequence, size - 1)) + 1
                return false
            }
            return true
        }
        return page
    }

    /// An event as a reader is shown it; nil: it is not.
    func shown(
        _ record: Span<UInt8>,
        _ filter: EventFilter,
        _ reader: FeedReader
    ) throws -> OpenedEvent? {
        let mask = EventMask(questions: self, redaction: reader.redaction, view: .everything)
        guard var event = try mask.shown(record), reader.shows(event.kind) else { return nil }
        if let source = filter.source, !source.isSame(as: event.source) { return nil }
        for field in Field.allCases where reader.hides(field) { event.leaveOut(field) }
        event.nameWhatIsHidden()
        return event
    }
}

extension OpenedEvent {
    /// An id and a source where both are hidden or erased: a CloudEvent has them (cloudevents.io, 1.0.2).
    fileprivate mutating func nameWhatIsHidden() {
        id = id ?? "hidden/\(header.sequence)"
        source = source ?? "hidden"
    }
}
