import Encodings
package import LedgerAPI

/// A form by which support has something recorded: filled in, then shown with what it would change, then
/// sent for good.
package struct CustomerFormPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// What is asked for.
    package var form: CustomerForm
    /// Where the form is sent.
    package var action: String
    /// Where the customer's page stands.
    package var back: String
    /// What the form sends back to show that a page of ours made it; nil: nobody is signed in.
    package var token: String?
    /// Its fields, in their order, as they were filled in.
    package var fields: [FormField]
    /// What names the request: sent twice, it counts once (E1).
    package var requestID: String
    /// What would differ, of a form that was filled in; nil: it was not, or nothing says beforehand.
    package var preview: DifferenceAnswer?
    /// Whether it was filled in, and is to be sent for good.
    package var isFilled = false
    /// Why it was refused; nil: it was not.
    package var fault: String?

    /// Names what the page shows.
    package init(
        language: Language,
        form: CustomerForm,
        action: String,
        back: String,
        token: String?,
        fields: [FormField],
        requestID: String
    ) {
        self.language = language
        self.form = form
        self.action = action
        self.back = back
        self.token = token
        self.fields = fields
        self.requestID = requestID
    }

    /// The name of the field that names the request.
    package static let requestName = "request"
    /// The name of the field that sends it for good.
    package static let confirmedName = "confirmed"

    /// Writes what stands under the title.
    package func write(to page: inout XMLText) {
        page.element("p") { page in
            page.element("a", ["href": back]) {
                $0.write("← " + ExplanationWords.toCustomer[language])
            }
        }
        if let fault {
            page.element("p", ["class": "card answer bad", "role": "alert"]) { $0.write(fault) }
        }
        if isFilled { writePreview(to: &page) }
        page.element("form", ["class": "card stack", "method": "post", "action": action]) { page in
            page.element("p") { $0.write(form.meaning(in: language)) }
            hidden(Self.requestName, requestID, to: &page)
            if let token { page.formToken(token) }
            if isFilled {
                for field in fields { hidden(field.name.rawValue, field.value, to: &page) }
                hidden(Self.confirmedName, "yes", to: &page)
                page.element("dl", ["class": "pairs"]) { page in
                    for field in fields where !field.value.isEmpty {
                        page.element("dt") { $0.write(field.label[language]) }
                        page.element("dd") { $0.write(field.value) }
                    }
                }
            } else {
                for field in fields { field.write(to: &page, language) }
            }
            writeButton(to: &page)
        }
    }

    private func writeButton(to page: inout XMLText) {
        page.element("p") { page in
            let isFinal = isFilled && form.isFinal
            page.element("button", ["class": isFinal ? "danger" : "primary"]) { page in
                page.write(
                    isFilled
                        ? FormWords.confirm.filled(language) { _ in form.title(in: language) }
                        : FormWords.preview[language]
                )
            }
        }
    }

    private func writePreview(to page: inout XMLText) {
        page.element("section", ["class": "card answer warn", "role": "status"]) { page in
            page.element("h2") { $0.write(FormWords.wouldChange[language]) }
            guard let preview else {
                page.element("p") { $0.write(FormWords.notForetold[language]) }
                return
            }
            let rows = DifferenceRows(preview.difference, language).rows
            if rows.isEmpty {
                page.element("p") { $0.write(FormWords.nothing[language]) }
                return
            }
            page.element("ul") { page in
                for row in rows {
                    page.element("li") { page in
                        page.write(row.mark + " " + row.kind[language] + " ")
                        page.element("code") { $0.write(row.name) }
                        page.write(": " + row.before + " → " + row.after)
                    }
                }
            }
        }
    }

    private func hidden(_ name: String, _ value: String, to page: inout XMLText) {
        page.element("input", ["type": "hidden", "name": name, "value": value])
    }
}

/// A field of a form.
package struct FormField: Sendable {
    /// Its name.
    package var name: Name
    /// What was filled in.
    package var value = ""
    /// What may be chosen; nil: it is written.
    package var choices: [String]?

    /// The fields that forms have.
    package enum Name: String, Sendable, CaseIterable {
        case tier, features, expiresAt, grantID = "grantId", alias, purchase, to, typed, reason
    }

    /// Makes a field that was not filled in yet.
    package init(_ name: Name, choices: [String]? = nil) {
        self.name = name
        self.choices = choices
    }

    fileprivate var label: Sentence { FormWords.label(name) }

    fileprivate func write(to page: inout XMLText, _ language: Language) {
        page.element("div") { page in
            page.element("label", ["for": name.rawValue]) { $0.write(label[language]) }
            if let choices {
                page.element("select", ["id": name.rawValue, "name": name.rawValue]) { page in
                    for choice in choices {
                        page.option(choice, choice, isChosen: choice.isSame(as: value))
                    }
                }
            } else {
                writeInput(to: &page)
            }
        }
    }

    private func writeInput(to page: inout XMLText) {
        let type = name == .expiresAt ? "datetime-local" : "text"
        if name == .reason || name == .typed {
            page.element(
                "input",
                [
                    "type": type, "id": name.rawValue, "name": name.rawValue, "value": value,
                    "class": "long", "autocomplete": "off", "required": "required",
                ]
            )
        } else {
            page.element(
                "input",
                [
                    "type": type, "id": name.rawValue, "name": name.rawValue, "value": value,
                    "class": "long", "autocomplete": "off",
                ]
            )
        }
    }
}

/// The words of forms.
enum FormWords {
    static let preview = Sentence("Preview", "確認画面へ", "預覽")
    static let confirm = Sentence("Confirm: {what}", "確定：{what}", "確認：{what}")
    static let wouldChange = Sentence("What would change", "変わること", "將會改變")
    static let nothing = Sentence(
        "Nothing that the customer can use would change.",
        "顧客が利用できるものに変化はありません。",
        "客戶可使用的項目不會改變。"
    )
    static let notForetold = Sentence(
        "What comes of it is known only once it is done.",
        "結果は実行後に分かります。",
        "執行後才會知道結果。"
    )

    static func label(_ name: FormField.Name) -> Sentence {
        switch name {
        case .tier: Sentence("Tier", "ティア", "等級")
        case .features:
            Sentence(
                "Features, with commas between them",
                "機能（カンマ区切り）",
                "功能（以逗號分隔）"
            )
        case .expiresAt:
            Sentence("Until (UTC); empty: for good", "期限（UTC、空欄は無期限）", "期限（UTC，留空為無期限）")
        case .grantID: Sentence("Grant", "付与", "授予")
        case .alias: Sentence("The other id", "別のID", "另一個識別碼")
        case .purchase: Sentence("Purchase", "購入", "購買")
        case .to: Sentence("New owner’s id", "新しい所有者のID", "新擁有者的識別碼")
        case .typed:
            Sentence(
                "Type the customer’s id to confirm",
                "確認のため顧客IDを入力してください",
                "請輸入客戶識別碼以確認"
            )
        case .reason:
            Sentence(
                "Reason (recorded; no personal data)",
                "理由（記録されます。個人情報は書かないでください）",
                "原因（會被記錄，請勿填寫個人資料）"
            )
        }
    }
}
