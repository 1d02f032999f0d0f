import Entitlements

/// Tells an explanation to an audience in a language.
///
/// What it tells customers holds no id, no name of a purchase or product, and no sequence number.
struct ExplanationText {
    private let explanation: Explanation
    /// For whom; a cause is never told as to developers.
    private var audience: Audience
    private let language: Language
    private let customer: String
    private let instants: InstantText
    private var nouns: ExplanationNouns
    /// The topic that was named last, with its noun: steps of one source follow one another.
    private var lastNoun: (topic: Explanation.Topic, text: String)?

    /// An event that was recorded so much later than it happened is told as late news.
    static let latenessMilliseconds: Int64 = 3_600_000

    /// Makes the sentences of one answer.
    ///
    /// - Parameters:
    ///   - explanation: what is told.
    ///   - audience: for whom.
    ///   - language: in which language.
    ///   - zone: in which instants are told.
    ///   - customer: the customer as they were asked for; customers are not told it.
    ///   - names: of purchases and grants.
    init(
        of explanation: Explanation,
        for audience: Audience,
        in language: Language,
        _ zone: NamedZone,
        customer: String,
        names: some AnswerNames
    ) {
        self.explanation = explanation
        instants = InstantText(language: language, zone: zone.offsets)
        self.audience = audience
        self.language = language
        self.customer = customer
        nouns = ExplanationNouns(
            audience: audience,
            language: language,
            names: names,
            catalog: explanation.catalog
        )
    }

    // MARK: What was decided

