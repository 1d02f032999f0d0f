package import Entitlements
import LedgerAPI

/// What an event was read from, judged as of when it was signed, and whether it counts (rows 8.5, 7.5).
extension EventPage {
    /// What is told of an event's evidence; none of it names a customer.
    package struct Evidence: Sendable {
        /// What judging it again came to.
        package var verdict: EvidenceVerdict
        /// The certificates under which it is signed, the signer's own first.
        package var certificates: [Signer]

        /// The code of evidence that cannot be read.
        package static let damage = "damaged"

        /// Puts it together.
        package init(verdict: EvidenceVerdict, certificates: [Signer]) {
            self.verdict = verdict
            self.certificates = certificates
        }
    }

    /// A certificate of a chain.
    package struct Signer: Sendable {
        /// Whose it is.
        package var subject: String
        /// From when on it is valid.
        package var validFrom: Instant
        /// Until when it is valid.
        package var validUntil: Instant

        /// Names a certificate.
        package init(subject: String, validFrom: Instant, validUntil: Instant) {
            self.subject = subject
            self.validFrom = validFrom
            self.validUntil = validUntil
        }
    }

    func writeEvidence(to page: inout XMLText) {
        guard let digest = told.evidence else {
            return page.element("p") { $0.write(EventWords.noEvidence[language]) }
        }
        page.element("p") { $0.write(EventWords.hasEvidence[language]) }
        page.pairs([("SHA-256", .code(digest))])
        guard let evidence else {
            return page.element("p") { $0.write(EvidenceWords.closed[language]) }
        }
        page.element("p") { page in
            page.write(
                PageCell.words(EvidenceWords.verdict(of: evidence)[language])
                    .marked(EvidenceWords.mark(evidence.verdict))
            )
            if case .refused(let code) = evidence.verdict {
                page.write(" ")
                page.element("code") { $0.write(code) }
            }
        }
        guard let root = evidence.certificates.last else { return }
        page.element("h3") { $0.write(EvidenceWords.chain[language]) }
        page.rows(
            EvidenceWords.chain[language],
            [
                PageColumn(EvidenceWords.certificate[language]),
                PageColumn(EvidenceWords.validFrom[language]),
                PageColumn(EvidenceWords.validUntil[language]),
            ],
            evidence.certificates.map {
                [.code($0.subject), .instant($0.validFrom), .instant($0.validUntil)]
            },
            empty: ""
        )
        page.element("p", ["class": "quiet"]) { page in
            page.write(EvidenceWords.root[language] + " ")
            page.element("code") { $0.write(root.subject) }
        }
    }

    /// Whether the event counts, or repeats another (E1).
    func writeDecision(to page: inout XMLText) {
        guard isDecided else {
            return page.element("p") { $0.write(EvidenceWords.undecided[language]) }
        }
        guard let repeated else {
            return page.element("p") { $0.write(EvidenceWords.once[language]) }
        }
        page.element("p") { page in
            page.write(PageCell.words(EvidenceWords.repeats[language]).marked(.warn))
            page.write(" ")
            page.write(PageCell.code(String(repeated.sequence)).leading(to: repeated.path))
        }
    }
}

/// The words of evidence and of what was decided.
enum EvidenceWords {
    static let decision = Sentence("Recorded once", "重複の判定", "重複判定")
    static let once = Sentence(
        "It is the first of its id. Whoever sends the same again is answered “duplicate”, and "
            + "nothing is recorded.",
        "このIDの最初のイベントとして記録されています。同じものが再び届いても「重複」と答え、何も記録しません。",
        "此識別碼的第一筆事件。若再次收到相同內容，會回覆「重複」且不再記錄。"
    )
    static let repeats = Sentence(
        "It repeats an earlier event, and counts for nothing:",
        "以前のイベントの繰り返しで、数えません：",
        "重複先前的事件，不予計入："
    )
    static let undecided = Sentence(
        "Whether it repeats an earlier event cannot be told: a record before it cannot be read. An audit says "
            + "what is damaged.",
        "以前の記録が読み取れないため、重複かどうか判定できません。破損箇所は監査で分かります。",
        "因先前的紀錄無法讀取，無法判定是否重複；稽核會指出損毀之處。"
    )
    static let chain = Sentence("Signed by", "署名者の証明書", "簽署憑證")
    static let certificate = Sentence("Certificate", "証明書", "憑證")
    static let validFrom = Sentence("Valid from", "有効期間の開始", "生效時間")
    static let validUntil = Sentence("Valid until", "有効期限", "有效期限")
    static let root = Sentence("The chain ends at:", "ルート：", "根憑證：")
    static let closed = Sentence(
        "It cannot be opened any more: somebody whom it names was erased.",
        "関係者が消去されたため、開けません。",
        "因相關對象已清除，無法再開啟。"
    )

    /// What a verdict says.
    static func verdict(of evidence: EventPage.Evidence) -> Sentence {
        switch evidence.verdict {
        case .verified where evidence.certificates.isEmpty:
            Sentence(
                "Verified again just now: the signature holds.",
                "再検証済み：署名が正しいことを確認しました。",
                "已重新驗證：簽章正確。"
            )
        case .verified:
            Sentence(
                "Verified again just now: certificates up to a trusted root, the signature, the app and the "
                    + "environment hold.",
                "再検証済み：信頼するルートまでの証明書、署名、アプリ、環境が正しいことを確認しました。",
                "已重新驗證：憑證可追溯至信任的根憑證，簽章、應用程式與環境皆正確。"
            )
        case .unsigned:
            Sentence(
                "It has no signature of a store: the channel that it came by vouched for it.",
                "ストアの署名はありません。届いた経路により確認されました。",
                "沒有商店的簽章，由其傳送管道擔保。"
            )
        case .unchecked:
            Sentence(
                "Nobody is configured here who could verify it.",
                "検証する設定がありません。",
                "此處未設定可驗證的方式。"
            )
        case .refused(code: EventPage.Evidence.damage):
            Sentence(
                "It cannot be read; an audit says what is damaged:",
                "読み取れません。破損箇所は監査で分かります：",
                "無法讀取，稽核會指出損毀之處："
            )
        case .refused:
            Sentence(
                "It does not hold by today's roots and settings:",
                "現在のルートと設定では検証できません：",
                "依目前的根憑證與設定無法通過驗證："
            )
        }
    }

    /// How it is shown.
    static func mark(_ verdict: EvidenceVerdict) -> PageCell.Mark? {
        switch verdict {
        case .verified: .ok
        case .unsigned, .unchecked: .plain
        case .refused: .bad
        }
    }
}
