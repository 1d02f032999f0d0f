package import Encodings
import Entitlements
package import LedgerAPI

/// What can be taken out: a customer's events with evidence, explanations and proofs (row 8.6).
package struct ExportsPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// What was chosen, by the names of parameters.
    package var chosen: [Name: String]
    /// The files that can be had: a word for each, and where it is; empty: nobody is named yet.
    package var files: [(name: String, path: String)]
    /// What may be hidden.
    package var redactions: [String]

    /// Names what the page shows.
    package init(
        language: Language,
        chosen: [Name: String],
        files: [(name: String, path: String)],
        redactions: [String]
    ) {
        self.language = language
        self.chosen = chosen
        self.files = files
        self.redactions = redactions
    }

    /// The title of the page.
    package static func title(in language: Language) -> String {
        PageWords.section(.exports)[language]
    }

    /// Writes the page.
    package func write(to page: inout XMLText) {
        page.card(ExportWords.customer[language]) { page in
            page.element("p") { $0.write(ExportWords.what[language]) }
            page.element("form", ["class": "inline", "action": "/console/exports"]) { form in
                form.input(EventWords.customer[language], "customer", chosen["customer"])
                form.choice(
                    ExportWords.hidden[language],
                    "redact",
                    redactions.map { ($0, $0) },
                    chosen["redact"]
                )
                form.choice(
                    EventWords.environment[language],
                    "environment",
                    StoreEnvironment.allCases.map { ($0.name, $0.name) },
                    chosen["environment"] ?? StoreEnvironment.production.name
                )
                form.keep("lang", chosen["lang"])
                form.element("button", ["class": "primary"]) {
                    $0.write(ExportWords.prepare[language])
                }
            }
            guard !files.isEmpty else { return }
            page.element("h3") { $0.write(ExportWords.files[language]) }
            page.element("ul") { list in
                for file in files {
                    list.element("li") { item in
                        item.element("a", ["href": file.path, "download": "download"]) {
                            $0.write(file.name)
                        }
                    }
                }
            }
            page.element("p", ["class": "quiet"]) { page in
                page.write(ExportWords.check[language] + " ")
                page.element("code") { $0.write("entitle check-export FILE") }
            }
        }
        page.card(ExportWords.range[language]) { page in
            page.element("p") { $0.write(ExportWords.byCommand[language]) }
            page.element("p") { page in
                page.element("code") { $0.write("entitle export --help") }
            }
        }
    }
}

/// The words of the page of exports.
enum ExportWords {
    static let customer = Sentence("A customer", "顧客", "客戶")
    static let what = Sentence(
        "Everything that is recorded of a customer, with evidence, explanations and proofs. "
            + "That you looked is noted.",
        "顧客のすべての記録を、証拠・説明・証明とともに出力します。閲覧は記録されます。",
        "匯出客戶的所有記錄，包含證據、說明與證明。您的查閱將被記錄。"
    )
    static let hidden = Sentence("Hide", "非表示", "隱藏")
    static let prepare = Sentence("Show the files", "ファイルを表示", "顯示檔案")
    static let files = Sentence("Files", "ファイル", "檔案")
    static let lines = Sentence(
        "All files as lines (NDJSON)",
        "全ファイル（NDJSON）",
        "所有檔案（NDJSON）"
    )
    static let table = Sentence("Events as a table (CSV)", "イベント一覧（CSV）", "事件表格（CSV）")
    static let page = Sentence("A page to print (HTML)", "印刷用ページ（HTML）", "可列印頁面（HTML）")
    static let check = Sentence(
        "Anybody can check an export without the ledger:",
        "エクスポートは台帳がなくても検証できます：",
        "無需帳本即可驗證匯出檔："
    )
    static let range = Sentence("A range", "範囲", "範圍")
    static let byCommand = Sentence(
        "A range of the whole log is taken out by the command.",
        "台帳全体の範囲はコマンドで出力します。",
        "整個帳本的範圍須以指令匯出。"
    )
}

extension ExportsPage {
    /// What the forms of an export are called, in their order.
    package static func names(in language: Language) -> [String] {
        [ExportWords.lines, ExportWords.table, ExportWords.page].map { $0[language] }
    }
}
