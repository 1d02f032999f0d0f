import Entitlements
import LedgerAPI

/// How a feature or a purchase stands, as a chip shows it: the words of a closed list, with what each means.
struct Standing {
    /// The chip's shape and colour.
    var mark: String
    /// The word.
    var name: Sentence
    /// What it means.
    var meaning: Sentence

    fileprivate init(_ mark: String, _ name: Sentence, _ meaning: Sentence) {
        (self.mark, self.name, self.meaning) = (mark, name, meaning)
    }

    /// How a feature stands by what explains it, and the purchases that give it.
    init(_ explanation: ExplanationAnswer, _ purchases: [PurchaseState]) {
        let access = explanation.access
        guard !access.isAllowed else {
            let given = purchases.filter { access.sources.contains($0.purchase) }
            self = Self.allowed(access, given)
            return
        }
        let kinds = explanation.steps.reversed().map(\.effect.kind)
        self = kinds.lazy.compactMap { Self.taken($0) }.first ?? .closed
    }

    /// How a feature stands by itself.
    init(_ access: FeatureAccess, _ purchases: [PurchaseState]) {
        let given = purchases.filter { access.sources.contains($0.purchase) }
        self = access.isAllowed ? Self.allowed(access, given) : .closed
    }

    private static func allowed(_ access: FeatureAccess, _ given: [PurchaseState]) -> Standing {
        if access.refusal == .usedUp { return .usedUp }
        switch access.reason {
        case .free: return .free
        case .trial: return .trial
        case .grant: return .granted
        case .none: return .closed
        case .purchase:
            if given.contains(where: { $0.status == .grace }) { return Standing(.grace) }
            let ends = !given.isEmpty && given.allSatisfy { $0.willRenew == false }
            return ends ? .ending : Standing(.active)
        }
    }

    private static func taken(_ kind: ExplanationEffect.Kind) -> Standing? {
        switch kind {
        case .refunded: Standing(.refunded)
        case .revoked: Standing(.revoked)
        case .paused: Standing(.paused)
        case .retrying: Standing(.billingRetry)
        case .failedVerification, .neverVerified: Standing(.unverified)
        case .pending: Standing(.pending)
        case .expired, .ended, .graceEnded, .withdrawn: Standing(.expired)
        case .nothingBought: .never
        default: nil
        }
    }

    /// How a purchase stands.
    init(_ status: PurchaseStatus) { self = status.standing }

    private static let ending = Standing(
        "warn",
        Sentence("Active, will not renew", "有効（更新されません）", "有效，不會續訂"),
        Sentence(
            "Open until its end; the renewal is off.",
            "期限まで利用できます。自動更新はオフです。",
            "可使用至到期日；已關閉續訂。"
        )
    )
    private static let free = Standing(
        "ok",
        Sentence("Free", "無料", "免費"),
        Sentence("Open for everybody.", "誰でも利用できます。", "所有人皆可使用。")
    )
    private static let trial = Standing(
        "trial",
        Sentence("Trial", "お試し", "試用"),
        Sentence("Open by a trial.", "お試しで利用できます。", "因試用而可使用。")
    )
    private static let granted = Standing(
        "grant",
        Sentence("Granted by staff", "担当者による付与", "由人員授予"),
        Sentence("Open by a grant.", "付与により利用できます。", "因授予而可使用。")
    )
    private static let usedUp = Standing(
        "warn",
        Sentence("Used up", "使い切り", "已用完"),
        Sentence(
            "Open, but nothing is left of its limit.",
            "利用できますが、上限に達しています。",
            "可使用，但次數已用完。"
        )
    )
    private static let closed = Standing(
        "off",
        Sentence("Not open", "利用不可", "無法使用"),
        Sentence("Nothing opens it.", "利用できる根拠がありません。", "沒有任何項目可開啟。")
    )
    private static let never = Standing(PurchaseStatus.none)
}

extension XMLText {
    /// A standing as a chip.
    mutating func chip(_ standing: Standing, _ language: Language) {
        let attributes: KeyValuePairs = [
            "class": "chip " + standing.mark, "title": standing.meaning[language],
        ]
        element("span", attributes) { $0.write(standing.name[language]) }
    }

    /// An instant as people read it, in UTC; nothing where there is none.
    mutating func time(_ instant: Instant?, _ language: Language) {
        guard let instant else { return }
        element("time", ["datetime": instant.brief]) {
            $0.write(InstantText(language: language)(instant))
        }
    }
}

extension PurchaseStatus {
    fileprivate var standing: Standing {
        switch self {
        case .active:
            Standing(
                "ok",
                Sentence("Active", "有効", "有效"),
                Sentence("Paid and open.", "支払い済みで利用できます。", "已付款，可使用。")
            )
        case .grace:
            Standing(
                "warn",
                Sentence("Grace period", "猶予期間", "寬限期"),
                Sentence(
                    "Open although the payment failed.",
                    "支払いに失敗しましたが、利用できます。",
                    "扣款失敗，但仍可使用。"
                )
            )
        case .billingRetry:
            Standing(
                "bad",
                Sentence("Billing retry", "請求再試行中", "重試扣款中"),
                Sentence(
                    "Closed while the store tries the payment again.",
                    "ストアが請求を再試行しており、利用できません。",
                    "商店正在重試扣款，無法使用。"
                )
            )
        case .paused:
            Standing(
                "warn",
                Sentence("Paused", "一時停止", "已暫停"),
                Sentence("Paused by the customer.", "顧客が一時停止しました。", "由客戶暫停。")
            )
        case .refunded:
            Standing(
                "bad",
                Sentence("Refunded", "返金済み", "已退款"),
                Sentence(
                    "The store gave the money back.",
                    "ストアが返金しました。",
                    "商店已退款。"
                )
            )
        case .revoked:
            Standing(
                "bad",
                Sentence("Revoked", "取り消し済み", "已撤銷"),
                Sentence(
                    "The store took it back.",
                    "ストアが取り消しました。",
                    "商店已撤銷。"
                )
            )
        case .unverified:
            Standing(
                "bad",
                Sentence("Not verified", "未検証", "未驗證"),
                Sentence(
                    "The evidence did not hold.",
                    "証拠を確認できませんでした。",
                    "證據未通過驗證。"
                )
            )
        case .pending:
            Standing(
                "warn",
                Sentence("Pending", "保留中", "待處理"),
                Sentence(
                    "The store waits for an approval or a payment.",
                    "ストアが承認または支払いを待っています。",
                    "商店正在等待核准或付款。"
                )
            )
        case .expired:
            Standing(
                "off",
                Sentence("Expired", "期限切れ", "已到期"),
                Sentence("Its end is past.", "期限を過ぎています。", "期限已過。")
            )
        case .none:
            Standing(
                "off",
                Sentence("Never bought", "購入なし", "未曾購買"),
                Sentence("Nothing was paid.", "支払いはありません。", "沒有付款紀錄。")
            )
        }
    }
}
