import Entitlements
package import LedgerAPI

/// What a customer has, since when and why: the page that support reads.
package struct CustomerPage: Sendable {
    /// The language of the page.
    package var language: Language
    /// What the customer has at T, as known at R.
    package var state: StateAnswer
    /// The same over time.
    package var timeline: TimelineAnswer
    /// Where the explanation of a feature stands.
    package var explanation: @Sendable (_ feature: String) -> String

    /// Names what the page shows.
    package init(
        language: Language,
        state: StateAnswer,
        timeline: TimelineAnswer,
        explanation: @escaping @Sendable (_ feature: String) -> String
    ) {
        self.language = language
        self.state = state
        self.timeline = timeline
        self.explanation = explanation
    }

    /// Writes what stands under the title.
    package func write(to page: inout XMLText) {
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(CustomerWords.features[language]) }
            page.element("div", ["class": "wide"]) { page in
                page.element("table", ["class": "rows"]) { writeFeatures(to: &$0) }
            }
        }
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(CustomerWords.overTime[language]) }
            page.element(
                "div",
                [
                    "class": "wide", "tabindex": "0", "role": "region",
                    "aria-label": CustomerWords.overTime[language],
                ]
            ) { page in
                TimelineChart(timeline).write(to: &page, isStyled: false)
            }
        }
    }

    private func writeFeatures(to page: inout XMLText) {
        page.element("tbody") { page in
            for feature in state.state.features {
                page.element("tr") { page in
                    page.element("td") { page in
                        page.element("a", ["href": explanation(feature.name)]) {
                            $0.write(feature.name)
                        }
                    }
                    page.element("td") { page in
                        let isOpen = feature.value.isAllowed
                        page.element("span", ["class": isOpen ? "chip ok" : "chip off"]) {
                            $0.write(feature.value.reason.rawValue)
                        }
                    }
                    page.element("td") { $0.write(feature.value.until?.description ?? "") }
                }
            }
        }
    }
}

/// The words of the customer's page.
enum CustomerWords {
    static let features = Sentence("Features", "機能", "功能")
    static let overTime = Sentence("Over time", "経過", "時間軸")
}
