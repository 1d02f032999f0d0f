import Entitlements

/// Tells an explanation to an audience in a language.
///
/// What it tells customers holds no id, no name of a purchase or product, and no sequence number.
struct ExplanationText {
    private var audience: Audience
    private let language: Language
    private let customer: String
    private let names: any AnswerNames
    private let instants: InstantText

    /// An event that was recorded so much later than it happened is told as late news.
    static let latenessMilliseconds: Int64 = 3_600_000

    /// Makes the sentences of one answer.
    ///
    /// - Parameters:
    ///   - audience: for whom.
    ///   - language: in which language.
    ///   - zone: in which instants are told.
    ///   - customer: the customer as they were asked for; customers are not told it.
    ///   - names: of purchases and grants.
    init(
        for audience: Audience,
        in language: Language,
        _ zone: NamedZone,
        customer: String,
        names: some AnswerNames
    ) {
        instants = InstantText(language: language, zone: zone.offsets)
        self.audience = audience
        self.language = language
        self.customer = customer
        self.names = names
    }

    // MARK: What was decided

    /// Whether the feature is allowed, until when and by what, in a sentence.
    func summary(of explanation: Explanation) -> String {
        let until = explanation.decision?.until
        let sentence: Sentence =
            explanation.decision?.refusal == .usedUp
            ? usedUp : decided(explanation.isAllowed, until)
        let reason = ExplanationNouns.reason(explanation.decision?.reason ?? .none)
        return sentence.filled(
            language,
            [
                "at": instants(explanation.at),
                "until": instants(until),
                "resetsAt": instants(explanation.decision?.limit?.resetsAt),
                "feature": explanation.feature, "customer": customer,
                "reason": reason[language],
            ]
        )
    }

    /// The limit is used up (C5).
    private var usedUp: Sentence {
        audience == .customer
            ? Sentence(
                "At {at}, this feature is used up: you can use it again from {resetsAt}.",
                "{at}の時点で、この機能は使い切りました。{resetsAt}から再びご利用いただけます。",
                "於 {at}，此功能的次數已用完，{resetsAt} 起可再次使用。"
            )
            : Sentence(
                "At {at}, “{feature}” is open to {customer} ({reason}), but used up until {resetsAt}.",
                "{at}の時点で、{customer}に「{feature}」は許可されていますが（{reason}）、{resetsAt}まで使い切っています。",
                "於 {at}，{customer} 可使用「{feature}」（{reason}），但次數已用完，至 {resetsAt} 為止。"
            )
    }

    private func decided(_ isAllowed: Bool, _ until: Instant?) -> Sentence {
        switch (isAllowed, until == nil, audience == .customer) {
        case (true, false, false):
            Sentence(
                "At {at}, “{feature}” is open to {customer} until {until} ({reason}).",
                "{at}の時点で、{customer}は「{feature}」を{until}まで利用できます（{reason}）。",
                "於 {at}，{customer} 可使用「{feature}」至 {until}（{reason}）。"
            )
        case (true, true, false):
            Sentence(
                "At {at}, “{feature}” is open to {customer}, no end is known ({reason}).",
                "{at}の時点で、{customer}は「{feature}」を利用できます。終わりは知られていません（{reason}）。",
                "於 {at}，{customer} 可使用「{feature}」，沒有已知的終止時間（{reason}）。"
            )
        case (false, _, false):
            Sentence(
                "At {at}, “{feature}” is not open to {customer}.",
                "{at}の時点で、{customer}は「{feature}」を利用できません。",
                "於 {at}，{customer} 無法使用「{feature}」。"
            )
        case (true, false, true):
            Sentence(
                "At {at}, this feature is open to you until {until}.",
                "{at}の時点で、この機能は{until}までご利用いただけます。",
                "於 {at}，您可使用此功能至 {until}。"
            )
        case (true, true, true):
            Sentence(
                "At {at}, this feature is open to you; no end is known.",
                "{at}の時点で、この機能をご利用いただけます。終わりは決まっていません。",
                "於 {at}，您可使用此功能，且沒有已知的終止時間。"
            )
        case (false, _, true):
            Sentence(
                "At {at}, this feature is not open to you.",
                "{at}の時点で、この機能はご利用いただけません。",
                "於 {at}，您無法使用此功能。"
            )
        }
    }

    /// Why, in a sentence behind the decision; empty where nothing but the catalog decides.
    ///
    /// Rules and events stand beside the steps: nobody is told them here.
    func cause(of explanation: Explanation) throws -> String {
        guard let cause = explanation.cause else { return "" }
        var texts = self
        texts.audience = audience == .customer ? .customer : .support
        return try (language == .english ? " " : "") + texts.text(of: cause, in: explanation)
    }

    // MARK: Steps and remarks

