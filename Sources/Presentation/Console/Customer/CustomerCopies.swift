import LedgerAPI

/// The answer in words that may be sent to the customer as they stand: no ids, in each language.
struct CustomerCopies {
    let answers: [ExplanationAnswer]
    let language: Language

    func write(to page: inout XMLText) {
        guard !answers.isEmpty else { return }
        page.element("details") { page in
            page.element("summary") { $0.write(CustomerWords.forCustomer[language]) }
            for answer in answers {
                let id = "answer-" + answer.language.rawValue
                page.element("p", ["id": id, "lang": answer.language.rawValue]) {
                    $0.write(answer.summary)
                }
                page.element("p") { page in
                    page.element(
                        "button",
                        [
                            "type": "button", "data-copy": id, "data-script": "", "hidden": "",
                            "data-done": CustomerWords.copied[language],
                        ]
                    ) { $0.write(CustomerWords.copy[language] + " " + answer.language.rawValue) }
                }
            }
        }
    }
}
