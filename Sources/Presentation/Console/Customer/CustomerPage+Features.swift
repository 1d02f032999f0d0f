import Entitlements
import LedgerAPI

extension CustomerPage {
    /// Every feature of the catalog in force, with why it is open or not.
    func writeFeatures(to page: inout XMLText) {
        page.element("section", ["class": "card"]) { page in
            page.element("h2") { $0.write(CustomerWords.features[language]) }
            guard !state.state.features.isEmpty else {
                page.element("p") { $0.write(CustomerWords.noFeatures[language]) }
                return
            }
            page.element("table", ["class": "rows"]) { page in
                page.element("caption", ["class": "hidden"]) {
                    $0.write(CustomerWords.features[language])
                }
                page.head(
                    [
                        CustomerWords.feature, CustomerWords.standing, CustomerWords.until,
                        CustomerWords.limit, CustomerWords.sources,
                    ],
                    language
                )
                page.element("tbody") { page in
                    for feature in state.state.features { writeFeature(feature, to: &page) }
                }
            }
        }
    }

    private func writeFeature(_ feature: Keyed<FeatureAccess>, to page: inout XMLText) {
        let access = feature.value
        page.element("tr") { page in
            page.element("td") { page in
                let place = CustomerPlace.explanation(feature.name)
                page.element("a", ["href": link(place, point)]) { $0.write(feature.name) }
            }
            page.cell(CustomerWords.standing, language) { page in
                page.chip(Standing(access, state.state.purchases), language)
            }
            page.cell(CustomerWords.until, language) { page in
                if let until = access.until {
                    page.time(until, language)
                } else {
                    page.write(access.isAllowed ? CustomerWords.noEnd[language] : "–")
                }
            }
            page.cell(CustomerWords.limit, language) { page in
                let limit = CellText.limit(access.limit)
                if limit.isEmpty {
                    page.write("–")
                } else {
                    page.element("span", ["lang": "en"]) { $0.write(limit) }
                }
            }
            page.cell(CustomerWords.sources, language) { page in
                if access.sources.isEmpty { page.write("–") }
                for (place, source) in access.sources.enumerated() {
                    if place > 0 { page.write(" ") }
                    page.element("code") { $0.write(source) }
                }
            }
        }
    }
}

extension XMLText {
    /// The head of a table.
    mutating func head(_ columns: [Sentence], _ language: Language) {
        element("thead") { page in
            page.element("tr") { page in
                for column in columns {
                    page.element("th", ["scope": "col"]) { $0.write(column[language]) }
                }
            }
        }
    }

    /// A cell, which says what it holds where the table is narrow.
    mutating func cell(
        _ column: Sentence,
        _ language: Language,
        _ body: (inout XMLText) -> Void
    ) {
        element("td", ["data-label": column[language]], body)
    }
}
