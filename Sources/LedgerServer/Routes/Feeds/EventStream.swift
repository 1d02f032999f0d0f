import EntitlementLedger
import Entitlements
import ServiceLifecycle

/// The feed to one reader, as Server-Sent Events (WHATWG HTML, "Server-sent events"): each event once, in
/// the log's order, as fast as the reader takes them.
actor EventStream {
    private let service: LedgerService
    private let reader: FeedReader
    private var filter: EventFilter
    private var growth: AsyncStream<Void>.Iterator
    /// Events that are still to be sent.
    private var left: Int
    private var stage = Stage.begins
    private var lastSent = ContinuousClock.now
    /// How long nothing is sent before a comment is.
    private let silence: Duration
    /// Whether the reader may still be told.
    private let mayGoOn: @Sendable () -> Bool

    private enum Stage { case begins, runs, over }

    /// Events that are read at once.
    private static let pageSize = 100

    /// Begins with the first of the filter's sequences, and ends after so many events.
    init(
        _ service: LedgerService,
        _ filter: EventFilter,
        for reader: FeedReader,
        limit: Int,
        silence: Duration = ServerSentEvents.silence,
        mayGoOn: @escaping @Sendable () -> Bool = { true }
    ) {
        self.mayGoOn = mayGoOn
        self.silence = silence
        self.service = service
        self.filter = filter
        self.reader = reader
        left = limit
        // Before the first look: what is appended between is not missed.
        growth = service.growth.follow().makeAsyncIterator()
    }

    /// The next piece of the stream; nil: it is over.
    func next() async throws -> String? {
        switch stage {
        case .begins:
            stage = .runs
            return ServerSentEvents.beginning
        case .over: return nil
        case .runs: break
        }
        while left > 0 {
            // The log is followed until whoever is answered has ended: a stream ends by itself.
            guard mayGoOn(), !Task.isShuttingDownGracefully else { return goodBye() }
            let page = try await page()
            filter.sequences = page.next..<UInt64.max
            if !page.events.isEmpty {
                left -= page.events.count
                return sent(page.events.map(Self.text).joined())
            }
            // However much is recorded that is not asked for.
            if lastSent.duration(to: .now) >= silence { return sent(ServerSentEvents.comment) }
            if page.goesOn { continue }
            guard await waits() else { return goodBye() }
        }
        stage = .over
        return nil
    }

    private func goodBye() -> String {
        stage = .over
        return ServerSentEvents.goodBye
    }

    private func sent(_ text: String) -> String {
        lastSent = .now
        return text
    }

    private func page() async throws -> FeedPage {
        let (ledger, filter, reader) = (service.ledger, filter, reader)
        let limit = min(left, Self.pageSize)
        return try await service.blocking {
            try ledger.questions.feed(filter, for: reader, limit: limit)
        }
    }

    /// Waits until the log may have grown; false: the server stops.
    private func waits() async -> Bool {
        var growth = growth
        defer { self.growth = growth }
        return await growth.next(isolation: self) != nil
    }

    /// An event's text is one line.
    private static func text(_ event: (sequence: UInt64, text: String)) -> String {
        ServerSentEvents.event(id: RecordedEvent.padded(event.sequence), event.text)
    }
}
