package import Entitlements
package import LedgerAPI

/// What is open to a customer, what they are known by, and what they may ask of us.
package struct AccountPage: Sendable {
    /// How things are written.
    package var text: SoldText
    /// Whose account it is.
    package var customer: CustomerID
    /// What the customer has now.
    package var state: StateContent
    /// What a form sends back; nil: no session made the page, and there are no forms.
    package var formToken: String?
    /// Where the customer's other pages are.
    package var frame: PageFrame.Own
    /// Whether erasure was asked for a moment ago.
    package var hasAskedForErasure: Bool

    /// Names what the page shows.
    package init(
        text: SoldText,
        customer: CustomerID,
        state: StateContent,
        formToken: String?,
        frame: PageFrame.Own,
        hasAskedForErasure: Bool
    ) {
        self.text = text
        self.customer = customer
        self.state = state
        self.formToken = formToken
        self.frame = frame
        self.hasAskedForErasure = hasAskedForErasure
    }

    private var language: Language { text.language }

    /// Writes what stands under the title.
    package func write(to page: inout XMLText) {
        if hasAskedForErasure {
            page.element("p", ["class": "card answer ok", "role": "status"]) {
                $0.write(AccountWords.erasureNoted[language])
            }
        }
        OpenAccess(text: text, state: state).write(to: &page)
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(AccountWords.open[language]) }
            page.element("ul", ["class": "listed features"]) { page in
                for feature in state.features {
                    page.element("li") { writeFeature(feature, to: &$0) }
                }
            }
        }
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(AccountWords.ids[language]) }
            page.element("dl", ["class": "pairs"]) { page in
                page.element("dt") { $0.write(AccountWords.id[language]) }
                page.element("dd") { $0.write(customer.text) }
                for purchase in state.purchases {
                    page.element("dt") {
                        $0.write(text.name(purchase.productID, of: purchase.purchase))
                    }
                    page.element("dd") { $0.write(purchase.purchase) }
                }
            }
        }
        writeData(to: &page)
        if let formToken { writeForms(formToken, to: &page) }
    }

    private func writeFeature(_ feature: Keyed<FeatureAccess>, to page: inout XMLText) {
        let access = feature.value
        page.element("span", ["class": access.isAllowed ? "chip ok" : "chip off"]) {
            $0.write((access.isAllowed ? AccountWords.isOpen : AccountWords.isClosed)[language])
        }
        page.write(" " + feature.name)
        if access.isAllowed, let until = access.until {
            page.element("span", ["class": "quiet"]) { page in
                let date = text.instants.day(until)
                page.write(" ")
                page.write(HistoryWords.activeUntil.filled(language) { _ in date })
            }
        }
        if !access.isAllowed {
            page.write(" ")
            // A closed feature leads to what opens it (row 4.4).
            page.element("a", ["href": frame.path("/paywall", naming: feature.name)]) { page in
                page.write(AccountWords.offers[language])
                page.element("span", ["class": "hidden"]) { $0.write(" " + feature.name) }
            }
        }
    }

    private func writeData(to page: inout XMLText) {
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(AccountWords.data[language]) }
            page.element("p") { $0.write(AccountWords.aboutData[language]) }
            page.element("p", ["class": "inline"]) { page in
                let forms = [
                    ("/account/export", AccountWords.asPage),
                    ("/account/export.ndjson", AccountWords.asLines),
                    ("/account/export.csv", AccountWords.asTable),
                ]
                for (path, name) in forms {
                    page.element("a", ["class": "button", "href": frame.path(path)]) {
                        $0.write(name[language])
                    }
                }
            }
        }
    }

    private func writeForms(_ token: String, to page: inout XMLText) {
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(AccountWords.erasure[language]) }
            page.element("p") { $0.write(AccountWords.aboutErasure[language]) }
            page.element(
                "form",
                [
                    "class": "stack", "method": "post",
                    "action": frame.path("/account/erasure"),
                ]
            ) { page in
                page.formToken(token)
                page.element("label", ["class": "check"]) { page in
                    page.element(
                        "input",
                        [
                            "type": "checkbox", "name": "confirm", "value": "yes",
                            "required": "required",
                        ]
                    )
                    page.write(" " + AccountWords.confirmErasure[language])
                }
                page.element("p") { page in
                    page.element("button", ["class": "danger"]) {
                        $0.write(AccountWords.askForErasure[language])
                    }
                }
            }
        }
        page.element("form", ["method": "post", "action": frame.path("/account/logout")]) { page in
            page.formToken(token)
            page.element("button") { $0.write(PageWords.signOut[language]) }
        }
    }
}

/// The words of the account.
package enum AccountWords {
    static let id = Sentence("Your id", "お客様ID", "您的識別碼")
    static let ids = Sentence("What we know you by", "識別情報", "識別資料")
    static let open = Sentence("What is open", "ご利用いただける機能", "可使用的功能")
    static let isOpen = Sentence("Open", "利用可", "可使用")
    static let isClosed = Sentence("Closed", "利用不可", "未開通")
    static let offers = Sentence("See the offers", "プランを見る", "查看方案")
    static let data = Sentence("Your data", "お客様のデータ", "您的資料")
    static let aboutData = Sentence(
        "Everything that is recorded of you, with what proves it. What names you is hidden, so that the file can be passed on.",
        "お客様について記録されたすべての内容と、その証明です。ファイルを第三者に渡せるよう、お名前に関わる情報は伏せてあります。",
        "關於您的所有記錄及其證明。可識別您身分的內容已隱藏，方便您轉交檔案。"
    )
    static let asPage = Sentence("A page to print", "印刷用ページ", "列印用頁面")
    static let asLines = Sentence("Download (NDJSON)", "ダウンロード（NDJSON）", "下載（NDJSON）")
    static let asTable = Sentence("Download (CSV)", "ダウンロード（CSV）", "下載（CSV）")
    static let erasure = Sentence("Erase my data", "データの消去", "刪除我的資料")
    static let aboutErasure = Sentence(
        "Support is asked to erase what names you. Subscriptions are not cancelled by it: cancel them in the store first.",
        "お客様を特定する情報の消去をサポートに依頼します。サブスクリプションは解約されません。先にストアで解約してください。",
        "我們會請客服刪除可識別您的資料。這不會取消訂閱，請先在商店取消。"
    )
    static let confirmErasure = Sentence(
        "I want my data to be erased. It cannot be undone.",
        "データの消去を希望します。元に戻すことはできません。",
        "我要刪除我的資料，且了解此動作無法復原。"
    )
    static let askForErasure = Sentence("Ask for erasure", "消去を依頼", "申請刪除")
    static let erasureNoted = Sentence(
        "We have noted that your data is to be erased.",
        "データ消去のご依頼を受け付けました。",
        "已收到您的資料刪除申請。"
    )
    /// Where somebody signed out.
    package static let signedOut = Sentence(
        "You are signed out.",
        "ログアウトしました。",
        "您已登出。"
    )
}
