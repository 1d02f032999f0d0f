import Entitlements
package import LedgerAPI

/// What a plan costs, in sentences: exactly what is charged, and when.
struct PaywallSentences {
    let text: SoldText

    private var language: Language { text.language }

    /// The price with its period, as it stands on the card; nil: its store has not said it.
    func price(_ plan: PaywallPlan) -> String? {
        guard let price = plan.price else { return nil }
        guard plan.isSubscription, let period = plan.period else { return price.text }
        return PaywallWords.pricePer.filled(language) {
            $0 == "price" ? price.text : period.each(in: language)
        }
    }

    /// A month of it, where its period is longer.
    func perMonth(_ plan: PaywallPlan) -> String? {
        guard let micros = plan.microsPerMonth, let price = plan.price else { return nil }
        return PaywallWords.perMonth.filled(language) { _ in
            text.amount(micros, price.currency)
        }
    }

    /// When its store said the price, where that is long ago (row 1.4); nil: of late, or never.
    func age(_ plan: PaywallPlan) -> String? {
        guard plan.price != nil, let metadata = plan.metadata,
            metadata.ageSeconds > Self.freshSeconds
        else { return nil }
        return PaywallWords.toldOn.filled(language) { _ in
            text.instants.day(metadata.loadedAt)
        }
    }

    /// Seconds for which a price is as its store says it: several times as long as a server waits before it
    /// loads prices anew.
    private static let freshSeconds: Int64 = 48 * 3600

    /// What is free at first, on the card.
    func trial(_ plan: PaywallPlan) -> String? {
        plan.trial.map { trial in
            PaywallWords.trial.filled(language) { _ in trial.adjective(in: language) }
        }
    }

    /// What the button says.
    func action(_ plan: PaywallPlan) -> String {
        guard let trial = plan.trial else { return PaywallWords.proceed[language] }
        return PaywallWords.startTrial.filled(language) { _ in trial.adjective(in: language) }
    }

    /// What is charged, when, and until when.
    func charge(_ plan: PaywallPlan) -> String {
        guard let price = plan.price else {
            let sentence =
                plan.isSubscription ? PaywallWords.storeShowsRenewing : PaywallWords.storeShows
            return sentence[language]
        }
        guard plan.isSubscription else {
            return PaywallWords.once.filled(language) { _ in price.text }
        }
        guard let period = plan.period else {
            return PaywallWords.renews.filled(language) { _ in price.text }
        }
        let (sentence, first) = renewal(plan)
        return sentence.filled(language) { place in
            switch place {
            case "price": price.text
            case "period": period.each(in: language)
            case "first": first
            case "offer": plan.offer?.price?.text
            default: nil
            }
        }
    }

    /// The sentence of what renews, and how long what comes first lasts.
    private func renewal(_ plan: PaywallPlan) -> (Sentence, first: String?) {
        if let trial = plan.trial {
            return (PaywallWords.thenPrice, trial.length(in: language))
        }
        guard let offer = plan.offer, offer.price != nil,
            let first = ShownPeriod(offer.period)?.times(offer.count)
        else { return (PaywallWords.pricePerRenews, nil) }
        let sentence =
            offer.mode == .payUpFront ? PaywallWords.upFront : PaywallWords.payAsYouGo
        return (sentence, first.length(in: language))
    }

    /// How the plan is called by its period.
    func kind(_ plan: PaywallPlan) -> String? {
        switch (plan.product.kind, plan.period) {
        case (.nonConsumable, _): return PaywallWords.lifetime[language]
        case (.autoRenewable, let period?) where period.count == 1:
            switch period.unit {
            case .day: return nil
            case .week: return PaywallWords.weekly[language]
            case .month: return PaywallWords.monthly[language]
            case .year: return PaywallWords.yearly[language]
            }
        case (.autoRenewable, let period?): return period.length(in: language)
        default: return nil
        }
    }
}

