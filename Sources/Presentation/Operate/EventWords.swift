package import LedgerAPI

/// The words of the pages of events.
enum EventWords {
    static let choose = Sentence("Choose", "絞り込み", "篩選")
    static let events = Sentence("Events", "イベント", "事件")
    static let any = Sentence("any", "すべて", "全部")
    static let type = Sentence("Type", "種類", "類型")
    static let customer = Sentence("Customer", "顧客", "客戶")
    static let purchase = Sentence("Purchase", "購入", "購買")
    static let source = Sentence("Source", "送信元", "來源")
    static let environment = Sentence("Environment", "環境", "環境")
    static let from = Sentence("Held from", "発生日時（以降）", "發生時間（起）")
    static let to = Sentence("Held before", "発生日時（より前）", "發生時間（迄）")
    static let show = Sentence("Show", "表示", "顯示")
    static let older = Sentence("Older", "以前", "較舊")
    static let newer = Sentence("Newer", "以降", "較新")
    static let previous = Sentence("Event before", "前のイベント", "上一個事件")
    static let next = Sentence("Event after", "次のイベント", "下一個事件")
    static let none = Sentence(
        "No event fits what was chosen.",
        "条件に合うイベントはありません。",
        "沒有符合條件的事件。"
    )
    static let needsCustomer = Sentence(
        "Your key shows the events of a customer whom you name.",
        "このキーでは、指定した顧客のイベントのみ表示できます。",
        "此金鑰僅能顯示您所指定客戶的事件。"
    )
    static let sequence = Sentence("Number", "番号", "編號")
    static let recorded = Sentence("Recorded", "記録日時", "記錄時間")
    static let effective = Sentence("Held from", "発生日時", "發生時間")
    static let event = Sentence("Event", "イベント", "事件")
    static let what = Sentence("What it says", "内容", "內容")
    static let subject = Sentence("About", "対象", "對象")
    static let id = Sentence("Id", "ID", "識別碼")
    static let delay = Sentence("Lateness", "遅延", "延遲")
    static let late = Sentence(
        "It was learned well after it held.",
        "発生からかなり後に記録されました。",
        "發生許久之後才得知。"
    )
    static let pause = Sentence("Pause new events", "新着を一時停止", "暫停新事件")
    static let paused = Sentence("Paused", "一時停止中", "已暫停")
    static let live = Sentence("New events are shown", "新着を表示中", "正在顯示新事件")
    static let evidence = Sentence("Evidence", "証拠", "證據")
    static let hasEvidence = Sentence(
        "What the store signed or sent is kept with it, sealed.",
        "ストアが署名または送信した内容が、暗号化されて保存されています。",
        "商店簽署或傳送的內容已加密保存。"
    )
    static let noEvidence = Sentence(
        "Nothing that a store signed is kept with it.",
        "ストアの署名付きデータは保存されていません。",
        "未保存任何商店簽署的資料。"
    )
    static let proof = Sentence("Place in the log", "台帳内の位置", "在帳本中的位置")
    static let proven = Sentence(
        "A signed checkpoint holds it; the proof below leads to its root.",
        "署名済みチェックポイントに含まれています。下の証明はそのルートに至ります。",
        "已包含於簽署的檢查點中；以下證明可推導至其根雜湊。"
    )
    static let noProof = Sentence(
        "No signed checkpoint holds it yet.",
        "まだ署名済みチェックポイントに含まれていません。",
        "尚未包含於任何已簽署的檢查點。"
    )
    static let treeSize = Sentence("Events signed", "署名済みイベント数", "已簽署事件數")
    static let root = Sentence("Root hash", "ルートハッシュ", "根雜湊")
    static let copy = Sentence("Copy", "コピー", "複製")
    static let copied = Sentence("Copied", "コピーしました", "已複製")
}

/// The titles of the pages of events.
extension EventListPage {
    /// The title of the list.
    package static func title(in language: Language) -> String { EventWords.events[language] }
}

extension EventPage {
    /// The title of an event's page.
    package var title: String { "\(told.event.title(in: language)) · \(told.event.sequence)" }
}
