import Entitlements
import LedgerAPI

/// The words of the history and of receipts.
enum HistoryWords {
    static let running = Sentence("Running now", "ご利用中", "使用中")
    static let charges = Sentence("All charges", "すべてのお支払い", "所有扣款")
    static let none = Sentence("There are no purchases yet.", "購入はまだありません。", "尚無購買記錄。")
    static let details = Sentence("Details", "詳細", "詳細資料")
    static let receipt = Sentence("Receipt to print", "印刷用の明細", "列印用收據")
    static let receiptTitle = Sentence("Receipt", "購入明細", "收據")
    static let receiptNote = Sentence(
        "As the store told us. The store's own invoice is the one that counts for taxes.",
        "ストアからの情報に基づきます。税務上はストア発行の領収書が正式なものです。",
        "依商店提供的資料。報稅請以商店開立的發票為準。"
    )
    static let product = Sentence("Product", "商品", "商品")
    static let state = Sentence("State", "状態", "狀態")
    static let amount = Sentence("Amount", "金額", "金額")
    static let bought = Sentence("Bought", "購入日時", "購買時間")
    static let until = Sentence("Until", "有効期限", "有效期限")
    static let store = Sentence("Store", "ストア", "商店")
    static let transaction = Sentence("Transaction", "取引ID", "交易編號")
    static let purchase = Sentence("Purchase", "購入ID", "購買編號")
    static let quantity = Sentence("Quantity", "数量", "數量")
    static let takenBack = Sentence("Taken back", "取り消し日時", "撤銷時間")
    static let givenBack = Sentence("Amount given back", "返金額", "退款金額")
    static let activeUntil = Sentence("Active until {date}", "{date}まで有効", "有效期限至 {date}")
    static let willNotRenew = Sentence("Will not renew", "自動更新オフ", "不會自動續訂")
    static let nextDate = Sentence(
        "Renews on {date}; the store shows the price.",
        "{date}に自動更新されます。価格はストアに表示されます。",
        "將於 {date} 自動續訂，價格以商店顯示為準。"
    )
    static let nextCharge = Sentence(
        "Next charge: {amount} on {date}",
        "次回のお支払い：{date}に{amount}",
        "下次扣款：{date}，{amount}"
    )
    static let whyRestore = Sentence(
        "Something is missing? The stores are asked again for what you bought.",
        "足りないものがありますか？ ご購入内容をストアにもう一度問い合わせます。",
        "有遺漏嗎？我們會再次向商店查詢您的購買項目。"
    )

    static func billing(_ hasDate: Bool) -> Sentence {
        hasDate
            ? Sentence(
                "Payment problem: update your payment method by {date}",
                "お支払いに問題があります。{date}までにお支払い方法を更新してください",
                "付款發生問題，請於 {date} 前更新付款方式"
            )
            : Sentence(
                "Payment problem: update your payment method",
                "お支払いに問題があります。お支払い方法を更新してください",
                "付款發生問題，請更新付款方式"
            )
    }

    /// What a charge is to who paid it, and the shape beside it.
    static func charge(_ period: PurchasePeriod) -> (name: Sentence, shape: String) {
        switch (period.status, period.offer, period.ownership) {
        case (.refunded, _, _), (.revoked, _, _), (.unverified, _, _), (.pending, _, _):
            OwnWords.status(period.status)
        case (_, _, "family_shared"):
            (Sentence("Family Sharing", "ファミリー共有", "家人共享"), "grant")
        case (_, "trial", _): (Sentence("Trial", "お試し", "試用"), "trial")
        default: (Sentence("Paid", "支払い済み", "已付款"), "ok")
        }
    }

    static func restored(_ outcome: HistoryPage.Restored) -> Sentence {
        switch outcome {
        case .found:
            Sentence(
                "Your purchases were restored.",
                "購入を復元しました。",
                "已恢復您的購買項目。"
            )
        case .known:
            Sentence(
                "Everything that you bought is here already.",
                "ご購入内容はすべて反映されています。",
                "您購買的項目都已在此。"
            )
        case .nothing:
            Sentence(
                "There is nothing to restore.",
                "復元できる購入はありません。",
                "沒有可恢復的購買項目。"
            )
        case .failed:
            Sentence(
                "A store did not answer. Nothing is lost: please try again.",
                "ストアから応答がありませんでした。データは失われていません。もう一度お試しください。",
                "商店沒有回應。資料並未遺失，請再試一次。"
            )
        case .unavailable:
            Sentence(
                "The stores cannot be asked from here. Please restore in the app.",
                "ここからはストアに問い合わせできません。アプリで復元してください。",
                "無法從此處向商店查詢，請在 App 中恢復購買。"
            )
        }
    }
}
