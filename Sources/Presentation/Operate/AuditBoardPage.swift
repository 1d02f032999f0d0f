package import Entitlements
package import LedgerAPI

/// What audits found, what is signed, and a statement of both to print (Z4, Z13).
package struct AuditBoardPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// The log's name.
    package var origin: String
    /// When the page was made.
    package var madeAt: Instant
    /// The log's size.
    package var size: UInt64
    /// The last audit of each scope, the widest first.
    package var audits: [Audit]
    /// What is signed, the newest first.
    package var checkpoints: [StatusAnswer.SignedSize]
    /// The scopes that may be asked for, the widest first, and where the form goes; nil: whoever looks may
    /// ask for none.
    package var form: (scopes: [String], path: String, token: String)?
    /// The page of an event.
    package var path: @Sendable (UInt64) -> String

    /// An audit that was made.
    package struct Audit: Sendable {
        /// What was looked at.
        package var scope: String
        /// When it ended.
        package var at: Instant
        /// What it found.
        package var answer: AuditAnswer

        /// Names an audit.
        package init(scope: String, at: Instant, answer: AuditAnswer) {
            self.scope = scope
            self.at = at
            self.answer = answer
        }
    }

    /// Names what the page shows.
    package init(
        language: Language,
        origin: String,
        madeAt: Instant,
        size: UInt64,
        audits: [Audit],
        checkpoints: [StatusAnswer.SignedSize],
        path: @escaping @Sendable (UInt64) -> String
    ) {
        self.language = language
        self.origin = origin
        self.madeAt = madeAt
        self.size = size
        self.audits = audits
        self.checkpoints = checkpoints
        self.path = path
    }

    /// The title of the page.
    package static func title(in language: Language) -> String {
        PageWords.section(.audit)[language]
    }

    /// Faults that stand in the page.
    private static let faultLimit = 200

    private var faults: [AuditFault] { audits.flatMap(\.answer.faults) }

    /// Writes the page.
    package func write(to page: inout XMLText) {
        writeStatement(to: &page)
        page.card(AuditWords.last[language]) { page in
            page.rows(
                AuditWords.last[language],
                [
                    PageColumn(AuditWords.scope[language]), PageColumn(AuditWords.at[language]),
                    PageColumn(AuditWords.result[language]),
                    .number(AuditWords.records[language]), .number(AuditWords.faults[language]),
                ],
                audits.map { audit in
                    let isOK = audit.answer.isOK
                    return [
                        .code(audit.scope), .instant(audit.at),
                        .words((isOK ? AuditWords.sound : AuditWords.damaged)[language])
                            .marked(isOK ? .ok : .bad),
                        .number(audit.answer.records), .number(audit.answer.faults.count),
                    ]
                },
                empty: AuditWords.noAudit[language]
            )
            writeForm(to: &page)
        }
        if !faults.isEmpty { page.card(AuditWords.faults[language]) { writeFaults(to: &$0) } }
        page.card(AuditWords.checkpoints[language]) { page in
            page.rows(
                AuditWords.checkpoints[language],
                [.number(EventWords.treeSize[language]), PageColumn(EventWords.root[language])],
                checkpoints.map { [.number($0.size), .code($0.rootHash)] },
                empty: AuditWords.noCheckpoint[language]
            )
        }
    }

    private func writeStatement(to page: inout XMLText) {
        let worst = audits.contains { !$0.answer.isOK }
        let style = audits.isEmpty ? "warn" : worst ? "bad" : "ok"
        page.element("section", ["class": "card answer printed " + style]) { page in
            page.element("h2") { $0.write(AuditWords.statement[language]) }
            page.element("p", ["class": "sentence"]) { page in
                page.write(
                    AuditWords.holds.filled(language) { place in
                        switch place {
                        case "at": InstantText(language: language, zone: .utc)(madeAt)
                        case "origin": origin
                        default: NumberText.grouped(String(size))
                        }
                    }
                )
            }
            if let signed = checkpoints.first {
                page.element("p") { page in
                    page.write(
                        AuditWords.signed.filled(language) { _ in
                            NumberText.grouped(String(signed.size))
                        }
                    )
                }
                page.element("p") { page in
                    page.element("code") { $0.write(signed.rootHash) }
                }
            }
            for audit in audits {
                page.element("p") { page in
                    let words = audit.answer.isOK ? AuditWords.foundNothing : AuditWords.foundFaults
                    page.write(
                        words.filled(language) { place in
                            switch place {
                            case "at": InstantText(language: language, zone: .utc)(audit.at)
                            case "scope": audit.scope
                            case "faults": String(audit.answer.faults.count)
                            default: NumberText.grouped(String(audit.answer.records))
                            }
                        }
                    )
                }
            }
        }
    }

    private func writeForm(to page: inout XMLText) {
        guard let form else { return }
        page.element("form", ["class": "inline", "method": "post", "action": form.path]) { page in
            page.formToken(form.token)
            page.choice(
                AuditWords.scope[language],
                "scope",
                form.scopes.map { ($0, $0) },
                form.scopes.first
            )
            page.element("button", ["class": "primary"]) { $0.write(AuditWords.run[language]) }
        }
        page.element("p", ["class": "quiet"]) { $0.write(AuditWords.takesTime[language]) }
    }

    private func writeFaults(to page: inout XMLText) {
        page.rows(
            AuditWords.faults[language],
            [
                PageColumn(AuditWords.kind[language]), .number(AuditWords.record[language]),
                PageColumn(HealthWords.what[language]), PageColumn(HealthWords.remedy[language]),
            ],
            faults.prefix(Self.faultLimit).map { fault in
                [
                    .code(fault.kind.rawValue),
                    PageCell.number(fault.sequence).leading(to: fault.sequence.map(path)),
                    .english(fault.detail), .english(fault.kind.hint),
                ]
            },
            empty: AuditWords.sound[language]
        )
    }
}

