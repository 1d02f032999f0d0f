import Encodings
import LedgerAPI

extension PageFrame {
    /// What stands above a customer's own pages: where the others are.
    package struct Own: Sendable {
        /// Which of them it is; nil: it stands alone, as a paywall does in an app.
        package var place: Place?
        /// What the query carries from page to page: encoded, without `?`.
        package var carried: String

        /// A page of a customer's own.
        package enum Place: String, CaseIterable, Sendable {
            case history, account

            /// Where it is.
            package var path: String { "/" + rawValue }

            fileprivate var name: Sentence {
                switch self {
                case .history: OwnWords.history
                case .account: OwnWords.account
                }
            }
        }

        /// Names where it is.
        package init(place: Place?, carried: String) {
            self.place = place
            self.carried = carried
        }

        /// The path of a page with what the query carries.
        package func path(_ path: String) -> String {
            carried.isEmpty ? path : path + (path.contains("?") ? "&" : "?") + carried
        }

        /// The path of a page that is called by a name, such as a feature's, with what the query carries.
        func path(_ base: String, naming name: String) -> String {
            PageFormat.address(base + "/" + name.pathSegment, carried.isEmpty ? [] : [carried])
        }

        func write(_ language: Language, to page: inout XMLText) {
            guard let place else { return }
            page.element("nav", ["class": "main", "aria-label": OwnWords.pages[language]]) { page in
                page.element("ul") { page in
                    for other in Place.allCases {
                        page.element("li") { page in
                            let path = self.path(other.path)
                            if other == place {
                                page.element("a", ["href": path, "aria-current": "page"]) {
                                    $0.write(other.name[language])
                                }
                            } else {
                                page.element("a", ["href": path]) { $0.write(other.name[language]) }
                            }
                        }
                    }
                }
            }
        }
    }
}
