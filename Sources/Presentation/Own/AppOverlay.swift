import LedgerAPI

/// What covers a page while the app works (rows 2.6, 5.5), and what it says in the end (rows 2.4, 2.5): every
/// text that the script may show stands in the page, in its language.
struct AppOverlay {
    let language: Language

    func write(to page: inout XMLText) {
        page.element(
            "dialog",
            ["id": "overlay", "aria-labelledby": "overlay-text"]
        ) { page in
            page.element("p", ["id": "overlay-text", "role": "status"]) { _ in }
            page.element("p", ["class": "inline"]) { page in
                page.element(
                    "button",
                    [
                        "type": "button", "id": "overlay-again", "class": "primary",
                        "hidden": "hidden",
                    ]
                ) { $0.write(OwnWords.again[language]) }
                page.element(
                    "button",
                    ["type": "button", "id": "overlay-close", "hidden": "hidden"]
                ) { $0.write(OwnWords.close[language]) }
            }
        }
        page.element("ul", ["id": "overlay-texts", "hidden": "hidden"]) { page in
            let texts = [
                ("working", OwnWords.working), ("success", PaywallWords.done),
                ("pending", PaywallWords.pending), ("nothing", PaywallWords.nothingToRestore),
            ]
            for (name, text) in texts {
                page.element("li", ["data-result": name]) { $0.write(text[language]) }
            }
            for code in ServiceError.Code.allCases {
                let error = ServiceError(code)
                page.element(
                    "li",
                    [
                        "data-code": code.rawValue,
                        "data-retryable": error.isRetryable ? "true" : "false",
                    ]
                ) { $0.write(error.message(in: language)) }
            }
        }
    }
}
