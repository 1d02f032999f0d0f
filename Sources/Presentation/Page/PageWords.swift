package import LedgerAPI

/// Words of all pages, in each language.
enum PageWords {
    static let skip = Sentence("Skip to the content", "本文へ移動", "跳至內容")
    static let search = Sentence("Search", "検索", "搜尋")
    static let searchLabel = Sentence(
        "An exact id: customer, purchase, transaction or order",
        "正確なID（顧客、購入、取引、注文）",
        "完整識別碼：客戶、購買、交易或訂單"
    )
    static let searchHint = Sentence("Customer or purchase", "顧客または購入のID", "客戶或購買識別碼")
    static let signOut = Sentence("Sign out", "ログアウト", "登出")

    static func section(_ section: PageFrame.Section) -> Sentence {
        switch section {
        case .overview: Sentence("Overview", "概要", "總覽")
        case .customers: Sentence("Customers", "顧客", "客戶")
        case .events: Sentence("Events", "イベント", "事件")
        case .catalog: Sentence("Catalog", "カタログ", "目錄")
        case .deliveries: Sentence("Deliveries", "配信", "傳送")
        case .reports: Sentence("Reports", "レポート", "報表")
        case .health: Sentence("Health", "稼働状況", "運作狀況")
        case .audit: Sentence("Audit", "監査", "稽核")
        case .exports: Sentence("Exports", "エクスポート", "匯出")
        case .settings: Sentence("Settings", "設定", "設定")
        case .simulator: Sentence("Simulator", "シミュレーター", "模擬器")
        }
    }
}

extension PageFrame.Section {
    /// What it is called.
    package func name(in language: Language) -> String { PageWords.section(self)[language] }
}
