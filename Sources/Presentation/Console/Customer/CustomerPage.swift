package import Entitlements
package import LedgerAPI

/// What a customer has, since when and why: the page that support reads (rows 4.4, 8.6).
package struct CustomerPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// Where in both times it stands.
    package var point: PagePoint
    /// What the customer has at T, as known at R.
    package var state: StateAnswer
    /// The same over time.
    package var timeline: TimelineAnswer
    /// What answers "why": the feature whose access changed last; nil: there is none.
    package var answer: Answer?
    /// What is known today of which R knows nothing yet, by its places in the log.
    package var later: [UInt64] = []
    /// The forms that whoever reads may send.
    package var forms: [CustomerForm] = []
    /// The command that erases the customer; nil: it is not shown.
    package var eraseCommand: String?
    /// What a form did just now.
    package var done: CustomerForm?
    /// What the forms of the page carry along: names and values.
    package var carried: [(name: String, value: String)] = []
    /// Where other pages stand.
    package var link: CustomerLink

    /// Why a feature is open or not.
    package struct Answer: Sendable {
        /// Told to support, in the language of the page.
        package var explanation: ExplanationAnswer
        /// Told to the customer, in each language.
        package var forCustomer: [ExplanationAnswer]
        /// When it opened or closed last; nil: not within what counts as news.
        package var changedAt: Instant?
        /// Other features that did so at the same instant.
        package var others: [String]

        /// Puts together what explains a feature.
        package init(
            explanation: ExplanationAnswer,
            forCustomer: [ExplanationAnswer],
            changedAt: Instant?,
            others: [String]
        ) {
            self.explanation = explanation
            self.forCustomer = forCustomer
            self.changedAt = changedAt
            self.others = others
        }
    }

    /// Names what the page shows.
    package init(
        language: Language,
        point: PagePoint,
        state: StateAnswer,
        timeline: TimelineAnswer,
        link: @escaping CustomerLink
    ) {
        self.language = language
        self.point = point
        self.state = state
        self.timeline = timeline
        self.link = link
    }

    /// Writes what stands under the title.
    package func write(to page: inout XMLText) {
        if let done { writeDone(done, to: &page) }
        PointControls(page: self).writeBanner(to: &page)
        writeAnswer(to: &page)
        writeErasureRequest(to: &page)
        writeWarnings(to: &page)
        writeFeatures(to: &page)
        writeDrawing(to: &page)
        page.element("div", ["class": "beside"]) { page in
            page.element("div") { writeTimeline(to: &$0) }
            page.element("div") { page in
                PointControls(page: self).write(to: &page)
                writeBelongings(to: &page)
                writeForms(to: &page)
            }
        }
    }

    private func writeDone(_ form: CustomerForm, to page: inout XMLText) {
        page.element("p", ["class": "card answer ok", "role": "status"]) { page in
            page.write(CustomerWords.done.filled(language) { _ in form.title(in: language) })
        }
    }

    private func writeAnswer(to page: inout XMLText) {
        let standing = answer.map { Standing($0.explanation, state.state.purchases) }
        let isOpen = answer?.explanation.access.isAllowed ?? true
        let mark = standing?.mark == "warn" ? "warn" : isOpen ? "ok" : "bad"
        page.element("section", ["class": "card answer " + mark, "aria-labelledby": "answer"]) {
            page in
            page.element("h2", ["id": "answer", "class": "hidden"]) {
                $0.write(CustomerWords.answer[language])
            }
            if let answer, let standing {
                page.element("p", ["class": "sentence", "id": "sentence"]) {
                    $0.write(answer.explanation.summary)
                }
                page.element("p") { page in
                    page.chip(standing, language)
                    page.write(" ")
                    page.element("strong") { $0.write(answer.explanation.feature) }
                    if let changedAt = answer.changedAt {
                        page.write(" · " + CustomerWords.changed[language] + " ")
                        page.time(changedAt, language)
                    }
                    if !answer.others.isEmpty {
                        page.write(" · " + CustomerWords.also[language] + " ")
                        page.write(answer.others.joined(separator: ", "))
                    }
                }
                writeAnswerLinks(answer, to: &page)
            } else {
                page.element("p", ["class": "sentence"]) {
                    $0.write(CustomerWords.nothing[language])
                }
            }
            page.element("p", ["class": "quiet"]) { page in
                page.write(CustomerWords.tier[language] + " ")
                page.element("strong") { $0.write(state.state.tier) }
            }
        }
    }

    private func writeAnswerLinks(_ answer: Answer, to page: inout XMLText) {
        page.element("p") { page in
            let place = CustomerPlace.explanation(answer.explanation.feature)
            page.element("a", ["class": "button", "href": link(place, point)]) {
                $0.write(CustomerWords.explain[language])
            }
            if let changedAt = answer.changedAt {
                // What was told at that instant, by what was known then.
                let then = PagePoint(at: changedAt, known: .instant(changedAt), now: point.now)
                let place = CustomerPlace.difference(from: then, to: point.at(changedAt))
                page.write(" ")
                page.element("a", ["class": "button", "href": link(place, point)]) {
                    $0.write(CustomerWords.toldThen[language])
                }
            }
        }
        CustomerCopies(answers: answer.forCustomer, language: language).write(to: &page)
    }

    private func writeWarnings(to page: inout XMLText) {
        guard !state.state.warnings.isEmpty else { return }
        page.element("section", ["class": "card answer warn"]) { page in
            page.element("h2") { $0.write(CustomerWords.warnings[language]) }
            page.element("ul") { page in
                for warning in state.state.warnings {
                    page.element("li") { page in
                        page.write(CustomerWords.warning(warning.code)[language])
                        let about = [warning.productID, warning.purchase].compactMap(\.self)
                        for name in about {
                            page.write(" ")
                            page.element("code") { $0.write(name) }
                        }
                    }
                }
            }
        }
    }

    private func writeDrawing(to page: inout XMLText) {
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(CustomerWords.overTime[language]) }
            page.element(
                "div",
                [
                    "class": "wide", "tabindex": "0", "role": "region", "lang": "en",
                    "aria-label": CustomerWords.overTime[language],
                ]
            ) { page in
                TimelineChart(timeline).write(to: &page, isStyled: false)
            }
        }
    }

    private func writeForms(to page: inout XMLText) {
        guard point.isNow, !forms.isEmpty else { return }
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(CustomerWords.actions[language]) }
            page.element("ul", ["class": "plain"]) { page in
                for form in forms {
                    page.element("li") { page in
                        page.element("a", ["href": link(.form(form), point)]) {
                            $0.write(form.title(in: language))
                        }
                    }
                }
            }
        }
    }
}
