public import Entitlements

extension ExplanationAnswer {
    /// Tells an explanation to an audience in a language.
    ///
    /// - Parameters:
    ///   - question: whom and which point it is about, as the answer echoes it.
    ///   - explanation: what the fold explains.
    ///   - audience: for whom the sentences are.
    ///   - language: the language of the sentences.
    ///   - zone: the time zone in which they tell instants.
    ///   - customer: the customer as the sentences name them.
    ///   - names: of purchases and grants.
    ///   - token: of the decision that is explained; empty where the answer is masked.
    /// - Throws: what `names` throws.
    package init(
        _ question: QuestionEcho,
        _ explanation: Explanation,
        for audience: Audience,
        in language: Language,
        _ zone: NamedZone,
        customer: String,
        names: some AnswerNames,
        token: String
    ) throws {
        var explanation = explanation
        if audience == .customer {
            // What support may do is theirs to offer.
            explanation.wouldChange.removeAll { $0.kind == .grant }
        }
        var texts = ExplanationText(
            of: explanation,
            for: audience,
            in: language,
            zone,
            customer: customer,
            names: names
        )
        self.init(
            question: question,
            feature: explanation.feature,
            audience: audience,
            language: language,
            zone: zone.name,
            access: try explanation.decision.map { try FeatureAccess($0, names: names) }
                ?? .notListed,
            validUntil: explanation.validUntil,
            summary: try texts.summary() + texts.cause(),
            steps: try explanation.steps.map { step in
                ExplanationStep(
                    mark: try explanation.mark(of: step, names),
                    effect: explanation.effect(of: step),
                    text: try texts.text(of: step)
                )
            },
            wouldChange: try explanation.wouldChange.map { change in
                ExplanationChange(
                    mark: try explanation.mark(of: change, names),
                    kind: ExplanationChange.Kind(change.kind),
                    products: change.kind.products,
                    isEnough: change.isEnough,
                    isDecisive: change.isDecisive,
                    text: try texts.text(of: change)
                )
            },
            notUsed: try explanation.notUsed.map { unused in
                ExplanationRemark(
                    mark: try explanation.mark(of: unused, names),
                    reason: unused.reason.word,
                    count: unused.reason.count,
                    text: try texts.text(of: unused)
                )
            },
            completeness: explanation.completeness.map { StoreCompleteness($0) },
            token: token
        )
    }

    /// The rules that are named, each once, in the order of their first mention.
    public var rules: [Rule] {
        var met: Set<Rule> = []
        let marks = steps.map(\.mark) + wouldChange.map(\.mark) + notUsed.map(\.mark)
        return marks.compactMap(\.rule).filter { met.insert($0).inserted }
    }
}

extension Explanation {
    fileprivate func mark(
        of step: Step,
        _ names: some AnswerNames
    ) throws -> ExplanationMark {
        try mark(step.rule, step.topic, step.sequence, step.time, names)
    }

    fileprivate func mark(
        of change: Change,
        _ names: some AnswerNames
    ) throws -> ExplanationMark {
        try mark(change.rule, change.topic, change.sequence, change.time, names)
    }

    fileprivate func mark(
        of unused: Unused,
        _ names: some AnswerNames
    ) throws -> ExplanationMark {
        try mark(unused.rule, unused.topic, unused.sequence, nil, names)
    }

    /// What a step does, with what its event says of it.
    fileprivate func effect(of step: Step) -> ExplanationEffect {
        var effect = ExplanationEffect(step.effect)
        if case .paused = step.effect {
            effect.resumesAt = step.sequence.flatMap { events[$0] }?.resumesAt
        }
        return effect
    }

    /// `time`: when it sets in, where no event says so.
    private func mark(
        _ rule: Rule?,
        _ topic: Topic,
        _ sequence: UInt64?,
        _ time: Instant?,
        _ names: some AnswerNames
    ) throws -> ExplanationMark {
        let event = sequence.flatMap { events[$0] }
        return ExplanationMark(
            rule: rule,
            ruleText: rule?.summary,
            sequence: sequence,
            time: event?.time ?? time,
            recordedAt: event?.recordedAt,
            type: event?.kind.name,
            source: event?.source,
            about: try topic.name(names)
        )
    }
}

extension Explanation.Topic {
    /// The source's name as in `sources`; nil: it has none.
    fileprivate func name(_ names: some AnswerNames) throws -> String? {
        switch self {
        case .general: nil
        case .purchase(let number, _, _): try AccessSource.purchase(number).name(names)
        case .grant(let sequence): try AccessSource.grant(sequence).name(names)
        case .trial(let id): try AccessSource.trial(id).name(names)
        }
    }
}

