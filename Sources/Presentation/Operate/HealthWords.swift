import LedgerAPI

/// The words of the pages that tell how the ledger is.
enum HealthWords {
    static let allGood = Sentence(
        "Nothing is to be done.",
        "対応が必要な問題はありません。",
        "目前沒有需要處理的問題。"
    )
    static let oneNotGood = Sentence(
        "1 thing is to be looked at.",
        "確認が必要な項目が1件あります。",
        "有 1 項需要查看。"
    )
    static let notGood = Sentence(
        "{count} things are to be looked at.",
        "確認が必要な項目が{count}件あります。",
        "有 {count} 項需要查看。"
    )
    static let findings = Sentence("What is to be done", "要対応の項目", "待處理事項")
    static let severity = Sentence("How bad", "重大度", "嚴重程度")
    static let what = Sentence("What", "内容", "內容")
    static let place = Sentence("Where", "場所", "位置")
    static let remedy = Sentence("What to do", "対処", "處理方式")
    static let jobs = Sentence("What the server does by itself", "サーバーの定期処理", "伺服器的定期工作")
    static let job = Sentence("Job", "処理", "工作")
    static let lastRun = Sentence("Last run", "前回の実行", "上次執行")
    static let result = Sentence("Result", "結果", "結果")
    static let lastDone = Sentence("Last success", "前回の成功", "上次成功")
    static let nextRun = Sentence("Next run", "次回の実行", "下次執行")
    static let noJobs = Sentence("None runs.", "実行される処理はありません。", "沒有執行中的工作。")
    static let done = Sentence("done", "成功", "成功")
    static let failed = Sentence("failed", "失敗", "失敗")
    static let sources = Sentence("Sources", "送信元", "來源")
    static let source = Sentence("Source", "送信元", "來源")
    static let events = Sentence("Events", "イベント数", "事件數")
    static let lastEvent = Sentence("Last event", "最後のイベント", "最後事件")
    static let complete = Sentence("Complete through", "完全な期間（まで）", "資料完整至")
    static let lastRefused = Sentence("Last refused", "最後の拒否", "上次拒絕")
    static let gaps = Sentence("May lack something", "欠落の可能性", "可能缺漏")
    static let noSources = Sentence("Nothing came yet.", "まだ何も届いていません。", "尚未收到任何資料。")
    static let storage = Sentence("Storage", "保存領域", "儲存空間")
    static let log = Sentence("Log", "台帳", "帳本")
    static let vault = Sentence("Vault", "保管庫", "保管庫")
    static let identifiers = Sentence(
        "of it, ids for the search",
        "うち検索用のID",
        "其中搜尋用識別碼"
    )
    static let views = Sentence("Views", "ビュー", "檢視")
    static let free = Sentence("Free", "空き容量", "可用空間")
    static let viewsReach = Sentence("Views hold", "ビューの範囲", "檢視涵蓋")
    static let signed = Sentence("Signed", "署名済み", "已簽署")
    static let version = Sentence("Version", "バージョン", "版本")
    static let errors = Sentence("Errors by code", "コード別エラー", "依代碼分類的錯誤")
    static let stages = Sentence("How long stages take", "各段階の所要時間", "各階段所需時間")
    static let more = Sentence("All of it", "すべて表示", "顯示全部")
    static let noErrors = Sentence("No error was told.", "エラーの報告はありません。", "沒有錯誤回報。")
    static let noStages = Sentence("No stage was told.", "計測された段階はありません。", "沒有階段資料。")
    static let code = Sentence("Code", "コード", "代碼")
    static let origin = Sentence("Who met it", "発生元", "發生來源")
    static let count = Sentence("Count", "件数", "次數")
    static let recent = Sentence("Lately", "直近", "近期")
    static let stage = Sentence("Stage", "段階", "階段")
    static let slow = Sentence("slow", "遅い", "緩慢")
    static let often = Sentence("far more than usual", "通常より大幅に多い", "遠多於平常")

    static func area(_ area: HealthArea) -> Sentence {
        switch area {
        case .readiness: Sentence("Ledger", "台帳", "帳本")
        case .stores: Sentence("Stores", "ストア", "商店")
        case .audits: Sentence("Audits", "監査", "稽核")
        case .drift: Sentence("Views", "ビュー", "檢視")
        case .deliveries: Sentence("Deliveries", "配信", "傳送")
        case .disk: Sentence("Disk", "ディスク", "磁碟")
        case .jobs: Sentence("Jobs", "定期処理", "定期工作")
        case .copies: Sentence("Copies and signatures", "バックアップと署名", "備份與簽署")
        }
    }

    static func severity(_ severity: Finding.Severity) -> Sentence {
        switch severity {
        case .error: Sentence("error", "エラー", "錯誤")
        case .warning: Sentence("warning", "警告", "警告")
        case .note: Sentence("note", "参考", "備註")
        }
    }
}

/// A part of a ledger's health, with a chip of its own.
package enum HealthArea: String, Sendable, CaseIterable {
    case readiness, stores, audits, drift, deliveries, disk, jobs, copies

    /// The area of a finding; what belongs to none concerns the ledger as a whole.
    init(_ code: Finding.Code) {
        switch code {
        case .storeSilent, .neverAsked, .cannotBeAsked, .signalsRefused, .renewalsMissing,
            .unacknowledged:
            self = .stores
        case .auditFaults: self = .audits
        case .deliveriesDead, .deliveriesWaiting, .webhookGone: self = .deliveries
        case .diskLow, .diskFilling: self = .disk
        case .jobFailed, .jobLate: self = .jobs
        case .checkpointOld, .backupMissing, .backupOld, .archiveBehind: self = .copies
        default: self = .readiness
        }
    }
}
