import LedgerAPI

/// The words of the pages of the catalog.
enum CatalogWords {
    static let gates = Sentence("Gates", "ゲート", "閘門")
    static let feature = Sentence("Feature", "機能", "功能")
    static let level = Sentence("Opens from tier", "必要なティア", "所需層級")
    static let products = Sentence("Sold by", "含まれる製品", "包含於產品")
    static let versions = Sentence("Versions", "バージョン", "版本")
    static let effective = Sentence("In force from", "適用開始", "生效時間")
    static let state = Sentence("State", "状態", "狀態")
    static let inForce = Sentence("in force", "適用中", "生效中")
    static let document = Sentence("Document", "文書", "文件")
    static let difference = Sentence("What differs", "差分", "差異")
    static let from = Sentence("Before", "比較元", "比較前")
    static let to = Sentence("After", "比較先", "比較後")
    static let compare = Sentence("Compare", "比較", "比較")
    static let noCatalog = Sentence(
        "No catalog was published yet.",
        "カタログはまだ公開されていません。",
        "尚未發布任何目錄。"
    )
    static let another = Sentence("Another catalog", "新しいカタログ", "新的目錄")
    static let edit = Sentence("Change it", "編集", "修改")
    static let file = Sentence("From a file", "ファイルから", "從檔案")
    static let check = Sentence(
        "Check, and see whom it affects",
        "検証して影響を確認",
        "檢查並查看影響"
    )
    static let valid = Sentence("The catalog is valid.", "カタログは有効です。", "目錄有效。")
    static let invalid = Sentence(
        "The catalog has faults and is not published.",
        "カタログに誤りがあるため、公開できません。",
        "目錄有錯誤，無法發布。"
    )
    static let faults = Sentence("Faults and doubts", "誤りと注意点", "錯誤與疑慮")
    static let code = Sentence("Code", "コード", "代碼")
    static let affected = Sentence("Whom it affects", "影響を受ける顧客", "受影響的客戶")
    static let customers = Sentence("Customers", "顧客", "客戶")
    static let gaining = Sentence("Gain", "増える", "獲得")
    static let losing = Sentence("Lose", "失う", "失去")
    static let features = Sentence("By feature", "機能別", "依功能")
    static let nobody = Sentence(
        "Nobody gains or loses anything.",
        "影響を受ける顧客はいません。",
        "沒有客戶受影響。"
    )
    static let gains = Sentence("Who gains", "機能が増える顧客", "獲得功能的客戶")
    static let losses = Sentence("Who loses", "機能を失う顧客", "失去功能的客戶")
    static let reason = Sentence("Why", "理由", "原因")
    static let publish = Sentence("Publish", "公開", "發布")
    static let publishes = Sentence(
        "It is recorded for good, and holds from then on.",
        "公開すると記録に残り、その時点から適用されます。",
        "發布後將永久記錄，並自該時起生效。"
    )
}