/// The words of the page of audits.
enum AuditWords {
    static let statement = Sentence("Statement", "証明書", "聲明")
    static let holds = Sentence(
        "At {at} the ledger {origin} holds {size} events.",
        "{at}現在、台帳{origin}には{size}件のイベントが記録されています。",
        "截至 {at}，帳本 {origin} 共有 {size} 個事件。"
    )
    static let signed = Sentence(
        "The first {size} of them are signed under the root:",
        "そのうち最初の{size}件は、次のルートで署名されています。",
        "其中前 {size} 個已以下列根雜湊簽署："
    )
    static let foundNothing = Sentence(
        "The audit “{scope}” of {at} read {records} records and found nothing wrong.",
        "{at}の監査「{scope}」では{records}件を検査し、問題はありませんでした。",
        "{at} 的稽核「{scope}」檢查了 {records} 筆記錄，未發現問題。"
    )
    static let foundFaults = Sentence(
        "The audit “{scope}” of {at} read {records} records and found {faults} faults.",
        "{at}の監査「{scope}」では{records}件を検査し、{faults}件の問題が見つかりました。",
        "{at} 的稽核「{scope}」檢查了 {records} 筆記錄，發現 {faults} 個問題。"
    )
    static let last = Sentence("Last audits", "最近の監査", "最近的稽核")
    static let scope = Sentence("Scope", "範囲", "範圍")
    static let at = Sentence("When", "日時", "時間")
    static let result = Sentence("Result", "結果", "結果")
    static let records = Sentence("Records", "レコード数", "記錄數")
    static let faults = Sentence("Faults", "問題", "問題")
    static let kind = Sentence("Kind", "種類", "類型")
    static let record = Sentence("Record", "レコード", "記錄")
    static let sound = Sentence("sound", "正常", "正常")
    static let damaged = Sentence("damaged", "破損", "損壞")
    static let noAudit = Sentence(
        "No audit was made since the server began.",
        "サーバーの起動後、監査はまだ行われていません。",
        "伺服器啟動後尚未進行稽核。"
    )
    static let run = Sentence("Audit now", "今すぐ監査", "立即稽核")
    static let takesTime = Sentence(
        "An audit of everything reads the whole log: of a large one that takes minutes.",
        "すべてを対象とする監査は台帳全体を読むため、大きな台帳では数分かかります。",
        "完整稽核會讀取整個帳本，帳本較大時需要數分鐘。"
    )
    static let checkpoints = Sentence("Checkpoints", "チェックポイント", "檢查點")
    static let noCheckpoint = Sentence(
        "Nothing is signed yet.",
        "まだ署名されていません。",
        "尚未簽署。"
    )
}
