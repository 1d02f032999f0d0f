/// Why a customer has or lacks a feature at T, as known at R (row Z2): read off the fold that decides.
///
/// Numbers stand for names still, and nothing of it is a sentence.
package struct Explanation: Sendable {
    /// The feature's id.
    package var feature: String
    /// The effective instant that is asked about (T).
    package var at: Instant
    /// The first instant behind T at which something of this may be told otherwise without a new event
    /// (Z15); nil: never.
    package var validUntil: Instant?
    /// The decision; nil: the catalog in force at T does not list the feature, so nobody has it (K2).
    package var decision: CustomerState.FeatureState?
    /// What led to it, in order: first what the feature takes, then source by source.
    package var steps: [Step]
    /// What would change it, the nearest first.
    package var wouldChange: [Change]
    /// What is known and counts for nothing here.
    package var notUsed: [Unused]
    /// How complete what is known of each store is, by the store's name.
    package var completeness: [Completeness]
    /// What the log says of the events that are named and of the first ones that said the same, by
    /// sequence; the fold does not know it.
    package var events: [UInt64: EventMark] = [:]
    /// The catalog in force at T, which has the products' titles; nil: there is none.
    package var catalog: Catalog?

    /// K5: whether the feature is allowed.
    package var isAllowed: Bool { decision?.isAllowed ?? false }

    /// What a step or remark is about.
    package enum Topic: Sendable, Hashable {
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
    package struct Step: Sendable, Hashable {
        /// What it is about.
        package var topic: Topic
        /// What it does.
        package var effect: Effect
        /// The event that says so; nil: a catalog's silence, a default, or the passing of time.
        package var sequence: UInt64?
        /// T1 of the event, or when the effect sets in; nil: it has no time.
        package var time: Instant?
        /// The first event in the log that said so, since which it is known; nil: the step's own.
        package var firstSequence: UInt64?

        /// The rule of the model that it applies.
        package var rule: Rule { topic.rule(of: effect) }
    }

    /// Something that would change the decision.
    package struct Change: Sendable, Hashable {
        /// What it is about.
        package var topic: Topic
        /// What it is.
        package var kind: Kind
        /// The event that stands in the way or ends it, where one does.
        package var sequence: UInt64?
        /// When it happens by itself.
        package var time: Instant?
        /// Whether it is all that is missing; false: others of its topic are missing, too.
        package var isEnough: Bool
        /// Whether the fold without the event gives another decision; nil: it was not tried.
        package var isDecisive: Bool?
        /// The first instant behind T at which that fold gives another decision by itself; nil: never, or
        /// it was not tried.
        package var isDecisiveUntil: Instant?

        /// The rule of the model that it would apply.
        package var rule: Rule { kind.rule }
    }

    /// Something that is known and counts for nothing.
    package struct Unused: Sendable, Hashable {
        /// What it is about.
        package var topic: Topic
        /// Why.
        package var reason: Reason
        /// The event, where it is one.
        package var sequence: UInt64?

        /// The rule of the model behind it; nil: that environments never mix has no number.
        package var rule: Rule? {
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
        package init(topic: Topic, reason: Reason, sequence: UInt64?) {
            self.topic = topic
            self.reason = reason
            self.sequence = sequence
        }

        /// Why something counts for nothing.
        package enum Reason: Sendable, Hashable {
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
    package struct Completeness: Sendable, Hashable {
        /// The store.
        package var store: String
        /// The last time that one of the customer's purchases was compared with the store (P11).
        package var lastSyncAt: Instant?
        /// The last verdict on one of the customer's purchases (P7).
        package var lastVerifiedAt: Instant?
        /// Until when the store's history is known to be complete.
        package var completeThrough: Instant?
        /// The last time that signals in the store's name were refused.
        package var lastRefusedAt: Instant?

        /// Makes an account of a store of which nothing is known.
        package init(store: String) { self.store = store }
    }

    /// What the log says of an event beside what the fold reads.
    package struct EventMark: Sendable, Hashable {
        /// Its kind.
        package var kind: EventKind
        /// The effective time (T1).
        package var time: Instant
        /// The recorded time (T3).
        package var recordedAt: Instant
        /// Who says it; nil: it is erased.
        package var source: String?
        /// `offer` of a period.
        package var offer: String?
        /// Whether `ownership` of a period is `family_shared`.
        package var isFamilyShared: Bool
        /// `resumesAt` of a pause.
        package var resumesAt: Instant?

        /// Makes a mark.
        package init(
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
    package var sequences: [UInt64] {
        let named =
            steps.compactMap(\.sequence) + wouldChange.compactMap(\.sequence)
            + notUsed.compactMap(\.sequence)
        return Set(named).sorted()
    }

    /// The sequences of those events and of the first ones that said the same, ascending.
    package var markedSequences: [UInt64] {
        Set(sequences).union(steps.compactMap(\.firstSequence)).sorted()
    }
}
