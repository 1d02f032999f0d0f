import Entitlements
import LedgerAPI

extension SimulatorPage {
    /// How something that was bought stands.
    package enum Standing: String, CaseIterable, Sendable {
        case renewing, ending, grace, retry, over, refunded, owned
    }

    /// What can happen to something that was bought.
    package enum Step: String, CaseIterable, Sendable {
        case renew, grace
        case failRenewal = "fail_renewal"
        case endGrace = "end_grace"
        case expire, cancel, resume, resubscribe, refund
        case reverseRefund = "reverse_refund"
    }
}

/// The words of the simulator's page.
enum SimulatorWords {
    static let clock = Sentence("The time", "時刻", "時間")
    static let now = Sentence("Now", "現在", "現在")
    static let ahead = Sentence("Turned ahead by", "進めた時間", "已快轉")
    static let turn = Sentence("Turn it ahead by", "時刻を進める", "快轉時間")
    static let dueHappens = Sentence(
        "What is due until then happens: subscriptions renew, or end.",
        "それまでに予定されている更新や終了が行われます。",
        "期間內到期的訂閱將會續訂或結束。"
    )
    static let purchases = Sentence("Purchases", "購入", "購買")
    static let product = Sentence("Product", "商品", "商品")
    static let standing = Sentence("State", "状態", "狀態")
    static let end = Sentence("Period ends", "期間の終了", "週期結束")
    static let noPurchases = Sentence(
        "Nobody bought anything.",
        "購入はありません。",
        "沒有購買紀錄。"
    )
    static let more = Sentence(
        "{count} more: search for their customer.",
        "ほかに{count}件あります。顧客で検索してください。",
        "另有 {count} 筆，請以客戶搜尋。"
    )
    static let step = Sentence("What happens", "起こすこと", "要發生的事")
    static let turnsClock = Sentence(
        "What waits for the end of a period turns the time to it.",
        "期間の終了を待つ操作では、時刻がそこまで進みます。",
        "需待週期結束者，時間會快轉至該時刻。"
    )
    static let buy = Sentence("Buy for a customer", "顧客として購入", "為客戶購買")
    static let told = Sentence("What the ledger was told", "台帳への通知", "已通知帳本的內容")
    static let sent = Sentence("Sent", "送信日時", "傳送時間")
    static let signal = Sentence("Signal", "シグナル", "訊號")
    static let nothingTold = Sentence(
        "Nothing was sent from here.",
        "ここから送信されたものはありません。",
        "尚未從此處傳送任何內容。"
    )
    private static let hours = Sentence("{count} h", "{count}時間", "{count} 小時")
    private static let days = Sentence("{count} d", "{count}日", "{count} 天")

    /// A span of time in whole days, or else in hours.
    static func span(_ milliseconds: Int64, _ language: Language) -> String {
        let (words, unit) =
            milliseconds >= Instant.millisecondsPerDay
            ? (days, Instant.millisecondsPerDay) : (hours, 3_600_000)
        return words.filled(language) { _ in String(milliseconds / unit) }
    }

    /// What the button of a form says.
    static func does(_ form: SimulatorPage.Form) -> Sentence {
        switch form {
        case .buy: Sentence("Buy", "購入", "購買")
        case .step: Sentence("Let it happen", "実行", "執行")
        case .clock: Sentence("Turn", "進める", "快轉")
        }
    }

    static func standing(_ standing: SimulatorPage.Standing) -> (Sentence, PageCell.Mark) {
        switch standing {
        case .renewing: (Sentence("Renews", "自動更新", "自動續訂"), .ok)
        case .ending: (Sentence("Will not renew", "自動更新オフ", "不會自動續訂"), .warn)
        case .grace: (Sentence("In grace", "猶予期間", "寬限期"), .warn)
        case .retry: (Sentence("Not paid", "請求再試行", "扣款重試中"), .bad)
        case .over: (Sentence("Ended", "終了", "已結束"), .off)
        case .refunded: (Sentence("Refunded", "返金済み", "已退款"), .off)
        case .owned: (Sentence("Owned", "所有", "已擁有"), .ok)
        }
    }

    static func step(_ step: SimulatorPage.Step) -> Sentence {
        switch step {
        case .renew: Sentence("It renews", "更新する", "續訂")
        case .grace:
            Sentence("It is not paid, with grace", "更新に失敗（猶予期間あり）", "扣款失敗（有寬限期）")
        case .failRenewal:
            Sentence("It is not paid, without grace", "更新に失敗（猶予期間なし）", "扣款失敗（無寬限期）")
        case .endGrace: Sentence("Its grace ends", "猶予期間が終わる", "寬限期結束")
        case .expire: Sentence("It ends", "期限が切れる", "到期")
        case .cancel: Sentence("Renewal is turned off", "自動更新をオフにする", "關閉自動續訂")
        case .resume: Sentence("Renewal is turned on", "自動更新をオンにする", "開啟自動續訂")
        case .resubscribe: Sentence("It is bought again", "再び購入する", "重新購買")
        case .refund: Sentence("Its price is given back", "返金する", "退款")
        case .reverseRefund: Sentence("The refund is taken back", "返金を取り消す", "撤銷退款")
        }
    }
}
