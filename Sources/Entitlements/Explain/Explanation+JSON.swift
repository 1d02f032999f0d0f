public import Encodings

extension Explanation.Effect {
    /// `{"kind": …}` with the parameters.
    var json: JSONValue {
        switch self {
        case .requires(let tier): Self.made("requires", ("tier", .string(tier)))
        case .isFree: Self.made("is_free")
        case .isNotListed: Self.made("is_not_listed")
        case .variant(let experiment, let id):
            Self.made("variant", ("experiment", .string(experiment)), ("variant", .string(id)))
        case .linkedCustomer: Self.made("linked_customer")
        case .linkedPurchase: Self.made("linked_purchase")
        case .owned(let since): Self.made("owned", ("since", .instant(since)))
        case .handedOn: Self.made("handed_on")
        case .notOwned(let byAnother):
            Self.made("not_owned", ("ownedByAnother", .bool(byAnother)))
        case .period(let start, let end):
            Self.made("period", ("start", .instant(start)), ("end", .instant(end)))
        case .extended(let until): Self.made("extended", ("until", .instant(until)))
        case .expired(let at): Self.made("expired", ("at", .instant(at)))
        case .followed(let at): Self.made("followed", ("at", .instant(at)))
        case .ended(let at): Self.made("ended", ("at", .instant(at)))
        case .startsLater(let at): Self.made("starts_later", ("at", .instant(at)))
        case .grace(let until): Self.made("grace", ("until", .instant(until)))
        case .graceEnded(let at): Self.made("grace_ended", ("at", .instant(at)))
        case .leeway(let until): Self.made("leeway", ("until", .instant(until)))
        case .retrying: Self.made("retrying")
        case .paused(let until): Self.made("paused", ("until", .instant(until)))
        case .revoked(let isRefund, let until):
            Self.made(isRefund ? "refunded" : "revoked", ("until", .instant(until)))
        case .reversed: Self.made("reversed")
        case .verified: Self.made("verified")
        case .failedVerification: Self.made("failed_verification")
        case .neverVerified: Self.made("never_verified")
        case .isConsumable: Self.made("is_consumable")
        case .pending: Self.made("pending")
        case .abandoned: Self.made("abandoned")
        case .nothingBought: Self.made("nothing_bought")
        case .unlocks: Self.made("unlocks")
        case .unlocksTier(let tier): Self.made("unlocks_tier", ("tier", .string(tier)))
        case .unlocksAll: Self.made("unlocks_all")
        case .kept: Self.made("kept")
        case .isUnmapped: Self.made("is_unmapped")
        case .isLocked(let tier): Self.made("is_locked", ("tier", .optional(tier)))
        case .granted(let start, let end):
            Self.made("granted", ("start", .instant(start)), ("end", .instant(end)))
        case .withdrawn(let at): Self.made("withdrawn", ("at", .instant(at)))
        case .trial(let start, let end):
            Self.made("trial", ("start", .instant(start)), ("end", .instant(end)))
        case .nothing: Self.made("nothing")
        case .usedUp(let count, let period, let resetsAt):
            Self.made(
                "used_up",
                ("count", .integer(count)),
                ("period", .string(period.rawValue)),
                ("resetsAt", .instant(resetsAt))
            )
        }
    }

    private static func made(_ kind: String, _ members: (String, JSONValue)...) -> JSONValue {
        .object([JSONMember("kind", .string(kind))] + members.map { JSONMember($0.0, $0.1) })
    }
}

extension Explanation.Change.Kind {
    /// The word for it.
    var word: String {
        switch self {
        case .opens: "opens"
        case .renewal: "renewal"
        case .reversal: "reversal"
        case .resumption: "resumption"
        case .verification: "verification"
        case .claim: "claim"
        case .approval: "approval"
        case .mapping: "mapping"
        case .listing: "listing"
        case .upgrade: "upgrade"
        case .purchase: "purchase"
        case .trial: "trial"
        case .grant: "grant"
        case .ends: "ends"
        case .refund: "refund"
        case .withdrawal: "withdrawal"
        case .catalog: "catalog"
        case .limitReset: "limit_reset"
        case .allSources: "all_sources"
        }
    }

    /// Products that would do; empty for other kinds.
    var products: [String] {
        if case .purchase(let products) = self { return products }
        return []
    }
}

extension Explanation.Unused.Reason {
    /// The word for it.
    var word: String {
        switch self {
        case .environment: "other_environment"
        case .repeated: "repeated_signal"
        case .superseded: "superseded"
        case .passedOver: "link_passed_over"
        case .repeatedTrial: "repeated_trial"
        case .otherPeriod: "other_period"
        case .blocked(let effect): effect.json["kind"]?.string ?? ""
        }
    }
}

