import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Hummingbird
import LedgerAPI
import Presentation

extension Problem {
    /// The problem as a page; whoever is not signed in is sent to where they can be.
    func page(_ exchange: Exchange, for request: Request) -> Answer {
        if exchange.target?.route.isOwnPage == true { return ownPage(exchange) }
        if code == .unauthenticated, request.method == .get || request.method == .head {
            return .seeOther("/console/login?next=" + request.uri.string.pathSegment)
        }
        let document = ProblemAnswer(self, in: exchange.language, requestID: exchange.id)
        var frame = PageFrame(title: document.title, language: exchange.language)
        frame.isNarrow = true
        let html = frame.html { page in
            page.element("div", ["class": "card stack"]) { page in
                if let detail = document.detail { page.element("p") { $0.write(detail) } }
                page.element("p") { page in
                    page.element("code") { $0.write("\(code.rawValue) · \(exchange.id)") }
                }
                page.element("p") { page in
                    page.element("a", ["href": "/console"]) {
                        $0.write(PageFrame.Section.overview.name(in: exchange.language))
                    }
                }
            }
        }
        var answer = Answer(status: code.status, html: html)
        if let retryAfter { answer.headers[.retryAfter] = String(retryAfter) }
        return answer
    }
}
