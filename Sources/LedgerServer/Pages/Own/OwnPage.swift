import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation

/// A page for a customer of an app about themselves, before its form is chosen.
struct OwnPage: Sendable {
    /// Its title.
    var title: String
    /// What stands around it.
    var frame: PageFrame.Own
    /// What stands in it.
    var body: XMLText
    /// The same as a document.
    var json: [UInt8]
    /// Its list; nil: it has none.
    var rows: Page.Rows?
    /// Whether it is narrow.
    var isNarrow = false
}

extension Route {
    /// A page for a customer about themselves.
    ///
    /// A ticket in its query lets the customer in, and leads to the same page without it. `make` is asked with
    /// the customer alone: without one there is no page (row 9.4).
    static func ownPage(
        _ template: String,
        _ operation: String,
        _ summary: String,
        parameters: [Parameter] = [],
        _ make: @escaping @Sendable (Call, CustomerID, LedgerService) async throws -> Answer
    ) -> Route {
        Route(
            method: .get,
            template: template,
            operation: operation,
            summary: summary,
            access: .ownPage,
            parameters: Call.ownPageParameters + parameters,
            answers: [Reply(status: 200, text: "The page", shape: .text, mediaType: "text/html")],
            handler: { call, service in
                if let ticket = call.query[.ticket] { return try call.enter(ticket, service) }
                return try await make(call, call.owner, service)
            }
        )
    }

    /// What a form of such a page sends.
    static func ownForm(
        _ template: String,
        _ operation: String,
        _ summary: String,
        fields: [String],
        _ take: @escaping @Sendable (Call, Query, CustomerID, LedgerService) async throws -> Answer
    ) -> Route {
        .form(template, operation, summary, .ownPage, fields: fields) { call, form, service in
            try await take(call, form, call.owner, service)
        }
    }

    /// Whether it is a customer's own.
    var isOwnPage: Bool {
        if case .ownPage = access { return true }
        return false
    }
}

extension Call {
    /// What every page of a customer's own takes in its query.
    static let ownPageParameters =
        [
            RouteTable.environmentParameter,
            Route.Parameter(name: "ticket", text: "Lets the customer in whom it was made for"),
        ] + pageParameters.filter { ["lang", "format"].contains($0.name) }

    /// The customer who asks.
    ///
    /// - Throws: a problem where nobody was let in.
    var owner: CustomerID {
        get throws(Problem) {
            guard case .customer(let id) = caller else { throw Problem(.unauthenticated) }
            return id
        }
    }

    /// What is asked about the customer who asks: now, all that is known.
    func ownQuestion(_ owner: CustomerID) throws(Problem) -> CustomerQuestion {
        CustomerQuestion(
            customer: owner,
            environment: try environment(),
            point: try point(),
            visibility: .own
        )
    }

    /// Signs a customer in by a ticket, and leads on to the page without it.
    func enter(_ ticket: String, _ service: LedgerService) throws(Problem) -> Answer {
        guard let known = service.pageTickets?.ticket(ticket),
            known.stands(CustomerTicket.linkScopes, in: service, at: now)
        else { throw Problem(.unauthenticated, "the link is over, or it was not whole") }
        var kept = query.pairs.filter { $0.name != QueryName.ticket.rawValue }
        if known.environment != .production, query[.environment] == nil {
            kept.append((QueryName.environment.rawValue, known.environment.name))
        }
        let rest = kept.map { "\($0.name)=\($0.value.pathSegment)" }.joined(separator: "&")
        return signedIn(
            as: known.customer,
            linkKeyID: known.keyID,
            at: rawPath + (rest.isEmpty ? "" : "?" + rest),
            service
        )
    }

    /// Signs a customer in, and leads on.
    ///
    /// `linkKeyID`: the key that made the link by which they come; nil: none did.
    func signedIn(
        as customer: CustomerID,
        linkKeyID: String? = nil,
        at path: String,
        _ service: LedgerService
    ) -> Answer {
        let secret = service.access.sessions.begin(
            as: .customer(id: customer),
            linkKeyID: linkKeyID,
            at: now
        )
        var answer = Answer.seeOther(path)
        answer.tellNobody()
        answer.headers[.setCookie] = PageCookie.header(
            secret,
            isSecure: service.access.isSecure(headers),
            of: .customer
        )
        return answer
    }

    /// What stands around a page of a customer's own.
    func ownFrame(_ place: PageFrame.Own.Place?) -> PageFrame.Own {
        PageFrame.Own(place: place, carried: carried())
    }

    /// A page in the form that is asked for.
    func answer(_ page: OwnPage) throws(Problem) -> Answer {
        var answer: Answer
        switch format {
        case .html:
            var frame = PageFrame(title: page.title, language: language)
            frame.own = page.frame
            frame.isNarrow = page.isNarrow
            answer = Answer(html: frame.html { $0.append(page.body) })
        case .json: answer = Answer(bytes: page.json, mediaType: "application/json")
        case .csv, .ndjson:
            guard let rows = page.rows else { throw Problem(.notFound, "this page has no list") }
            answer =
                format == .csv
                ? Answer(text: rows.csv, mediaType: "text/csv; charset=utf-8")
                : Answer(text: rows.ndjson, mediaType: "application/x-ndjson")
        }
        answer.tellNobody()
        return answer
    }
}

extension Answer {
    /// Nobody is told where a customer's own page is: not whom its links lead to, and no search engine.
    mutating func tellNobody() {
        headers[.referrerPolicy] = "no-referrer"
        headers[.robotsTag] = "noindex"
    }
}

extension Problem {
    /// The problem as a page for a customer: whoever is not let in is told how to come in.
    func ownPage(_ exchange: Exchange) -> Answer {
        let language = exchange.language
        let document = ProblemAnswer(self, in: language, requestID: exchange.id)
        let isOut = code == .unauthenticated
        var frame = PageFrame(
            title: isOut ? OwnWords.notIn[language] : document.title,
            language: language
        )
        frame.isNarrow = true
        frame.own = PageFrame.Own(place: nil, carried: "")
        let html = frame.html { page in
            page.element("div", ["class": "card stack"]) { page in
                let text = isOut ? OwnWords.comeAgain[language] : document.detail
                if let text { page.element("p") { $0.write(text) } }
                page.element("p") { page in
                    page.element("code") { $0.write("\(code.rawValue) · \(exchange.id)") }
                }
            }
        }
        var answer = Answer(status: code.status, html: html)
        answer.tellNobody()
        if let retryAfter { answer.headers[.retryAfter] = String(retryAfter) }
        return answer
    }
}