extension ExplanationEffect {
    init(_ effect: Explanation.Effect) {
        self.init(kind: Kind(effect))
        switch effect {
        case .requires(let tier), .unlocksTier(let tier): self.tier = tier
        case .isLocked(let tier): self.tier = .some(tier)
        case .variant(let experiment, let id): (self.experiment, variant) = (experiment, id)
        case .owned(let since): self.since = .some(since)
        case .notOwned(let byAnother): ownedByAnother = byAnother
        case .period(let start, let end), .granted(let start, let end), .trial(let start, let end),
            .formerPlan(_, let start, let end), .continued(let start, let end):
            (self.start, self.end) = (start, .some(end))
        case .extended(let until), .grace(let until), .leeway(let until), .paused(let until),
            .revoked(_, let until), .handedOn(let until):
            self.until = .some(until)
        case .expired(let at), .followed(let at), .ended(let at), .startsLater(let at),
            .graceEnded(let at), .withdrawn(let at):
            self.at = at
        case .usedUp(let count, let period, let resetsAt):
            (self.count, self.period, self.resetsAt) = (count, period, .some(resetsAt))
        case .isFree, .isNotListed, .linkedCustomer, .linkedPurchase, .accountErased, .retrying,
            .reversed, .verified, .failedVerification, .neverVerified, .isConsumable, .pending,
            .abandoned, .nothingBought, .unlocks, .unlocksAll, .kept, .isUnmapped, .nothing:
            break
        }
    }
}

extension ExplanationEffect.Kind {
    init(_ effect: Explanation.Effect) {
        self =
            switch effect {
            case .requires: .requires
            case .isFree: .isFree
            case .isNotListed: .isNotListed
            case .variant: .variant
            case .linkedCustomer: .linkedCustomer
            case .linkedPurchase: .linkedPurchase
            case .owned: .owned
            case .handedOn: .handedOn
            case .accountErased: .accountErased
            case .notOwned: .notOwned
            case .period: .period
            case .extended: .extended
            case .expired: .expired
            case .followed: .followed
            case .ended: .ended
            case .startsLater: .startsLater
            case .grace: .grace
            case .graceEnded: .graceEnded
            case .leeway: .leeway
            case .retrying: .retrying
            case .paused: .paused
            case .revoked(let isRefund, _): isRefund ? .refunded : .revoked
            case .reversed: .reversed
            case .verified: .verified
            case .failedVerification: .failedVerification
            case .neverVerified: .neverVerified
            case .isConsumable: .isConsumable
            case .pending: .pending
            case .abandoned: .abandoned
            case .nothingBought: .nothingBought
            case .unlocks: .unlocks
            case .unlocksTier: .unlocksTier
            case .unlocksAll: .unlocksAll
            case .kept: .kept
            case .isUnmapped: .isUnmapped
            case .isLocked: .isLocked
            case .formerPlan(let isIncluded, _, _):
                isIncluded ? .formerlyIncluded : .formerlyLacked
            case .continued: .continued
            case .granted: .granted
            case .withdrawn: .withdrawn
            case .trial: .trial
            case .nothing: .nothing
            case .usedUp: .usedUp
            }
    }
}

extension ExplanationChange.Kind {
    init(_ kind: Explanation.Change.Kind) {
        self =
            switch kind {
            case .opens: .opens
            case .renewal: .renewal
            case .reversal: .reversal
            case .resumption: .resumption
            case .verification: .verification
            case .claim: .claim
            case .approval: .approval
            case .mapping: .mapping
            case .listing: .listing
            case .upgrade: .upgrade
            case .purchase: .purchase
            case .trial: .trial
            case .grant: .grant
            case .ends: .ends
            case .refund: .refund
            case .withdrawal: .withdrawal
            case .catalog: .catalog
            case .limitReset: .limitReset
            case .allSources: .allSources
            }
    }
}

extension Explanation.Change.Kind {
    /// Products that would do; empty for other kinds.
    fileprivate var products: [String] {
        if case .purchase(let products) = self { return products }
        return []
    }
}

extension Explanation.Unused.Reason {
    fileprivate var word: String {
        switch self {
        case .environment: ExplanationRemark.Reason.otherEnvironment.rawValue
        case .repeated: ExplanationRemark.Reason.repeatedSignal.rawValue
        case .superseded: ExplanationRemark.Reason.superseded.rawValue
        case .passedOver: ExplanationRemark.Reason.linkPassedOver.rawValue
        case .repeatedTrial: ExplanationRemark.Reason.repeatedTrial.rawValue
        case .claimRefused: ExplanationRemark.Reason.claimRefused.rawValue
        case .otherPeriod: ExplanationRemark.Reason.otherPeriod.rawValue
        case .blocked(let effect): ExplanationEffect.Kind(effect).rawValue
        }
    }

    /// How many events it speaks of.
    fileprivate var count: Int {
        if case .environment(_, let count) = self { return count }
        return 1
    }
}

extension StoreCompleteness {
    init(_ completeness: Explanation.Completeness) {
        self.init(
            store: completeness.store,
            lastSyncAt: completeness.lastSyncAt,
            lastVerifiedAt: completeness.lastVerifiedAt,
            completeThrough: completeness.completeThrough,
            lastRefusedAt: completeness.lastRefusedAt
        )
    }
}
