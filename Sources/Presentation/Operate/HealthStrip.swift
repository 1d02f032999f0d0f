package import LedgerAPI

/// How the ledger is, as the pages tell it: what was found wrong, by its areas.
package struct HealthStrip: Sendable {
    /// The language of the page.
    package var language: Language
    /// What was found, worst first.
    package var findings: [Finding]
    /// Whether a live view was found to say other than the log.
    package var hasDrifted: Bool

    /// Names what was found.
    package init(language: Language, findings: [Finding], hasDrifted: Bool) {
        self.language = language
        self.findings = findings
        self.hasDrifted = hasDrifted
    }

    /// The worst that holds of an area.
    package func mark(of area: HealthArea) -> PageCell.Mark {
        if area == .drift { return hasDrifted ? .bad : .ok }
        let worst = findings.filter { HealthArea($0.code) == area }.map(\.severity)
        if worst.contains(.error) { return .bad }
        return worst.contains(.warning) ? .warn : .ok
    }

    /// Areas with more than a note.
    private var troubled: Int {
        HealthArea.allCases.count { mark(of: $0) != .ok }
    }

    /// Writes a sentence and a chip for each area.
    ///
    /// `path`: where an area is told of in full.
    package func write(to page: inout XMLText, path: (HealthArea) -> String?) {
        let isBad = HealthArea.allCases.contains { mark(of: $0) == .bad }
        let style = troubled == 0 ? "ok" : isBad ? "bad" : "warn"
        page.element("div", ["class": "card answer " + style, "role": "status"]) { page in
            page.element("p", ["class": "sentence"]) { page in
                page.write(
                    troubled == 0
                        ? HealthWords.allGood[language]
                        : HealthWords.notGood.counting(
                            troubled,
                            one: HealthWords.oneNotGood,
                            in: language
                        )
                )
            }
            page.element("ul", ["class": "strip"]) { list in
                for area in HealthArea.allCases {
                    list.element("li") { item in
                        item.write(
                            PageCell.words(HealthWords.area(area)[language])
                                .marked(mark(of: area)).leading(to: path(area))
                        )
                    }
                }
            }
        }
    }

    /// Writes what was found, with what to do.
    package func writeFindings(to page: inout XMLText) {
        page.rows(
            HealthWords.findings[language],
            [HealthWords.severity, HealthWords.what, HealthWords.place, HealthWords.remedy]
                .map { PageColumn($0[language]) },
            findings.map { finding in
                let mark: PageCell.Mark =
                    switch finding.severity {
                    case .error: .bad
                    case .warning: .warn
                    case .note: .off
                    }
                return [
                    .words(HealthWords.severity(finding.severity)[language]).marked(mark),
                    .english(finding.what), .code(finding.place), .english(finding.remedy),
                ]
            },
            empty: HealthWords.allGood[language]
        )
    }
}