    /// What a step does.
    func text(
        of step: Explanation.Step,
        in explanation: Explanation
    ) throws -> String {
        let mark = step.sequence.flatMap { explanation.events[$0] }
        let pair = ExplanationStepTexts.texts(step.effect, step.topic, mark)
        var values = step.effect.values(instants)
        values["time"] = values["time"] ?? step.time.map { instants($0) }
        values["resumesAt"] = mark?.resumesAt.map { instants($0) }
        return try told(pair, step.topic, values, explanation, step.rule, step.sequence)
            + lateness(mark)
    }

    /// What would change the decision.
    func text(
        of change: Explanation.Change,
        in explanation: Explanation
    ) throws -> String {
        var values: [String: String] = [:]
        if let time = change.time { values["time"] = instants(time) }
        switch change.kind {
        case .purchase(let products):
            values["products"] = products.map { nouns.product($0, explanation.catalog) }
                .joined(separator: language == .english ? ", " : "、")
        case .upgrade(let tier): values["tier"] = tier
        case .allSources(let count): values["count"] = String(count)
        default: break
        }
        let text = try told(
            ExplanationChangeTexts.texts(change.kind),
            change.topic,
            values,
            explanation,
            change.rule,
            change.sequence
        )
        return change.isEnough ? text : text + Self.notEnough[language]
    }

    /// What is known and not used.
    func text(
        of unused: Explanation.Unused,
        in explanation: Explanation
    ) throws -> String {
        let mark = unused.sequence.flatMap { explanation.events[$0] }
        var values: [String: String] = [:]
        let pair: ExplanationStepTexts.Pair
        switch unused.reason {
        case .blocked(let effect):
            pair = ExplanationStepTexts.texts(effect, unused.topic, mark)
            values = effect.values(instants)
            values["time"] = values["time"] ?? (mark?.time).map { instants($0) }
            values["resumesAt"] = mark?.resumesAt.map { instants($0) }
        case .environment(let environment, let count):
            pair = ExplanationChangeTexts.texts(unused.reason)
            values = ["environment": environment.name, "count": String(count)]
        default:
            pair = ExplanationChangeTexts.texts(unused.reason)
            values["time"] = (mark?.time).map { instants($0) }
        }
        return try told(pair, unused.topic, values, explanation, unused.rule, unused.sequence)
    }

    private var nouns: ExplanationNouns {
        ExplanationNouns(audience: audience, language: language, names: names)
    }

    private static let notEnough = Sentence(
        " (Not by itself: something else is missing, too.)",
        "（ただし、これだけでは足りません。）",
        "（但僅此仍不足。）"
    )

    private func told(
        _ pair: ExplanationStepTexts.Pair,
        _ topic: Explanation.Topic,
        _ values: [String: String],
        _ explanation: Explanation,
        _ rule: Rule?,
        _ sequence: UInt64?
    ) throws -> String {
        var values = values
        values["feature"] = explanation.feature
        values["what"] = try nouns.noun(topic, explanation.catalog)
        let sentence = audience == .customer ? pair.customer : pair.support
        let text = sentence.filled(language, values)
        guard audience == .developer else { return text }
        let event = sequence.map { " [#\($0)]" } ?? ""
        return (rule.map { $0.rawValue + ": " } ?? "") + text + event
    }

    /// Late news are told as such; customers are not told when we learned of something.
    private func lateness(_ mark: Explanation.EventMark?) -> String {
        guard audience != .customer, let mark, mark.kind != .catalogPublished,
            mark.time.advanced(byMilliseconds: Self.latenessMilliseconds) < mark.recordedAt
        else { return "" }
        let sentence = Sentence(" (Known since {time}.)", "（{time}に判明）", "（於 {time} 得知）")
        return sentence.filled(language, ["time": instants(mark.recordedAt)])
    }
}

extension Explanation.Effect {
    /// The values of a sentence's places.
    fileprivate func values(_ text: InstantText) -> [String: String] {
        switch self {
        case .requires(let tier), .unlocksTier(let tier): return ["tier": tier]
        case .isLocked(let tier): return ["tier": tier ?? ""]
        case .variant(let experiment, let id): return ["experiment": experiment, "variant": id]
        case .owned(let since): return ["since": text(since)]
        case .period(let start, let end), .granted(let start, let end), .trial(let start, let end),
            .formerPlan(_, let start, let end), .continued(let start, let end):
            return ["start": text(start), "end": text(end)]
        case .extended(let until), .grace(let until), .leeway(let until), .paused(let until),
            .revoked(_, let until), .handedOn(let until):
            return ["until": text(until)]
        case .expired(let at), .followed(let at), .ended(let at), .startsLater(let at),
            .graceEnded(let at):
            return ["at": text(at)]
        case .withdrawn(let at): return ["time": text(at)]
        case .usedUp(let count, let period, let resetsAt):
            return [
                "count": String(count), "time": text(resetsAt),
                "period": ExplanationNouns.period(period)[text.language],
            ]
        default: return [:]
        }
    }
}
