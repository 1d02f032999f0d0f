import Encodings
import Entitlements

/// What the sentences of an explanation call their subjects.
struct ExplanationNouns {
    var audience: Audience
    var language: Language
    /// Names of purchases and grants.
    var names: any AnswerNames
    /// The catalog in force, which has the products' titles.
    var catalog: Catalog?

    /// A source: for customers what it is to them, for others by its name.
    func noun(_ topic: Explanation.Topic) throws -> String {
        switch topic {
        case .general: return ""
        case .purchase(let number, let productID, let kind):
            let name = try names.purchaseName(number)
            let product = productID.flatMap { id in
                PurchaseName(name).flatMap { catalog?.product(id, in: $0.store) }
            }
            let title = product?.title(in: language.tag)
            let isSubscription = kind == .autoRenewable
            let sentence =
                audience == .customer
                ? Self.own(isSubscription, title != nil)
                : Self.named(isSubscription, hasProduct: productID != nil, title != nil)
            return sentence.filled(language) { place in
                switch place {
                case "name": name
                case "product": productID
                default: title
                }
            }
        case .grant(let sequence):
            if audience == .customer { return Self.ownGrant[language] }
            return try Self.grant.filled(language) { _ in try names.grantID(givenAt: sequence) }
        case .trial(let id):
            return (audience == .customer ? Self.ownTrial : Self.trial).filled(language) { _ in id }
        }
    }

    /// A product of the catalog by its title and id, where it has a title.
    func product(_ id: String) -> String {
        let product = catalog?.products.first { $0.id.isSame(as: id) }
        guard let title = product?.title(in: language.tag) else { return id }
        return language == .english ? "\(title) (\(id))" : "\(title)（\(id)）"
    }

    private static let grant = Sentence("the grant “{name}”", "付与「{name}」", "贈與「{name}」")
    private static let ownGrant = Sentence(
        "the access that we gave you",
        "付与された利用権",
        "我們為您開通的權限"
    )
    private static let trial = Sentence("the trial “{name}”", "お試し「{name}」", "試用「{name}」")
    private static let ownTrial = Sentence("your trial", "お試し期間", "您的試用")

    private static func own(_ isSubscription: Bool, _ hasTitle: Bool) -> Sentence {
        switch (isSubscription, hasTitle) {
        case (true, true):
            Sentence(
                "your subscription “{title}”",
                "ご利用のサブスクリプション「{title}」",
                "您的訂閱「{title}」"
            )
        case (true, false):
            Sentence("your subscription", "ご利用のサブスクリプション", "您的訂閱")
        case (false, true):
            Sentence("your purchase “{title}”", "ご購入の商品「{title}」", "您購買的「{title}」")
        case (false, false): Sentence("your purchase", "ご購入の商品", "您購買的項目")
        }
    }

    private static func named(
        _ isSubscription: Bool,
        hasProduct: Bool,
        _ hasTitle: Bool
    ) -> Sentence {
        switch (isSubscription, hasProduct, hasTitle) {
        case (true, _, true):
            Sentence(
                "the subscription {name} of {title} ({product})",
                "サブスクリプション {name}「{title}」（{product}）",
                "訂閱 {name}「{title}」（{product}）"
            )
        case (true, _, false):
            Sentence(
                "the subscription {name} ({product})",
                "サブスクリプション {name}（{product}）",
                "訂閱 {name}（{product}）"
            )
        case (false, _, true):
            Sentence(
                "the purchase {name} of {title} ({product})",
                "購入 {name}「{title}」（{product}）",
                "購買項目 {name}「{title}」（{product}）"
            )
        case (false, true, false):
            Sentence(
                "the purchase {name} ({product})",
                "購入 {name}（{product}）",
                "購買項目 {name}（{product}）"
            )
        case (false, false, false):
            Sentence("the purchase {name}", "購入 {name}", "購買項目 {name}")
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