/// Gives the parts of an explanation their sentences.
public protocol ExplanationSentences {
    /// What was decided.
    func summary(of explanation: Explanation) throws -> String
    /// A step.
    func text(of step: Explanation.Step, in explanation: Explanation) throws -> String
    /// What would change the decision.
    func text(of change: Explanation.Change, in explanation: Explanation) throws -> String
    /// What is not used.
    func text(of unused: Explanation.Unused, in explanation: Explanation) throws -> String
}

extension Explanation {
    /// The members `allowed` to `completeness` of the `explain` shape (Interfaces, "Shapes").
    ///
    /// - Parameters:
    ///   - names: of purchases and grants.
    ///   - sentences: the texts.
    /// - Returns: the members, in the order of the shape.
    /// - Throws: what `names` and `sentences` throw.
    public func members(
        names: some AnswerNames,
        sentences: some ExplanationSentences
    ) throws -> [JSONMember] {
        let decision = try decision?.json(names: names)
        return [
            JSONMember("allowed", .bool(isAllowed)),
            JSONMember("until", decision?["until"] ?? .null),
            JSONMember("reason", decision?["reason"] ?? .string(AccessReason.none.rawValue)),
            JSONMember("sources", decision?["sources"] ?? .array([])),
            JSONMember("limit", decision?["limit"] ?? .null),
            JSONMember("summary", .string(try sentences.summary(of: self))),
            JSONMember(
                "steps",
                .array(
                    try steps.map { step in
                        try .object(
                            mark(
                                rule: step.rule,
                                topic: step.topic,
                                step.sequence,
                                step.time,
                                names
                            ) + [
                                JSONMember("effect", step.effect.json),
                                JSONMember(
                                    "text",
                                    .string(sentences.text(of: step, in: self))
                                ),
                            ]
                        )
                    }
                )
            ),
            JSONMember(
                "wouldChange",
                .array(
                    try wouldChange.map { change in
                        try .object(
                            mark(
                                rule: change.rule,
                                topic: change.topic,
                                change.sequence,
                                change.time,
                                names
                            ) + [
                                JSONMember("kind", .string(change.kind.word)),
                                JSONMember("products", .strings(change.kind.products)),
                                JSONMember("enough", .bool(change.isEnough)),
                                JSONMember(
                                    "decisive",
                                    change.isDecisive.map { .bool($0) } ?? .null
                                ),
                                JSONMember(
                                    "text",
                                    .string(sentences.text(of: change, in: self))
                                ),
                            ]
                        )
                    }
                )
            ),
            JSONMember(
                "notUsed",
                .array(
                    try notUsed.map { unused in
                        try .object(
                            mark(
                                rule: unused.rule,
                                topic: unused.topic,
                                unused.sequence,
                                nil,
                                names
                            ) + [
                                JSONMember("reason", .string(unused.reason.word)),
                                JSONMember("count", .integer(unused.count)),
                                JSONMember(
                                    "text",
                                    .string(sentences.text(of: unused, in: self))
                                ),
                            ]
                        )
                    }
                )
            ),
            JSONMember("completeness", .array(completeness.map(\.json))),
        ]
    }

    /// What steps and remarks have in common.
    ///
    /// `time`: when it sets in, where no event says so.
    private func mark(
        rule: Rule?,
        topic: Topic,
        _ sequence: UInt64?,
        _ time: Instant?,
        _ names: some AnswerNames
    ) throws -> [JSONMember] {
        let event = sequence.flatMap { events[$0] }
        return [
            JSONMember("rule", .optional(rule?.rawValue)),
            JSONMember("ruleText", .optional(rule?.summary)),
            JSONMember("sequence", sequence.map { .integer($0) } ?? .null),
            JSONMember("time", .instant(event?.time ?? time)),
            JSONMember("recordedAt", .instant(event?.recordedAt)),
            JSONMember("type", .optional(event?.kind.name)),
            JSONMember("source", .optional(event?.source)),
            JSONMember("about", .optional(try topic.name(names))),
        ]
    }
}

extension Explanation.Topic {
    /// The source's name as in `sources`; nil: it has none.
    public func name(_ names: some AnswerNames) throws -> String? {
        switch self {
        case .general: nil
        case .purchase(let number, _, _): try names.purchaseName(number)
        case .grant(let sequence): "grant/" + (try names.grantID(givenAt: sequence))
        case .trial(let id): "trial/" + id
        }
    }
}

extension Explanation.Unused {
    /// How many events it speaks of.
    public var count: Int {
        if case .environment(_, let count) = reason { return count }
        return 1
    }
}

extension Explanation.Completeness {
    fileprivate var json: JSONValue {
        .members([
            "store": .string(store), "lastSyncAt": .instant(lastSyncAt),
            "lastVerifiedAt": .instant(lastVerifiedAt),
            "completeThrough": .instant(completeThrough),
            "lastRefusedAt": .instant(lastRefusedAt),
        ])
    }
}
