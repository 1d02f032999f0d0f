package import Entitlements
package import LedgerAPI

/// Keys, what the server goes by, and the stores that it listens to.
package struct SettingsPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// The keys; nil: the ledger stands in no directory.
    package var keys: [Key]?
    /// What the server goes by.
    package var configuration: ConfigurationAnswer
    /// The stores, and whether they are listened to and may be asked.
    package var stores: [Store]
    /// The scopes that a key may have.
    package var scopes: [String]
    /// Where forms go and what they send back; nil: whoever looks is not signed in.
    package var form: (create: String, revoke: String, token: String)?
    /// A key that was made: shown this once.
    package var made: String?

    /// A key, without its secret.
    package struct Key: Sendable {
        /// Its id.
        package var id: String
        /// What its owner calls it.
        package var name: String?
        /// What it may do.
        package var scopes: [String]
        /// When it was made.
        package var createdAt: Instant
        /// When it ends; nil: never.
        package var expiresAt: Instant?
        /// Whether it is over.
        package var isOver: Bool

        /// Names a key.
        package init(
            id: String,
            name: String?,
            scopes: [String],
            createdAt: Instant,
            expiresAt: Instant?,
            isOver: Bool
        ) {
            self.id = id
            self.name = name
            self.scopes = scopes
            self.createdAt = createdAt
            self.expiresAt = expiresAt
            self.isOver = isOver
        }
    }

    /// A store.
    package struct Store: Sendable {
        /// Its name.
        package var name: String
        /// Whether its signals are taken.
        package var isHeard: Bool
        /// Whether it may be asked.
        package var mayBeAsked: Bool

        /// Names a store.
        package init(name: String, isHeard: Bool, mayBeAsked: Bool) {
            self.name = name
            self.isHeard = isHeard
            self.mayBeAsked = mayBeAsked
        }
    }

    /// Names what the page shows.
    package init(
        language: Language,
        keys: [Key]?,
        configuration: ConfigurationAnswer,
        stores: [Store],
        scopes: [String]
    ) {
        self.language = language
        self.keys = keys
        self.configuration = configuration
        self.stores = stores
        self.scopes = scopes
    }

    /// The title of the page.
    package static func title(in language: Language) -> String {
        PageWords.section(.settings)[language]
    }

    /// The field that gives a key a scope.
    package static func field(ofScope scope: String) -> String { "scope-" + scope }

    /// Writes the page.
    package func write(to page: inout XMLText) {
        if let made {
            page.element("div", ["class": "card answer warn", "role": "status"]) { page in
                page.element("p", ["class": "sentence"]) { $0.write(SettingWords.made[language]) }
                page.element("pre", ["id": "made-key", "tabindex": "0"]) { $0.write(made) }
                page.copier("made-key", language)
            }
        }
        if let keys { page.card(SettingWords.keys[language], id: "keys") { write(keys, to: &$0) } }
        page.card(SettingWords.stores[language], id: "stores") { writeStores(to: &$0) }
        page.card(SettingWords.configuration[language], id: "configuration") { page in
            page.rows(
                SettingWords.configuration[language],
                [SettingWords.name, SettingWords.value, SettingWords.origin, SettingWords.variable]
                    .map { PageColumn($0[language]) },
                configuration.settings.map { setting in
                    [
                        .code(setting.name), .code(setting.value), .code(setting.origin.rawValue),
                        .code(setting.variable),
                    ]
                },
                empty: ""
            )
        }
    }

    private func write(_ keys: [Key], to page: inout XMLText) {
        page.rows(
            SettingWords.keys[language],
            [
                EventWords.id, SettingWords.name, SettingWords.scopes, SettingWords.created,
                SettingWords.ends,
            ]
            .map { PageColumn($0[language]) },
            keys.map { key in
                let end =
                    key.expiresAt == nil
                    ? PageCell.words(SettingWords.never[language]) : .instant(key.expiresAt)
                return [
                    .code(key.id), .code(key.name), .code(key.scopes.joined(separator: " ")),
                    .instant(key.createdAt), key.isOver ? end.marked(.off) : end,
                ]
            },
            empty: SettingWords.noKeys[language]
        )
        guard let form else { return }
        page.element("h3") { $0.write(SettingWords.newKey[language]) }
        page.element("form", ["class": "stack", "method": "post", "action": form.create]) { page in
            page.formToken(form.token)
            page.element("fieldset") { fields in
                fields.element("legend") { $0.write(SettingWords.scopes[language]) }
                for scope in scopes {
                    let id = Self.field(ofScope: scope)
                    fields.element("label", ["class": "check", "for": id]) { label in
                        label.element(
                            "input",
                            ["type": "checkbox", "id": id, "name": id, "value": "true"]
                        )
                        label.write(" " + scope)
                    }
                }
            }
            page.input(SettingWords.name[language], "name")
            page.choice(
                SettingWords.ends[language],
                "days",
                ["30", "90", "365"].map { days in
                    (days, SettingWords.days.filled(language) { _ in days })
                } + [("", SettingWords.never[language])],
                "90"
            )
            page.element("p") { page in
                page.element("button", ["class": "primary"]) {
                    $0.write(SettingWords.create[language])
                }
            }
        }
        guard !keys.isEmpty else { return }
        page.element("h3") { $0.write(SettingWords.revoke[language]) }
        page.element("form", ["class": "inline", "method": "post", "action": form.revoke]) { page in
            page.formToken(form.token)
            page.choice(
                SettingWords.key[language],
                "key",
                keys.map { ($0.id, $0.id + ($0.name.map { " · " + $0 } ?? "")) },
                nil
            )
            page.element("button", ["class": "danger"]) { $0.write(SettingWords.revoke[language]) }
        }
    }

    private func writeStores(to page: inout XMLText) {
        func state(_ holds: Bool) -> PageCell {
            .words((holds ? SettingWords.yes : SettingWords.no)[language]).marked(
                holds ? .ok : .off
            )
        }
        page.rows(
            SettingWords.stores[language],
            [SettingWords.name, SettingWords.heard, SettingWords.asked]
                .map { PageColumn($0[language]) },
            stores.map { [.code($0.name), state($0.isHeard), state($0.mayBeAsked)] },
            empty: ""
        )
    }
}

