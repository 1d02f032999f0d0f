import LedgerAPI

/// The words of the customer's page.
enum CustomerWords {
    static let answer = Sentence("Answer", "回答", "答覆")
    static let nothing = Sentence(
        "There is no feature to explain: no catalog is in force.",
        "説明できる機能がありません。有効なカタログがありません。",
        "沒有可說明的功能：目前沒有生效的目錄。"
    )
    static let tier = Sentence("Tier:", "ティア：", "等級：")
    static let changed = Sentence("changed", "変更：", "變更於")
    static let also = Sentence("at the same time:", "同時に変更：", "同時變更：")
    static let explain = Sentence("Explain", "理由を見る", "查看原因")
    static let toldThen = Sentence(
        "Told then, known now",
        "当時の回答と現在の記録",
        "當時的回覆與現在所知"
    )
    static let forCustomer = Sentence(
        "Answer for the customer",
        "顧客への回答文",
        "給客戶的答覆"
    )
    static let copy = Sentence("Copy", "コピー", "複製")
    static let copied = Sentence("Copied", "コピーしました", "已複製")
    static let warnings = Sentence("Worth knowing", "注意点", "注意事項")
    static let features = Sentence("Features", "機能", "功能")
    static let feature = Sentence("Feature", "機能", "功能")
    static let noFeatures = Sentence(
        "The catalog in force lists none.",
        "有効なカタログに機能がありません。",
        "生效的目錄中沒有功能。"
    )
    static let standing = Sentence("State", "状態", "狀態")
    static let until = Sentence("Until", "期限", "期限")
    static let noEnd = Sentence("no end is known", "終わりは未定", "沒有已知的終止時間")
    static let limit = Sentence("Limit", "上限", "上限")
    static let sources = Sentence("By", "根拠", "來源")
    static let overTime = Sentence("Over time", "経過", "時間軸")
    static let timeline = Sentence("What happened", "できごと", "事件紀錄")
    static let noEvents = Sentence(
        "Nothing is recorded.",
        "記録はありません。",
        "沒有任何紀錄。"
    )
    static let more = Sentence(
        "{count} earlier ones are in the CSV below.",
        "これより前の{count}件は下のCSVにあります。",
        "更早的 {count} 筆在下方的 CSV 中。"
    )
    static let learned = Sentence("learned", "判明：", "得知於")
    static let hidden = Sentence("source hidden", "送信元は非表示", "來源不顯示")
    static let late = Sentence("arrived late", "遅れて到着", "延遲到達")
    static let purchases = Sentence("Purchases", "購入", "購買")
    static let grants = Sentence("Grants", "付与", "授予")
    static let trials = Sentence("Trials", "お試し", "試用")
    static let ids = Sentence("Ids", "ID", "識別碼")
    static let over = Sentence("over", "終了", "已結束")
    static let oneDayLeft = Sentence("1 day left", "残り1日", "剩餘 1 天")
    static let daysLeft = Sentence("{count} days left", "残り{count}日", "剩餘 {count} 天")
    static let renews = Sentence("renews", "自動更新", "會續訂")
    static let ends = Sentence("will not renew", "更新されません", "不會續訂")
    static let verified = Sentence("verified", "検証済み", "已驗證")
    static let asked = Sentence("store asked", "ストア照会：", "查詢商店於")
    static let actions = Sentence("Actions", "操作", "操作")
    static let done = Sentence(
        "Done and recorded: {what}.",
        "完了し、記録しました：{what}",
        "已完成並記錄：{what}。"
    )

    /// What is odd about an answer.
    static func warning(_ code: StateWarning.Code) -> Sentence {
        switch code {
        case .unmapped:
            Sentence(
                "A product gives access that the catalog does not know:",
                "カタログにない製品がアクセスを与えています：",
                "目錄中沒有此產品，卻提供存取權："
            )
        case .noCatalog:
            Sentence(
                "No catalog was ever published.",
                "カタログがまだ公開されていません。",
                "尚未發佈任何目錄。"
            )
        case .renewalExpected:
            Sentence(
                "A renewal is due of which the store has not told: ask the store again.",
                "更新されるはずですが、ストアから通知がありません。再照会してください：",
                "應已續訂，但商店尚未通知，請重新查詢商店："
            )
        case .unconfirmed:
            Sentence(
                "Claimed by old evidence, and the store was not asked since:",
                "古い証拠で申請され、その後ストアに照会していません：",
                "以舊證據認領，之後未再查詢商店："
            )
        case .neverSeen:
            Sentence(
                "Nothing was ever recorded of this customer: check the id and the environment.",
                "この顧客の記録はありません。IDと環境を確認してください。",
                "此客戶沒有任何紀錄，請確認識別碼與環境。"
            )
        case .eventsLost:
            Sentence(
                "Events were lost in a salvage: something may be missing here.",
                "復旧時に失われたイベントがあり、不足しているかもしれません。",
                "搶救時遺失了部分事件，這裡可能不完整。"
            )
        }
    }

    /// How much later something was learned.
    static func delay(_ milliseconds: Int64, _ language: Language) -> String {
        let minutes = milliseconds / 60_000
        let (count, words) =
            switch minutes {
            case ..<120: (minutes, Sentence("+{n} min", "{n}分後", "{n} 分鐘後"))
            case ..<2880: (minutes / 60, Sentence("+{n} h", "{n}時間後", "{n} 小時後"))
            default: (minutes / 1440, Sentence("+{n} days", "{n}日後", "{n} 天後"))
            }
        return words.filled(language) { _ in String(count) }
    }
}

/// The words of what moves a page in both times.
enum PointWords {
    static let title = Sentence("At and known", "時点と既知", "時點與所知")
    static let at = Sentence("At (UTC)", "時点（UTC）", "時點（UTC）")
    static let known = Sentence("As known at (UTC)", "既知の時点（UTC）", "以何時所知（UTC）")
    static let byDay = Sentence(", by day", "・日単位", "，按日")
    static let show = Sentence("Show", "表示", "顯示")
    static let viewing = Sentence("Viewing", "表示中：", "檢視：")
    static let asKnown = Sentence(", as known at", "、既知の時点：", "，以此時所知：")
    static let asKnownBy = Sentence(
        ", as known by the first {count} events",
        "（最初の{count}件のイベントまで）",
        "，僅以前 {count} 筆事件所知"
    )
    static let backToNow = Sentence("back to now", "現在に戻る", "回到現在")
    static let changeBefore = Sentence("← change before", "← 前の変化", "← 前一次變更")
    static let changeAfter = Sentence("change after →", "次の変化 →", "下一次變更 →")
    static let eventBefore = Sentence(
        "← as known one event earlier",
        "← 1件前までの既知",
        "← 少知道一筆事件"
    )
    static let eventAfter = Sentence(
        "as known one event later →",
        "1件後までの既知 →",
        "多知道一筆事件 →"
    )
}
