import Entitlements

/// What the sentences of an explanation call their subjects.
enum ExplanationNouns {
    /// A source: for customers what it is to them, for others by its name.
    static func noun(
        _ topic: Explanation.Topic,
        _ audience: Audience,
        _ language: Language,
        _ names: any AnswerNames
    ) throws -> String {
        let isForCustomer = audience == .customer
        let sentence: Sentence
        var values: [String: String] = [:]
        switch topic {
        case .general: return ""
        case .purchase(let number, let productID, let kind):
            sentence =
                isForCustomer
                ? own(isSubscription: kind == .autoRenewable)
                : named(isSubscription: kind == .autoRenewable, hasProduct: productID != nil)
            if !isForCustomer { values["name"] = try names.purchaseName(number) }
            values["product"] = productID
        case .grant(let sequence):
            sentence =
                isForCustomer
                ? Sentence("the access that we gave you", "付与された利用権", "我們為您開通的權限")
                : Sentence("the grant “{name}”", "付与「{name}」", "贈與「{name}」")
            if !isForCustomer { values["name"] = try names.grantID(givenAt: sequence) }
        case .trial(let id):
            sentence =
                isForCustomer
                ? Sentence("your trial", "お試し期間", "您的試用")
                : Sentence("the trial “{name}”", "お試し「{name}」", "試用「{name}」")
            values["name"] = id
        }
        return sentence.filled(language, values)
    }

    private static func own(isSubscription: Bool) -> Sentence {
        isSubscription
            ? Sentence("your subscription", "ご利用のサブスクリプション", "您的訂閱")
            : Sentence("your purchase", "ご購入の商品", "您購買的項目")
    }

    private static func named(isSubscription: Bool, hasProduct: Bool) -> Sentence {
        switch (isSubscription, hasProduct) {
        case (true, _):
            Sentence(
                "the subscription {name} ({product})",
                "サブスクリプション {name}（{product}）",
                "訂閱 {name}（{product}）"
            )
        case (false, true):
            Sentence(
                "the purchase {name} ({product})",
                "購入 {name}（{product}）",
                "購買項目 {name}（{product}）"
            )
        case (false, false): Sentence("the purchase {name}", "購入 {name}", "購買項目 {name}")
        }
    }

    /// Why a feature is allowed.
    static func reason(_ reason: AccessReason) -> Sentence {
        switch reason {
        case .free: Sentence("free for everybody", "無料", "免費")
        case .purchase: Sentence("by a purchase", "購入による", "因購買")
        case .trial: Sentence("by a trial", "お試しによる", "因試用")
        case .grant: Sentence("by a grant", "付与による", "因贈與")
        case .none: Sentence("by nothing", "なし", "無")
        }
    }

    /// A window of uses.
    static func period(_ period: UsagePeriod) -> Sentence {
        switch period {
        case .day: Sentence("day", "その日", "當日")
        case .week: Sentence("week", "その週", "當週")
        case .month: Sentence("month", "その月", "當月")
        }
    }
}
