package import LedgerAPI

/// How a customer is found by an exact id, and what was tried where none is.
package struct SearchPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// What was searched for; nil: nothing yet.
    package var text: String?
    /// What it names.
    package var hits: [Hit]
    /// What the form carries along: names and values.
    package var carried: [(name: String, value: String)] = []
    /// The environment that was searched.
    package var environment: String
    /// Events whose transactions are not searched yet.
    package var unread: UInt64 = 0
    /// Where messages that stores sent are looked at; nil: nowhere.
    package var deliveries: String?

    /// Something that the text names.
    package struct Hit: Sendable {
        /// What kind of id it is.
        package var kind: Kind
        /// The id, whole.
        package var id: String
        /// The customer whom it leads to, and where their page stands; nil: nobody.
        package var customer: (id: String, path: String)?

        /// What an id may be.
        package enum Kind: String, Sendable { case customer, purchase, transaction }

        /// Names a hit.
        package init(kind: Kind, id: String, customer: (id: String, path: String)?) {
            self.kind = kind
            self.id = id
            self.customer = customer
        }
    }

    /// Names what the page shows.
    package init(language: Language, text: String?, hits: [Hit], environment: String) {
        self.language = language
        self.text = text
        self.hits = hits
        self.environment = environment
    }

    /// Writes what stands under the title.
    package func write(to page: inout XMLText) {
        page.element("form", ["class": "card stack", "action": "/console/customers"]) { page in
            page.element("div") { page in
                page.element("label", ["for": "find"]) { $0.write(PageWords.searchLabel[language]) }
                page.element(
                    "input",
                    [
                        "id": "find", "name": "q", "value": text ?? "", "autocomplete": "off",
                        "spellcheck": "false", "class": "long",
                    ]
                )
            }
            for (name, value) in carried {
                page.element("input", ["type": "hidden", "name": name, "value": value])
            }
            page.element("p", ["class": "quiet"]) { $0.write(SearchWords.what[language]) }
            page.element("button", ["class": "primary"]) { $0.write(PageWords.search[language]) }
        }
        guard text != nil else { return }
        if unread > 0 {
            page.element("p", ["class": "card answer warn", "role": "status"]) { page in
                page.write(SearchWords.unread.filled(language) { _ in String(unread) })
            }
        }
        if hits.isEmpty { writeNothing(to: &page) } else { writeHits(to: &page) }
    }

    private func writeHits(to page: inout XMLText) {
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(SearchWords.hits[language]) }
            page.element("ul", ["class": "plain"]) { page in
                for hit in hits {
                    page.element("li") { page in
                        if let customer = hit.customer {
                            page.element("a", ["href": customer.path]) { $0.write(customer.id) }
                        } else {
                            page.write(SearchWords.nobody[language])
                        }
                        page.write(" · ")
                        page.element("span", ["class": "quiet"]) { page in
                            page.write(SearchWords.matched(hit.kind)[language] + " ")
                            page.element("code") { $0.write(hit.id) }
                        }
                    }
                }
            }
        }
    }

    private func writeNothing(to page: inout XMLText) {
        page.element("section", ["class": "card answer warn", "role": "status"]) { page in
            page.element("h2") { $0.write(SearchWords.nothing[language]) }
            page.element("p") { page in
                page.write(SearchWords.tried.filled(language) { _ in environment })
            }
            page.element("ul") { page in
                page.element("li") { $0.write(SearchWords.checkEnvironment[language]) }
                page.element("li") { $0.write(SearchWords.askToRestore[language]) }
                page.element("li") { page in
                    if let deliveries {
                        page.element("a", ["href": deliveries]) {
                            $0.write(SearchWords.checkDeliveries[language])
                        }
                    } else {
                        page.write(SearchWords.checkDeliveries[language])
                    }
                }
                page.element("li") { $0.write(SearchWords.importHistory[language]) }
            }
        }
    }
}

/// The words of the search.
package enum SearchWords {
    static let what = Sentence(
        "Whole ids alone: a customer's, a purchase's, as STORE/ORIGINAL_ID or its original id alone, a "
            + "transaction's, or a Google order's (GPA.…). Names are kept sealed, so that no beginning of "
            + "one finds anything. The order number of an Apple receipt is not in what Apple signs: ask "
            + "Apple for its transactions.",
        "IDは完全な形で入力してください。顧客ID、購入（STORE/ORIGINAL_ID、元のIDのみでも可）、取引ID、"
            + "またはGoogleの注文ID（GPA.…）。名前は暗号化されているため、前方一致では見つかりません。"
            + "Appleの領収書の注文番号は署名データに含まれません。取引IDをAppleに照会してください。",
        "請輸入完整識別碼：客戶識別碼、購買（STORE/ORIGINAL_ID，或僅原始識別碼）、交易識別碼，"
            + "或 Google 訂單編號（GPA.…）。名稱皆加密保存，無法以開頭字元搜尋。"
            + "Apple 收據的訂單編號不在其簽署的資料中，請向 Apple 查詢交易識別碼。"
    )
    static let unread = Sentence(
        "Ids of transactions in {count} older events are still being read: search again in a while.",
        "古いイベント{count}件の取引IDを読み込み中です。しばらくしてから再検索してください。",
        "仍在讀取 {count} 筆較舊事件的交易識別碼，請稍後再搜尋。"
    )
    static let hits = Sentence("Found", "見つかったもの", "搜尋結果")
    static let nobody = Sentence("nobody owns it now", "現在の所有者なし", "目前沒有擁有者")
    static let nothing = Sentence("Nothing found", "見つかりません", "找不到結果")
    static let tried = Sentence(
        "Tried in {environment}: a customer of this id, a purchase of this name, an original id of this "
            + "text in every store, and a transaction or order of this id.",
        "{environment}で、このIDの顧客、この名前の購入、全ストアの元のID、このIDの取引・注文を確認しました。",
        "已在 {environment} 嘗試：此識別碼的客戶、此名稱的購買、所有商店中的原始識別碼，以及此識別碼的交易或訂單。"
    )
    static let checkEnvironment = Sentence(
        "Another environment? Purchases of testers are in sandbox.",
        "別の環境ではありませんか。テスト購入はsandboxにあります。",
        "是否為其他環境？測試人員的購買在 sandbox。"
    )
    static let askToRestore = Sentence(
        "Ask the customer to restore purchases in the app: that hands in what the device knows.",
        "アプリで購入の復元をしてもらうと、端末の情報が送られます。",
        "請客戶在應用程式中恢復購買，裝置上的資料便會送達。"
    )
    static let checkDeliveries = Sentence(
        "Not received yet? Look at what the stores sent.",
        "未受信かもしれません。ストアからの通知を確認してください。",
        "可能尚未收到，請查看商店送來的訊息。"
    )
    static let importHistory = Sentence(
        "Bought before the ledger was there? Import the history with `entitle import`.",
        "導入前の購入であれば、`entitle import`で履歴を取り込んでください。",
        "若購買早於啟用帳本，請以 `entitle import` 匯入歷史紀錄。"
    )

    static func matched(_ kind: SearchPage.Hit.Kind) -> Sentence {
        switch kind {
        case .customer: Sentence("matched: customer id", "一致：顧客ID", "符合：客戶識別碼")
        case .purchase: Sentence("matched: purchase", "一致：購入", "符合：購買")
        case .transaction:
            Sentence(
                "matched: a transaction or order of",
                "一致：次の購入の取引・注文",
                "符合：此購買的交易或訂單"
            )
        }
    }
}
