import Entitlements
package import LedgerAPI

/// Words of a customer's own pages.
package enum OwnWords {
    /// The title of the history.
    package static let history = Sentence("Purchases", "購入履歴", "購買記錄")
    /// The title of the account.
    package static let account = Sentence("Account", "アカウント", "帳號")
    /// Where nobody was let in.
    package static let notIn = Sentence(
        "This page is yours alone",
        "このページはご本人専用です",
        "此頁面僅限本人"
    )
    /// What to do then.
    package static let comeAgain = Sentence(
        "The link is over, or it was not whole. Open the page again from the app, or ask for a new link.",
        "リンクの有効期限が切れているか、リンクが不完全です。アプリからもう一度開くか、新しいリンクをご請求ください。",
        "連結已過期或不完整。請從 App 重新開啟，或索取新的連結。"
    )
    static let pages = Sentence("Your pages", "ページ", "您的頁面")
    static let restore = Sentence("Restore purchases", "購入を復元", "恢復購買")
    static let manage = Sentence("Manage subscription", "サブスクリプションを管理", "管理訂閱")
    static let requestRefund = Sentence("Request a refund", "返金をリクエスト", "申請退款")
    static let working = Sentence("Working…", "処理中…", "處理中…")
    static let close = Sentence("Close", "閉じる", "關閉")
    static let again = Sentence("Try again", "もう一度試す", "再試一次")
    static let print = Sentence("Print", "印刷", "列印")
    static let support = Sentence("Contact support", "サポートに問い合わせる", "聯絡客服")

    /// What a purchase is at an instant, and the shape that stands beside it.
    static func status(
        _ status: PurchaseStatus,
        offer: String? = nil
    ) -> (name: Sentence, shape: String) {
        switch status {
        case .active where offer == "trial": (Sentence("Free trial", "無料お試し中", "免費試用中"), "trial")
        case .active: (Sentence("Active", "有効", "有效"), "ok")
        case .grace: (Sentence("Payment problem", "お支払いに問題があります", "付款發生問題"), "warn")
        case .billingRetry:
            (Sentence("Payment failed", "お支払いができませんでした", "付款失敗"), "bad")
        case .pending: (Sentence("Pending", "保留中", "等待中"), "warn")
        case .paused: (Sentence("Paused", "一時停止中", "已暫停"), "off")
        case .refunded: (Sentence("Refunded", "返金済み", "已退款"), "bad")
        case .revoked: (Sentence("Taken back", "取り消し済み", "已撤銷"), "bad")
        case .expired: (Sentence("Ended", "終了", "已結束"), "off")
        case .unverified: (Sentence("Not confirmed", "未確認", "未確認"), "warn")
        case .none: (Sentence("Unknown", "不明", "未知"), "off")
        }
    }

    /// A store as people know it.
    static func store(_ purchase: String) -> String? {
        switch purchase.prefix(while: { $0 != "/" }) {
        case "app_store", "mac_app_store": "App Store"
        case "play_store": "Google Play"
        case "erased": nil
        case let other: String(other)
        }
    }
}
