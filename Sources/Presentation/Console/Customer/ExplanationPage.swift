import Encodings
import Entitlements
package import LedgerAPI

/// Why a customer has or lacks a feature, step by step (row Z2).
package struct ExplanationPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// Where in both times it stands.
    package var point: PagePoint
    /// For whom the sentences are, in the language of the page.
    package var explanation: ExplanationAnswer
    /// What the customer has bought, at the same point.
    package var purchases: [PurchaseState]
    /// The same for the customer, in each language.
    package var forCustomer: [ExplanationAnswer]
    /// The same page for another audience.
    package var audienceLink: @Sendable (Audience) -> String
    /// Where other pages stand.
    package var link: CustomerLink

    /// Names what the page shows.
    package init(
        language: Language,
        point: PagePoint,
        explanation: ExplanationAnswer,
        purchases: [PurchaseState],
        forCustomer: [ExplanationAnswer],
        audienceLink: @escaping @Sendable (Audience) -> String,
        link: @escaping CustomerLink
    ) {
        self.language = language
        self.point = point
        self.explanation = explanation
        self.purchases = purchases
        self.forCustomer = forCustomer
        self.audienceLink = audienceLink
        self.link = link
    }

    /// Writes what stands under the title.
    package func write(to page: inout XMLText) {
        page.element("p") { page in
            page.element("a", ["href": link(.customer, point)]) {
                $0.write("← " + ExplanationWords.toCustomer[language])
            }
        }
        let isOpen = explanation.access.isAllowed
        page.element("section", ["class": "card answer " + (isOpen ? "ok" : "bad")]) { page in
            page.element("h2") { $0.write(ExplanationWords.conclusion[language]) }
            page.element("p", ["class": "sentence", "id": "conclusion"]) {
                $0.write(explanation.summary)
            }
            page.element("p") { $0.chip(Standing(explanation, purchases), language) }
            CustomerCopies(answers: forCustomer, language: language).write(to: &page)
            writeAudiences(to: &page)
        }
        writeSteps(to: &page)
        page.element("div", ["class": "columns"]) { page in
            list(ExplanationWords.wouldChange, explanation.wouldChange.map(\.text), to: &page)
            list(ExplanationWords.notUsed, explanation.notUsed.map(\.text), to: &page)
        }
        writeCompleteness(to: &page)
    }

    private func writeAudiences(to page: inout XMLText) {
        page.element("nav", ["aria-label": ExplanationWords.audience[language]]) { page in
            page.element("ul", ["class": "plain steps"]) { page in
                for audience in Audience.allCases {
                    page.element("li") { page in
                        let word = ExplanationWords.audience(audience)[language]
                        if audience == explanation.audience {
                            page.element("strong") { $0.write(word) }
                        } else {
                            page.element("a", ["href": audienceLink(audience)]) { $0.write(word) }
                        }
                    }
                }
            }
        }
    }

    private func writeSteps(to page: inout XMLText) {
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(ExplanationWords.steps[language]) }
            page.element("table", ["class": "rows"]) { page in
                page.element("caption", ["class": "hidden"]) {
                    $0.write(ExplanationWords.steps[language])
                }
                page.head(
                    [
                        ExplanationWords.number, ExplanationWords.happened,
                        ExplanationWords.learned, ExplanationWords.event, ExplanationWords.rule,
                        ExplanationWords.effect,
                    ],
                    language
                )
                page.element("tbody") { page in
                    for (place, step) in explanation.steps.enumerated() {
                        page.element("tr") { writeStep(place + 1, step, to: &$0) }
                    }
                }
            }
        }
    }

    private func writeStep(_ number: Int, _ step: ExplanationStep, to page: inout XMLText) {
        let mark = step.mark
        page.cell(ExplanationWords.number, language) { $0.write(String(number)) }
        page.cell(ExplanationWords.happened, language) { $0.time(mark.time, language) }
        page.cell(ExplanationWords.learned, language) { $0.time(mark.recordedAt, language) }
        page.cell(ExplanationWords.event, language) { page in
            guard let sequence = mark.sequence else { return page.write("–") }
            let isCatalog = mark.type == EventKind.catalogPublished.name
            let place = isCatalog ? CustomerPlace.catalog(sequence) : .event(sequence)
            page.element("a", ["href": link(place, point)]) { $0.write("#\(sequence)") }
            if let type = mark.type { page.write(" " + type) }
        }
        page.cell(ExplanationWords.rule, language) { page in
            guard let rule = mark.rule else { return page.write("–") }
            page.element("strong") { $0.write(rule.rawValue) }
            if let text = mark.ruleText {
                page.write(" ")
                page.element("span", ["class": "quiet", "lang": "en"]) { $0.write(text) }
            }
        }
        page.cell(ExplanationWords.effect, language) { $0.write(step.text) }
    }

    private func list(_ title: Sentence, _ sentences: [String], to page: inout XMLText) {
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(title[language]) }
            // Several events may say the same.
            var met: Set<Name> = []
            let texts = sentences.filter { met.insert(Name($0)).inserted }
            if texts.isEmpty { page.element("p") { $0.write(ExplanationWords.none[language]) } }
            if !texts.isEmpty {
                page.element("ul") { page in
                    for text in texts { page.element("li") { $0.write(text) } }
                }
            }
        }
    }

    /// How much the conclusion can be relied on (Z12).
    private func writeCompleteness(to page: inout XMLText) {
        guard !explanation.completeness.isEmpty else { return }
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(ExplanationWords.completeness[language]) }
            page.element("table", ["class": "rows"]) { page in
                page.element("caption", ["class": "hidden"]) {
                    $0.write(ExplanationWords.completeness[language])
                }
                page.head(
                    [ExplanationWords.store] + ExplanationWords.completenessColumns,
                    language
                )
                page.element("tbody") { page in
                    for store in explanation.completeness {
                        page.element("tr") { page in
                            page.cell(ExplanationWords.store, language) { $0.write(store.store) }
                            let instants = [
                                store.lastSyncAt, store.lastVerifiedAt, store.completeThrough,
                                store.lastRefusedAt,
                            ]
                            for (column, instant) in zip(
                                ExplanationWords.completenessColumns,
                                instants
                            ) {
                                page.cell(column, language) { page in
                                    if instant == nil { page.write("–") }
                                    page.time(instant, language)
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The words of the page that explains.
package enum ExplanationWords {
    static let toCustomer = Sentence("To the customer", "顧客ページへ", "回到客戶頁面")
    static let conclusion = Sentence("Conclusion", "結論", "結論")
    static let steps = Sentence("Steps", "経緯", "步驟")
    static let number = Sentence("No.", "番号", "序號")
    static let happened = Sentence("Happened", "発生", "發生")
    static let learned = Sentence("Learned", "判明", "得知")
    static let event = Sentence("Event", "イベント", "事件")
    static let rule = Sentence("Rule", "規則", "規則")
    static let effect = Sentence("Effect", "結果", "影響")
    static let wouldChange = Sentence("What would change it", "変わるとすれば", "何者會改變結果")
    static let notUsed = Sentence("Not used", "使われなかったもの", "未採用")
    static let none = Sentence("Nothing.", "なし", "無")
    static let completeness = Sentence("How complete it is", "記録の完全さ", "資料完整程度")
    static let store = Sentence("Store", "ストア", "商店")
    static let completenessColumns = [
        Sentence("Asked", "照会", "查詢"), Sentence("Verified", "検証", "驗證"),
        Sentence("Complete through", "この時点まで完全", "完整至"),
        Sentence("Last refused", "最後の拒否", "最近一次拒絕"),
    ]
    static let audience = Sentence("Told to", "説明の相手", "說明對象")

    static func audience(_ audience: Audience) -> Sentence {
        switch audience {
        case .developer: Sentence("Developer", "開発者", "開發人員")
        case .support: Sentence("Support", "サポート", "客服")
        case .customer: Sentence("Customer", "顧客", "客戶")
        }
    }

    /// The title of the page.
    package static func title(_ feature: String, in language: Language) -> String {
        Sentence("Why: {feature}", "理由：{feature}", "原因：{feature}")
            .filled(language) { _ in feature }
    }
}
