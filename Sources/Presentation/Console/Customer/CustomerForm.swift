package import LedgerAPI

/// What support may ask for on a customer's page, as the path of its form names it.
package enum CustomerForm: String, CaseIterable, Sendable {
    case grant, withdraw, link, transfer, release, sync, verify, erase

    /// What it is called.
    package func title(in language: Language) -> String { words.title[language] }

    /// What it does, in a sentence.
    package func meaning(in language: Language) -> String { words.meaning[language] }

    /// Whether what it does cannot be taken back.
    package var isFinal: Bool { self == .erase }

    private var words: (title: Sentence, meaning: Sentence) {
        switch self {
        case .grant:
            (
                Sentence("Grant access", "アクセスを付与", "授予存取權"),
                Sentence(
                    "Gives a tier or features by hand, until a day or for good.",
                    "ティアまたは機能を手動で付与します。期限を付けることもできます。",
                    "手動授予等級或功能，可設定期限或不設期限。"
                )
            )
        case .withdraw:
            (
                Sentence("Withdraw a grant", "付与を取り消す", "收回授予"),
                Sentence("Ends a grant now.", "付与を今すぐ終了します。", "立即結束一項授予。")
            )
        case .link:
            (
                Sentence("Link an id", "IDを関連付ける", "連結識別碼"),
                Sentence(
                    "Makes another id a name of this customer. It cannot be undone.",
                    "別のIDをこの顧客の名前にします。元に戻せません。",
                    "讓另一個識別碼成為此客戶的名稱，無法復原。"
                )
            )
        case .transfer:
            (
                Sentence("Transfer a purchase", "購入を移転する", "轉移購買"),
                Sentence(
                    "Makes another customer the owner of a purchase.",
                    "購入の所有者を別の顧客にします。",
                    "將購買的擁有者改為另一位客戶。"
                )
            )
        case .release:
            (
                Sentence("Release a purchase", "購入を解放する", "釋出購買"),
                Sentence(
                    "Takes a purchase from its owner, so that nobody owns it.",
                    "購入を所有者から外し、所有者のない状態にします。",
                    "使購買不再屬於任何人。"
                )
            )
        case .sync:
            (
                Sentence("Ask the store again", "ストアに再照会する", "重新查詢商店"),
                Sentence(
                    "Asks the stores what the customer owns, and records what is missing.",
                    "顧客の所有状況をストアに照会し、不足分を記録します。",
                    "向商店查詢客戶擁有的項目，並記錄缺少的部分。"
                )
            )
        case .verify:
            (
                Sentence("Verify again", "再検証する", "重新驗證"),
                Sentence(
                    "Holds the recorded evidence against today's certificates.",
                    "記録済みの証拠を現在の証明書で検証します。",
                    "以目前的憑證檢驗已記錄的證據。"
                )
            )
        case .erase:
            (
                Sentence("Erase the customer", "顧客を消去する", "抹除客戶"),
                Sentence(
                    "Destroys names and keys in every environment. It cannot be undone.",
                    "すべての環境で名前と鍵を破棄します。元に戻せません。",
                    "在所有環境中銷毀名稱與金鑰，無法復原。"
                )
            )
        }
    }
}