    /// Whether the feature is allowed, until when and by what, in a sentence.
    func summary() -> String {
        let until = explanation.decision?.until
        let sentence: Sentence =
            explanation.decision?.refusal == .usedUp
            ? usedUp : decided(explanation.isAllowed, until)
        let reason = ExplanationNouns.reason(explanation.decision?.reason ?? .none)
        return sentence.filled(language) { place in
            switch place {
            case "at": instants(explanation.at)
            case "until": instants(until)
            case "resetsAt": instants(explanation.decision?.limit?.resetsAt)
            case "feature": explanation.feature
            case "customer": customer
            default: reason[language]
            }
        }
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
    mutating func cause() throws -> String {
        guard let cause = explanation.cause else { return "" }
        let asked = audience
        defer { audience = asked }
        audience = asked == .customer ? .customer : .support
        return try (language == .english ? " " : "") + text(of: cause)
    }

    // MARK: Steps and remarks

    /// What a step does.
    mutating func text(of step: Explanation.Step) throws -> String {
        let mark = step.sequence.flatMap { explanation.events[$0] }
        let pair = ExplanationStepTexts.texts(step.effect, step.topic, mark)
        return try told(pair, step.topic, step.rule, step.sequence) { place, instants in
            step.effect.value(at: place, mark, step.time, instants)
        } + lateness(step, mark)
    }

    /// What would change the decision.
    mutating func text(of change: Explanation.Change) throws -> String {
        let nouns = nouns
        let pair = ExplanationChangeTexts.texts(change.kind)
        let text = try told(pair, change.topic, change.rule, change.sequence) { place, instants in
            switch (place, change.kind) {
            case ("time", _): change.time.map { instants($0) }
            case ("products", .purchase(let products)):
                products.map { nouns.product($0) }
                    .joined(separator: nouns.language == .english ? ", " : "、")
            case ("tier", .upgrade(let tier)): tier
            case ("count", .allSources(let count)): String(count)
            default: nil
            }
        }
        return change.isEnough ? text : text + Self.notEnough[language]
    }

    /// What is known and not used.
    mutating func text(of unused: Explanation.Unused) throws -> String {
        let mark = unused.sequence.flatMap { explanation.events[$0] }
        let pair =
            if case .blocked(let effect) = unused.reason {
                ExplanationStepTexts.texts(effect, unused.topic, mark)
            } else {
                ExplanationChangeTexts.texts(unused.reason)
            }
        return try told(pair, unused.topic, unused.rule, unused.sequence) { place, instants in
            switch (place, unused.reason) {
            case (_, .blocked(let effect)): effect.value(at: place, mark, mark?.time, instants)
            case ("environment", .environment(let environment, _)): environment.name
            case ("count", .environment(_, let count)): String(count)
            case ("time", _): (mark?.time).map { instants($0) }
            default: nil
            }
        }
    }

    private static let notEnough = Sentence(
        " (Not by itself: something else is missing, too.)",
        "（ただし、これだけでは足りません。）",
        "（但僅此仍不足。）"
    )

    /// A sentence with its places filled, and for developers with its rule and event.
    private mutating func told(
        _ pair: ExplanationStepTexts.Pair,
        _ topic: Explanation.Topic,
        _ rule: Rule?,
        _ sequence: UInt64?,
        value: (_ place: String, InstantText) -> String?
    ) throws -> String {
        let sentence = audience == .customer ? pair.customer : pair.support
        let text = try sentence.filled(language) { place in
            switch place {
            case "feature": explanation.feature
            case "what": try noun(topic)
            default: value(place, instants)
            }
        }
        guard audience == .developer else { return text }
        let event = sequence.map { " [#\($0)]" } ?? ""
        return (rule.map { $0.rawValue + ": " } ?? "") + text + event
    }

    private mutating func noun(_ topic: Explanation.Topic) throws -> String {
        if let lastNoun, lastNoun.topic == topic { return lastNoun.text }
        let text = try nouns.noun(topic)
        lastNoun = (topic, text)
        return text
    }

    /// Late news are told as such, by when the first of them came (T4); customers are not told when we
    /// learned of something.
    ///
    /// `mark`: that of the step's own event.
    private func lateness(_ step: Explanation.Step, _ mark: Explanation.EventMark?) -> String {
        let first: Explanation.EventMark? =
            step.firstSequence.map { explanation.events[$0] } ?? mark
        guard audience != .customer, let mark, mark.kind != .catalogPublished,
            let knownSince = first?.recordedAt,
            mark.time.advanced(byMilliseconds: Self.latenessMilliseconds) < knownSince
        else { return "" }
        let sentence = Sentence(" (Known since {time}.)", "（{time}に判明）", "（於 {time} 得知）")
        return sentence.filled(language) { _ in instants(knownSince) }
    }
}

extension Explanation.Effect {
    /// What stands at a place of a sentence; nil: nothing.
    ///
    /// `time`: when it sets in, where the effect itself does not say so.
    fileprivate func value(
        at place: String,
        _ mark: Explanation.EventMark?,
        _ time: Instant?,
        _ text: InstantText
    ) -> String? {
        switch (place, self) {
        case ("time", .withdrawn(let at)): text(at)
        case ("time", .usedUp(_, _, let resetsAt)): text(resetsAt)
        case ("time", _): time.map { text($0) }
        case ("resumesAt", _): (mark?.resumesAt).map { text($0) }
        case ("tier", .requires(let tier)), ("tier", .unlocksTier(let tier)): tier
        case ("tier", .isLocked(let tier)): tier
        case ("experiment", .variant(let experiment, _)): experiment
        case ("variant", .variant(_, let id)): id
        case ("since", .owned(let since)): text(since)
        case ("start", .period(let start, _)), ("start", .granted(let start, _)),
            ("start", .trial(let start, _)), ("start", .formerPlan(_, let start, _)),
            ("start", .continued(let start, _)):
            text(start)
        case ("end", .period(_, let end)), ("end", .granted(_, let end)),
            ("end", .trial(_, let end)), ("end", .formerPlan(_, _, let end)),
            ("end", .continued(_, let end)):
            text(end)
        case ("until", .extended(let until)), ("until", .grace(let until)),
            ("until", .leeway(let until)), ("until", .paused(let until)),
            ("until", .revoked(_, let until)), ("until", .handedOn(let until)):
            text(until)
        case ("at", .expired(let at)), ("at", .followed(let at)), ("at", .ended(let at)),
            ("at", .startsLater(let at)), ("at", .graceEnded(let at)):
            text(at)
        case ("count", .usedUp(let count, _, _)): String(count)
        case ("period", .usedUp(_, let period, _)): ExplanationNouns.period(period)[text.language]
        default: nil
        }
    }
}
