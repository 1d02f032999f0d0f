import Encodings
package import Entitlements
package import LedgerAPI

/// What stands around the content of every page of the console: search, navigation, and at the foot what
/// the page was made from and how else it can be had.
package struct PageFrame: Sendable {
    /// The page's title, as it stands in the browser.
    package var title: String
    /// The language of everything that is ours.
    package var language: Language
    /// Which part of the console it is in; nil: in none.
    package var section: Section?
    /// What the query carries from page to page, such as the environment: encoded, without `?`.
    package var carried = ""
    /// The environment that is looked at.
    package var environment: StoreEnvironment = .production
    /// Who is signed in, as a key's name; nil: nobody, and there is no navigation.
    package var viewer: Viewer?
    /// The places of a customer's own pages; nil: it is none of them.
    package var own: Own?
    /// What the page says of how it was made.
    package var footer = Footer()
    /// Whether the content is narrow, such as a form alone.
    package var isNarrow = false

    /// Who is signed in.
    package struct Viewer: Sendable {
        /// The id of the key, or what stands for it.
        package var label: String
        /// What a form sends back to show that a page of ours made it.
        package var formToken: String
        /// The parts of the console that are theirs.
        package var sections: [Section]

        /// Names who it is.
        package init(label: String, formToken: String, sections: [Section]) {
            self.label = label
            self.formToken = formToken
            self.sections = sections
        }
    }

    /// A part of the console.
    package enum Section: String, CaseIterable, Sendable {
        case overview, customers, events, catalog, deliveries, reports, health, audit, exports,
            settings
        /// A simulated store, where one stands beside the server.
        case simulator

        /// Where it begins.
        package var path: String { self == .overview ? "/console" : "/console/" + rawValue }
    }

    /// What the foot of a page says.
    package struct Footer: Sendable {
        /// Events of the log that it was made from; nil: of none.
        package var size: UInt64?
        /// The same answer in other forms: its name and where it is.
        package var forms: [(name: String, path: String)] = []
        /// The command that answers the same.
        package var command: String?

        /// A foot that says nothing.
        package init() {}
    }

    /// Names a page.
    package init(title: String, language: Language) {
        self.title = title
        self.language = language
    }

    /// The whole document around what a body writes.
    package func html(_ body: (inout XMLText) -> Void) -> String {
        var page = XMLText()
        page.element("html", ["lang": language.rawValue]) { page in
            writeHead(to: &page)
            page.element("body") { page in
                page.element("a", ["class": "skip", "href": "#main"]) {
                    $0.write(PageWords.skip[language])
                }
                if let viewer {
                    writeTop(viewer, to: &page)
                    writeNavigation(viewer, to: &page)
                }
                if let own { own.write(language, to: &page) }
                page.element("main", ["id": "main", "class": isNarrow ? "narrow" : "whole"]) {
                    page in
                    page.element("h1") { $0.write(title) }
                    body(&page)
                    page.element("p", ["id": "status", "role": "status", "class": "hidden"]) { _ in
                    }
                }
                if viewer != nil { writeFoot(to: &page) }
            }
        }
        return "<!doctype html>" + page.text + "\n"
    }

    private func writeHead(to page: inout XMLText) {
        page.element("head") { page in
            page.element("meta", ["charset": "utf-8"])
            page.element("title") { $0.write(own == nil ? title + " · entitle" : title) }
            page.element(
                "meta",
                ["name": "viewport", "content": "width=device-width, initial-scale=1"]
            )
            page.element("meta", ["name": "robots", "content": "noindex"])
            // A browser asks for an icon by itself, and would find none.
            page.element("link", ["rel": "icon", "href": "data:,"])
            for sheet in [.stylesheet] + (own == nil ? [] : [PageAsset.ownStylesheet]) {
                page.element("link", ["rel": "stylesheet", "href": "/assets/" + sheet.name])
            }
            page.element(
                "script",
                ["src": "/assets/" + PageAsset.script.name, "defer": "defer"]
            ) { _ in }
        }
    }

    private func writeTop(_ viewer: Viewer, to page: inout XMLText) {
        page.element("header", ["class": "top"]) { page in
            page.element("a", ["class": "brand", "href": "/console"]) { $0.write("entitle") }
            page.element(
                "form",
                ["class": "search", "role": "search", "action": "/console/customers"]
            ) { page in
                page.element("label", ["class": "hidden", "for": "q"]) {
                    $0.write(PageWords.searchLabel[language])
                }
                page.element(
                    "input",
                    [
                        "type": "search", "id": "q", "name": "q", "autocomplete": "off",
                        "placeholder": PageWords.searchHint[language],
                    ]
                )
                if environment != .production {
                    page.element(
                        "input",
                        ["type": "hidden", "name": "environment", "value": environment.name]
                    )
                }
                page.element("button") { $0.write(PageWords.search[language]) }
            }
            page.element("span", ["class": "world"]) { $0.write(environment.name) }
            page.element("form", ["method": "post", "action": "/console/logout"]) { page in
                page.formToken(viewer.formToken)
                page.element("button", ["title": viewer.label]) {
                    $0.write(PageWords.signOut[language])
                }
            }
        }
    }

    private func writeNavigation(_ viewer: Viewer, to page: inout XMLText) {
        page.element("nav", ["class": "main", "aria-label": "main"]) { page in
            page.element("ul") { page in
                for section in viewer.sections {
                    page.element("li") { page in
                        let path = section.path + (carried.isEmpty ? "" : "?" + carried)
                        if section == self.section {
                            page.element("a", ["href": path, "aria-current": "page"]) {
                                $0.write(PageWords.section(section)[language])
                            }
                        } else {
                            page.element("a", ["href": path]) {
                                $0.write(PageWords.section(section)[language])
                            }
                        }
                    }
                }
            }
        }
    }

    private func writeFoot(to page: inout XMLText) {
        page.element("footer", ["class": "foot"]) { page in
            page.element("ul") { page in
                for form in footer.forms {
                    page.element("li") { page in
                        page.element("a", ["href": form.path]) { $0.write(form.name) }
                    }
                }
                page.element("li") { page in
                    page.element("a", ["href": "/openapi.json"]) { $0.write("OpenAPI") }
                }
            }
            if let command = footer.command {
                page.element("p") { page in
                    page.element("code", ["id": "command"]) { $0.write(command) }
                }
            }
            if let size = footer.size {
                page.element("p") { $0.write("ledger \(size)") }
            }
        }
    }
}

extension XMLText {
    /// What a form sends back to show that a page of ours made it.
    package mutating func formToken(_ token: String) {
        element("input", ["type": "hidden", "name": PageFrame.formTokenName, "value": token])
    }
}

extension PageFrame {
    /// The field of a form that holds its token.
    package static let formTokenName = "formToken"
}
