import LedgerAPI

/// What a customer asked for on their account's page, or by their app (row 9.5).
extension CustomerPage {
    /// Says that the customer asks to be erased, since when, and what does it.
    ///
    /// Whoever was erased has no page: a request that stands was not answered.
    func writeErasureRequest(to page: inout XMLText) {
        let requests = timeline.events.filter(\.isErasureRequest)
        guard let first = requests.min(by: { $0.time < $1.time }) else { return }
        page.element("section", ["class": "card answer warn", "id": "erasure-request"]) { page in
            page.element("h2") { $0.write(ErasureRequestWords.title[language]) }
            page.element("p") { page in
                page.write(ErasureRequestWords.since[language] + " ")
                page.element("a", ["href": link(.event(first.sequence), point)]) {
                    $0.time(first.time, language)
                }
            }
            page.element("p") { page in
                page.write(ErasureRequestWords.what[language] + " ")
                if forms.contains(.erase), point.isNow {
                    page.element("a", ["href": link(.form(.erase), point)]) {
                        $0.write(CustomerForm.erase.title(in: language))
                    }
                } else {
                    page.write(ErasureRequestWords.whoMay[language])
                }
            }
            if let eraseCommand {
                page.element("pre", ["id": "erase-command", "tabindex": "0"]) {
                    $0.write(eraseCommand)
                }
                page.copier("erase-command", language)
            }
        }
    }
}

/// The words of the notice.
private enum ErasureRequestWords {
    static let title = Sentence(
        "The customer asks to be erased",
        "顧客が消去を求めています",
        "客戶要求清除資料"
    )
    static let since = Sentence("Asked for on", "依頼日時：", "要求時間：")
    static let what = Sentence(
        "Nothing was erased yet: it cannot be taken back, and whoever runs the ledger does it.",
        "まだ消去されていません。消去は元に戻せないため、台帳の運用者が行います。",
        "尚未清除。清除無法復原，須由帳本的管理者執行。"
    )
    static let whoMay = Sentence(
        "Whoever may erase does so on this page, or by the command.",
        "消去の権限を持つ人が、このページまたは次のコマンドで行います。",
        "有清除權限者可於此頁面或以下列指令執行。"
    )
}
