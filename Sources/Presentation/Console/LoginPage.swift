package import LedgerAPI

/// How somebody comes in to the console: by a key, or by a link that lets in once.
package struct LoginPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// What a link holds; nil: a key is asked for.
    package var code: String?
    /// The page that was asked for.
    package var next: String?
    /// Whether somebody tried and was not let in.
    package var wasRefused: Bool
    /// What the form sends back of whoever is signed in already; nil: nobody is.
    package var formToken: String?

    /// Names what the page shows.
    package init(
        language: Language,
        code: String?,
        next: String?,
        wasRefused: Bool,
        formToken: String?
    ) {
        self.language = language
        self.code = code
        self.next = next
        self.wasRefused = wasRefused
        self.formToken = formToken
    }

    /// Writes the form.
    package func write(to page: inout XMLText) {
        page.element("form", ["class": "card stack", "method": "post", "action": "/console/login"])
        { page in
            if wasRefused {
                page.element("p", ["role": "alert", "class": "chip bad"]) {
                    $0.write(LoginWords.refused[language])
                }
            }
            if let formToken { page.formToken(formToken) }
            if let next {
                page.element("input", ["type": "hidden", "name": "next", "value": next])
            }
            if let code {
                page.element("p") { $0.write(LoginWords.byLink[language]) }
                page.element("input", ["type": "hidden", "name": "code", "value": code])
            } else {
                // What keeps passwords keeps them by a name.
                page.element(
                    "input",
                    [
                        "type": "text", "name": "username", "value": "entitle",
                        "autocomplete": "username", "hidden": "hidden",
                    ]
                )
                page.element("div") { page in
                    page.element("label", ["for": "key"]) { $0.write(LoginWords.key[language]) }
                    page.element(
                        "input",
                        [
                            "type": "password", "id": "key", "name": "key", "required": "required",
                            "autocomplete": "current-password",
                        ]
                    )
                }
                page.element("p", ["class": "quiet"]) { page in
                    page.write(LoginWords.how[language] + " ")
                    page.element("code") { $0.write("entitle console") }
                }
            }
            page.element("p") { page in
                page.element("button", ["class": "primary"]) {
                    $0.write(LoginWords.title[language])
                }
            }
        }
    }
}

/// The words of the login page.
package enum LoginWords {
    static let title = Sentence("Sign in", "ログイン", "登入")
    static let key = Sentence("Key", "キー", "金鑰")
    static let refused = Sentence(
        "That did not let you in: the key is unknown or expired, or the link was used.",
        "ログインできませんでした。キーが無効か期限切れ、またはリンクが使用済みです。",
        "無法登入：金鑰不明或已過期，或連結已使用過。"
    )
    static let byLink = Sentence(
        "This link lets you in once.",
        "このリンクは一度だけ有効です。",
        "此連結僅能使用一次。"
    )
    static let how = Sentence(
        "On the ledger's machine a link is printed by",
        "台帳のマシンでは次のコマンドでリンクを表示できます：",
        "在帳本所在的機器上，可用此指令取得連結："
    )

    /// The title of the page.
    package static func title(in language: Language) -> String { title[language] }
}
