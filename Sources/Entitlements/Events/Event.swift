public import Encodings

/// A fact, in the past tense, as somebody stated it (Model, "Events").
///
/// Immutable once recorded.
public struct Event: Hashable, Sendable {
    /// The signal's id, unique within `source` and environment (E1).
    @Bytewise public var id: String
    /// Who says it.
    @Bytewise public var source: String
    /// Whom or what it is about.
    public var subject: Subject
    /// Effective time (T1).
    public var time: Instant
    /// When the source made the statement (T2).
    public var observedAt: Instant
    /// The environment that it belongs to.
    public var environment: StoreEnvironment
    /// What it says.
    public var data: EventData

    /// Makes an event; `observedAt` is `time` unless given (T2).
    public init(
        id: String,
        source: String,
        subject: Subject,
        time: Instant,
        observedAt: Instant? = nil,
        environment: StoreEnvironment = .production,
        data: EventData
    ) {
        self.id = id
        self.source = source
        self.subject = subject
        self.time = time
        self.observedAt = observedAt ?? time
        self.environment = environment
        self.data = data
    }

    /// The kind of event.
    public var kind: EventKind { data.kind }
}

/// An event as the log holds it: with its place and the time when it was recorded.
public struct RecordedEvent: Hashable, Sendable {
    /// Place in the log, 0-based.
    public var sequence: UInt64
    /// The recorded time (T3).
    public var recordedAt: Instant
    /// The event.
    public var event: Event

    /// Puts an event at its place.
    package init(sequence: UInt64, recordedAt: Instant, event: Event) {
        self.sequence = sequence
        self.recordedAt = recordedAt
        self.event = event
    }
}

/// The event sources that have a name of their own.
public enum Source {
    /// The App Store.
    public static let appStore = "app_store"
    /// Google Play.
    public static let playStore = "play_store"
    /// RevenueCat.
    public static let revenueCat = "revenuecat"
    /// The app itself.
    public static let app = "app"
    /// The people who support customers.
    public static let support = "support"
    /// Whoever publishes catalogs.
    public static let catalog = "catalog"
    /// The ledger itself.
    public static let ledger = "ledger"

    /// Those that are stores.
    package static let stores = [appStore, playStore, revenueCat]
}
