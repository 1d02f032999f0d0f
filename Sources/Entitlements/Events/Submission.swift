public import Encodings

/// What a source hands in at once: events that stand together or not at all (E2), with what they
/// were read from.
public struct Submission: Sendable, Hashable {
    /// The id of the signal or request; the first event carries it, the others `id#2`, `id#3`, ….
    @Bytewise public var id: String
    /// Who says it.
    @Bytewise public var source: String
    /// The environment that it belongs to.
    public var environment: StoreEnvironment
    /// How a repeat is treated.
    public var nature: Nature
    /// What its events say, in the order in which they are to stand.
    public var drafts: [EventDraft]
    /// The payload as received, cut into pieces, to be kept sealed; nil where the events are all
    /// there is.
    public var evidenceParts: [EvidencePart]?
    /// Whom the payload names, whatever was made of it: customers and purchases, each once.
    ///
    /// Losing one of them closes the evidence (Storage, "Evidence"), so whoever hands in a payload
    /// says all of them; the events' own subjects need not stand here.
    public var named: [Subject]
    /// Names of one customer that the source knows.
    public var links: [LinkProposal]

    /// Where a submission comes from.
    public enum Nature: Sendable, Hashable {
        /// A store's message: a repeat has its first outcome, whatever it says now (E1).
        case signal
        /// What a store was asked for at a time that is told, under an id of what it says: a repeat has
        /// its first outcome unless its source has said something else since.
        case answer
        /// An event or a client's request: other content under a known id is a conflict (E1).
        case request
    }

    /// Makes a submission.
    public init(
        id: String,
        source: String,
        environment: StoreEnvironment,
        nature: Nature,
        drafts: [EventDraft],
        evidenceParts: [EvidencePart]?,
        named: [Subject] = [],
        links: [LinkProposal] = []
    ) {
        self.id = id
        self.source = source
        self.environment = environment
        self.nature = nature
        self.drafts = drafts
        self.evidenceParts = evidenceParts
        self.named = named
        self.links = links
    }

    /// Makes a submission whose payload is kept in one piece.
    public init(
        id: String,
        source: String,
        environment: StoreEnvironment,
        nature: Nature,
        drafts: [EventDraft],
        evidence: [UInt8]? = nil,
        named: [Subject] = [],
        links: [LinkProposal] = []
    ) {
        self.init(
            id: id,
            source: source,
            environment: environment,
            nature: nature,
            drafts: drafts,
            evidenceParts: evidence.map { [.bytes($0)] },
            named: named,
            links: links
        )
    }

    /// Its events: of each draft one, under the id of its place.
    public var events: [Event] { drafts.indices.map { event($0, drafts[$0]) } }

    /// The event that a draft becomes at a place in the submission (E1).
    package func event(_ place: Int, _ draft: EventDraft) -> Event {
        Event(
            draft,
            id: Self.eventID(of: id, at: place),
            source: source,
            environment: environment
        )
    }

    /// The id of the event at a place of what was handed in under an id (E1).
    package static func eventID(of id: String, at place: Int) -> String {
        place == 0 ? id : "\(id)#\(place + 1)"
    }

    /// The payload as received; nil where the events are all there is.
    public var evidence: [UInt8]? { evidenceParts?.flattened }

    /// One event by itself.
    public init(event: Event) {
        self.init(
            id: event.id,
            source: event.source,
            environment: event.environment,
            nature: .request,
            drafts: [event.draft]
        )
    }
}

/// Two ids that a source gives to one customer: becomes `customer.linked`, unless both are known to
/// name one customer (C2).
public struct LinkProposal: Sendable, Hashable {
    /// The customer who keeps their name.
    public var customer: CustomerID
    /// The other name.
    public var alias: CustomerID
    /// When it holds.
    public var time: Instant
    /// When the source said it (T2).
    public var observedAt: Instant

    /// Makes a proposal.
    public init(customer: CustomerID, alias: CustomerID, time: Instant, observedAt: Instant) {
        self.customer = customer
        self.alias = alias
        self.time = time
        self.observedAt = observedAt
    }
}
