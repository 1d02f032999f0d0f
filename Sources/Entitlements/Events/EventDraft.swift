/// What will be an event once it has its signal's id, source and environment.
///
/// Mappings of the stores' messages, and decisions at append, say what they mean in drafts; a
/// submission makes events of them (`Submission.events`).
public struct EventDraft: Hashable, Sendable {
    /// Whom or what it is about.
    public var subject: Subject
    /// Effective time (T1).
    public var time: Instant
    /// When the source made the statement (T2).
    public var observedAt: Instant
    /// What it says.
    public var data: EventData

    /// Makes a draft; `observedAt` is `time` unless given (T2).
    public init(subject: Subject, time: Instant, observedAt: Instant? = nil, data: EventData) {
        self.subject = subject
        self.time = time
        self.observedAt = observedAt ?? time
        self.data = data
    }

    /// The kind of event.
    package var kind: EventKind { data.kind }
}

extension Event {
    /// What it says, without the signal that it came by.
    package var draft: EventDraft {
        EventDraft(subject: subject, time: time, observedAt: observedAt, data: data)
    }

    /// Makes an event of a draft.
    package init(
        _ draft: EventDraft,
        id: String,
        source: String,
        environment: StoreEnvironment
    ) {
        self.init(
            id: id,
            source: source,
            subject: draft.subject,
            time: draft.time,
            observedAt: draft.observedAt,
            environment: environment,
            data: draft.data
        )
    }
}