/// The words of the page of settings.
enum SettingWords {
    static let made = Sentence(
        "This is the key. It is shown this once.",
        "作成されたキーです。表示されるのは今回だけです。",
        "這是新的金鑰，僅顯示這一次。"
    )
    static let keys = Sentence("Keys", "キー", "金鑰")
    static let key = Sentence("Key", "キー", "金鑰")
    static let newKey = Sentence("A new key", "新しいキー", "新增金鑰")
    static let scopes = Sentence("What it may do", "権限", "權限")
    static let created = Sentence("Made", "作成日時", "建立時間")
    static let ends = Sentence("Ends", "有効期限", "到期")
    static let never = Sentence("never", "無期限", "永不")
    static let days = Sentence("in {days} days", "{days}日後", "{days} 天後")
    static let create = Sentence("Make a key", "キーを作成", "建立金鑰")
    static let revoke = Sentence("End a key", "キーを失効", "撤銷金鑰")
    static let noKeys = Sentence("There is no key.", "キーはありません。", "沒有金鑰。")
    static let stores = Sentence("Stores", "ストア", "商店")
    static let heard = Sentence("Listened to", "受信", "接收訊號")
    static let asked = Sentence("May be asked", "問い合わせ", "可查詢")
    static let yes = Sentence("yes", "はい", "是")
    static let no = Sentence("no", "いいえ", "否")
    static let configuration = Sentence("Configuration", "構成", "組態")
    static let name = Sentence("Name", "名前", "名稱")
    static let value = Sentence("Value", "値", "值")
    static let origin = Sentence("Set by", "設定元", "設定來源")
    static let variable = Sentence("Variable", "環境変数", "環境變數")
}
