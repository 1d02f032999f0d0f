import Synchronization
import Tracing

/// A span that is sent when it ends, unless its trace is not sampled.
final class RecordedSpan: Span {
    let context: ServiceContext
    let place: SpanPlace
    private let kind: SpanKind
    private let parent: UInt64?
    private let start: UInt64
    private let queue: SpanQueue
    private let state: Mutex<State>

    private struct State {
        var name: String
        var attributes: SpanAttributes = [:]
        var isFailed = false
        var isEnded = false
    }

    /// `start`: nanoseconds since 1970.
    init(
        _ name: String,
        _ kind: SpanKind,
        _ place: SpanPlace,
        parent: UInt64?,
        _ context: ServiceContext,
        startedAt start: UInt64,
        _ queue: SpanQueue
    ) {
        self.kind = kind
        self.place = place
        self.parent = parent
        self.context = context
        self.start = start
        self.queue = queue
        state = Mutex(State(name: name))
    }

    /// Whether its trace begins with it.
    var isRoot: Bool { parent == nil }

    var isRecording: Bool { place.isSampled && state.withLock { !$0.isEnded } }

    var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { state.withLock { $0.attributes = newValue } }
    }

    func setStatus(_ status: SpanStatus) {
        // Its message may say of whom.
        state.withLock { $0.isFailed = status.code == .error }
    }

    /// Notes the error's type, never what it says: that may be of whom.
    func recordError<Instant: TracerInstant>(
        _ error: any Error,
        attributes: SpanAttributes,
        at instant: @autoclosure () -> Instant
    ) {
        state.withLock { state in
            state.isFailed = true
            state.attributes[SpanDocument.errorType] = "\(type(of: error))"
        }
    }

    /// Nothing: nobody here adds an event, and one of somebody else's may name anybody.
    func addEvent(_ event: SpanEvent) {}

    /// Nothing, as of events.
    func addLink(_ link: SpanLink) {}

    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let last = state.withLock { state in
            defer { state.isEnded = true }
            return state.isEnded ? nil : state
        }
        guard let last, place.isSampled else { return }
        queue.add(
            EndedSpan(
                name: last.name,
                kind: kind,
                place: place,
                parent: parent,
                start: start,
                end: max(start, instant().nanosecondsSinceEpoch),
                attributes: last.attributes,
                isFailed: last.isFailed
            )
        )
    }

    /// Ends it unsent.
    func drop() { state.withLock { $0.isEnded = true } }
}

/// A span as it waits to be sent.
struct EndedSpan: Sendable {
    var name: String
    var kind: SpanKind
    var place: SpanPlace
    /// nil: it begins its trace.
    var parent: UInt64?
    /// Nanoseconds since 1970.
    var start: UInt64
    var end: UInt64
    var attributes: SpanAttributes
    var isFailed: Bool
}
