/// Why a customer has or lacks a feature at T, as known at R (row Z2): read off the fold that decides.
///
/// Numbers stand for names still, and nothing of it is a sentence.
public struct Explanation: Sendable {
    /// The feature's id.
    public var feature: String
    /// The effective instant that is asked about (T).
    public var at: Instant
    /// The decision; nil: the catalog in force at T does not list the feature, so nobody has it (K2).
    public var decision: CustomerState.FeatureState?
    /// What led to it, in order: first what the feature takes, then source by source.
    public var steps: [Step]
    /// What would change it, the nearest first.
    public var wouldChange: [Change]
    /// What is known and counts for nothing here.
    public var notUsed: [Unused]
    /// How complete what is known of each store is, by the store's name.
    public var completeness: [Completeness]
    /// What the log says of the events that are named, by sequence; the fold does not know it.
    public var events: [UInt64: EventMark] = [:]
    /// The catalog in force at T, which has the products' titles; nil: there is none.
    package var catalog: Catalog?

    /// K5: whether the feature is allowed.
    public var isAllowed: Bool { decision?.isAllowed ?? false }

    /// What a step or remark is about.
    public enum Topic: Sendable, Hashable {
        /// The catalog, or the customer as such.
        case general
        /// A purchase by its number, with the product and kind of the period in question.
        case purchase(UInt64, productID: String?, kind: ProductKind?)
        /// A grant, by the sequence of its `grant.given`.
        case grant(UInt64)
        /// An app's trial, by its catalog id.
        case trial(String)
    }

    /// One link of the chain.
    public struct Step: Sendable, Hashable {
        /// What it is about.
        public var topic: Topic
        /// What it does.
        public var effect: Effect
        /// The event that says so; nil: a catalog's silence, a default, or the passing of time.
        public var sequence: UInt64?
        /// T1 of the event, or when the effect sets in; nil: it has no time.
        public var time: Instant?

        /// The rule of the model that it applies.
        public var rule: Rule { topic.rule(of: effect) }
    }

    /// Something that would change the decision.
    public struct Change: Sendable, Hashable {
        /// What it is about.
        public var topic: Topic
        /// What it is.
        public var kind: Kind
        /// The event that stands in the way or ends it, where one does.
        public var sequence: UInt64?
        /// When it happens by itself.
        public var time: Instant?
        /// Whether it is all that is missing; false: others of its topic are missing, too.
        public var isEnough: Bool
        /// Whether the fold without the event gives another decision; nil: it was not tried.
        public var isDecisive: Bool?

        /// The rule of the model that it would apply.
        public var rule: Rule { kind.rule }
    }

    /// Something that is known and counts for nothing.
    public struct Unused: Sendable, Hashable {
        /// What it is about.
        public var topic: Topic
        /// Why.
        public var reason: Reason
        /// The event, where it is one.
        public var sequence: UInt64?

        /// The rule of the model behind it; nil: that environments never mix has no number.
        public var rule: Rule? {
            switch reason {
            case .environment: nil
            case .repeated: .e1
            case .superseded(let rule), .passedOver(let rule): rule
            case .repeatedTrial: .c4
            case .claimRefused: .c1
            case .otherPeriod: .p6
            case .blocked(let effect): topic.rule(of: effect)
            }
        }

        /// Makes a remark.
        public init(topic: Topic, reason: Reason, sequence: UInt64?) {
            self.topic = topic
            self.reason = reason
            self.sequence = sequence
        }

        /// Why something counts for nothing.
        public enum Reason: Sendable, Hashable {
            /// So many events of another environment, which never mixes with the one that is asked about.
            case environment(StoreEnvironment, count: Int)
            /// A signal that was recorded before (E1).
            case repeated
            /// A newer statement took its place (P1, P2, C3).
            case superseded(Rule)
            /// A link that was passed over or replaced (C2, P13).
            case passedOver(Rule)
            /// A trial that was begun before (C4).
            case repeatedTrial
            /// A refund or revocation of other periods of the purchase (P6).
            case otherPeriod(isRefund: Bool)
            /// Another customer claimed the purchase and was refused (C1).
            case claimRefused
            /// What the step says stands in the way.
            case blocked(Effect)
        }
    }

    /// How complete what is known of a store is (Z12), all of it as known at R.
    public struct Completeness: Sendable, Hashable {
        /// The store.
        public var store: String
        /// The last time that one of the customer's purchases was compared with the store (P11).
        public var lastSyncAt: Instant?
        /// The last verdict on one of the customer's purchases (P7).
        public var lastVerifiedAt: Instant?
        /// Until when the store's history is known to be complete.
        public var completeThrough: Instant?
        /// The last time that signals in the store's name were refused.
        public var lastRefusedAt: Instant?

        /// Makes an account of a store of which nothing is known.
        public init(store: String) { self.store = store }
    }

    /// What the log says of an event beside what the fold reads.
    public struct EventMark: Sendable, Hashable {
        /// Its kind.
        public var kind: EventKind
        /// The effective time (T1).
        public var time: Instant
        /// The recorded time (T3).
        public var recordedAt: Instant
        /// Who says it; nil: it is erased.
        public var source: String?
        /// `offer` of a period.
        public var offer: String?
        /// Whether `ownership` of a period is `family_shared`.
        public var isFamilyShared: Bool
        /// `resumesAt` of a pause.
        public var resumesAt: Instant?

        /// Makes a mark.
        public init(
            kind: EventKind,
            time: Instant,
            recordedAt: Instant,
            source: String?,
            offer: String? = nil,
            isFamilyShared: Bool = false,
            resumesAt: Instant? = nil
        ) {
            self.kind = kind
            self.time = time
            self.recordedAt = recordedAt
            self.source = source
            self.offer = offer
            self.isFamilyShared = isFamilyShared
            self.resumesAt = resumesAt
        }
    }

    /// The sequences of all events that it names, ascending.
    public var sequences: [UInt64] {
        let named =
            steps.compactMap(\.sequence) + wouldChange.compactMap(\.sequence)
            + notUsed.compactMap(\.sequence)
        return Set(named).sorted()
    }
}