/// The words of the paywall.
package enum PaywallWords {
    /// The title, where no plan gives one.
    package static let title = Sentence("Choose what fits you", "プランを選ぶ", "選擇適合您的方案")
    static let plans = Sentence("Plans", "プラン", "方案")
    static let opens = Sentence("What it opens", "含まれる機能", "包含的功能")
    static let save = Sentence("Save {percent} %", "{percent}%お得", "省 {percent}%")
    static let storeShowsPrice = Sentence(
        "The store shows the price",
        "価格はストアに表示されます",
        "價格以商店顯示為準"
    )
    static let pricePer = Sentence("{price} / {period}", "{price}／{period}", "{price}／{period}")
    static let perMonth = Sentence("{price} a month", "1か月あたり{price}", "平均每月 {price}")
    static let toldOn = Sentence(
        "As the store said on {date}",
        "{date}時点のストアの価格",
        "商店於 {date}提供的價格"
    )
    static let trial = Sentence("{period} free trial", "{period}無料", "{period}免費試用")
    static let startTrial = Sentence(
        "Start {period} free trial",
        "{period}無料で試す",
        "開始 {period}免費試用"
    )
    static let proceed = Sentence("Continue", "続ける", "繼續")
    static let thenPrice = Sentence(
        "Free for {first}. Then {price} per {period}, renews automatically until cancelled.",
        "最初の{first}は無料。以降は{period}{price}。解約するまで自動更新されます。",
        "前 {first}免費，之後每{period} {price}，自動續訂直到取消為止。"
    )
    static let pricePerRenews = Sentence(
        "{price} per {period}, renews automatically until cancelled.",
        "{period}{price}。解約するまで自動更新されます。",
        "每{period} {price}，自動續訂直到取消為止。"
    )
    static let payAsYouGo = Sentence(
        "{offer} a period for the first {first}. Then {price} per {period}, renews automatically until cancelled.",
        "最初の{first}は1期間ごとに{offer}。以降は{period}{price}。解約するまで自動更新されます。",
        "前 {first}每期 {offer}，之後每{period} {price}，自動續訂直到取消為止。"
    )
    static let upFront = Sentence(
        "{offer} for the first {first}. Then {price} per {period}, renews automatically until cancelled.",
        "最初の{first}は{offer}。以降は{period}{price}。解約するまで自動更新されます。",
        "前 {first} {offer}，之後每{period} {price}，自動續訂直到取消為止。"
    )
    static let renews = Sentence(
        "{price}, renews automatically until cancelled.",
        "{price}。解約するまで自動更新されます。",
        "{price}，自動續訂直到取消為止。"
    )
    static let once = Sentence(
        "{price}, paid once. It does not renew.",
        "{price}（1回のお支払い。自動更新はありません）",
        "{price}，一次付清，不會自動續訂。"
    )
    static let storeShows = Sentence(
        "The store shows the price before you buy. It is paid once.",
        "購入前にストアで価格が表示されます。お支払いは1回です。",
        "購買前商店會顯示價格，一次付清。"
    )
    static let storeShowsRenewing = Sentence(
        "The store shows the price before you buy. It renews automatically until cancelled.",
        "購入前にストアで価格が表示されます。解約するまで自動更新されます。",
        "購買前商店會顯示價格，並自動續訂直到取消為止。"
    )
    static let cancelAnytime = Sentence(
        "Cancel anytime in Settings.",
        "設定からいつでも解約できます。",
        "可隨時在「設定」中取消。"
    )
    static let weekly = Sentence("Weekly", "週額", "每週")
    static let monthly = Sentence("Monthly", "月額", "每月")
    static let yearly = Sentence("Yearly", "年額", "每年")
    static let lifetime = Sentence("Lifetime", "買い切り", "終身")
    static let terms = Sentence("Terms of Use", "利用規約", "使用條款")
    static let privacy = Sentence("Privacy Policy", "プライバシーポリシー", "隱私權政策")
    static let nothing = Sentence(
        "There is nothing to buy here.",
        "購入できる商品はありません。",
        "目前沒有可購買的項目。"
    )
    static let confirm = Sentence("Buy “{name}”?", "「{name}」を購入しますか？", "要購買「{name}」嗎？")
    static let cancel = Sentence("Cancel", "キャンセル", "取消")
    static let done = Sentence("Done. Thank you!", "完了しました。ありがとうございます。", "已完成，謝謝您！")
    static let pending = Sentence(
        "Your purchase waits for approval. It opens by itself once it is approved.",
        "購入は承認待ちです。承認されると自動的にご利用いただけます。",
        "您的購買正在等待核准，核准後將自動開通。"
    )
    static let nothingToRestore = Sentence(
        "There is nothing to restore.",
        "復元できる購入はありません。",
        "沒有可恢復的購買項目。"
    )
}
