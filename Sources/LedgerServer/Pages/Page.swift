import Encodings
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation

/// What a page shows, before its form is chosen.
struct Page: Sendable {
    /// Its title.
    var title: String
    /// The part of the console that it is in.
    var section: PageFrame.Section
    /// What stands in it.
    var body: XMLText
    /// The same as a document.
    var json: [UInt8]
    /// Its list: columns, and rows of JSON values; nil: it has none.
    var rows: Rows?
    /// Events of the log that it was made from.
    var size: UInt64?
    /// The command that answers the same.
    var command: String?

    /// A list of a page, for whom reads it by a program.
    struct Rows: Sendable {
        /// The names of its columns.
        var columns: [String]
        /// A row's values, in the order of the columns.
        var cells: [[JSONValue]]
    }
}

extension Route {
    /// A page, which stands for whoever is signed in with one of some scopes.
    ///
    /// `parameters`: beyond those of every page.
    static func page(
        _ template: String,
        _ operation: String,
        _ summary: String,
        _ scopes: ScopeSet,
        parameters: [Parameter] = [],
        isLogged: Bool = false,
        _ make: @escaping @Sendable (Call, LedgerService) async throws -> Page
    ) -> Route {
        Route(
            method: .get,
            template: template,
            operation: operation,
            summary: summary,
            access: .page(scopes),
            parameters: Call.pageParameters + parameters,
            answers: [Reply(status: 200, text: "The page", shape: .text, mediaType: "text/html")],
            isLogged: isLogged,
            handler: { call, service in
                var call = call
                call.query = call.query.filled
                return try await call.answer(make(call, service), service)
            }
        )
    }

    /// What a form of a page sends, with the fields that it has.
    ///
    /// It is refused unless a page of ours, shown to the same person, made the form. `isLocal`: it changes nothing of
    /// the ledger; in a cluster another one is passed on to the machine that leads.
    static func form(
        _ template: String,
        _ operation: String,
        _ summary: String,
        _ access: Access,
        fields: [String],
        isLogged: Bool = false,
        isLocal: Bool = false,
        byteLimit: Int = RouteTable.smallBodyLimit,
        _ take: @escaping @Sendable (Call, Query, LedgerService) async throws -> Answer
    ) -> Route {
        Route(
            method: .post,
            template: template,
            operation: operation,
            summary: summary,
            access: access,
            parameters: Call.pageParameters,
            body: Body(shape: .text, byteLimit: byteLimit),
            answers: [Reply(status: 303, text: "Where to go on", shape: nil)],
            problems: isLocal ? [] : [.readOnly],
            isLogged: isLogged,
            isLocal: isLocal,
            handler: { call, service in
                try await take(call, call.form(fields, byteLimit: byteLimit), service)
            }
        )
    }

    /// Whether it is for people: what goes wrong is told in a page.
    var isPage: Bool {
        switch access {
        case .page, .visitor, .ownPage: true
        default: false
        }
    }
}

extension Answer {
    /// Sends a browser on, by GET.
    static func seeOther(_ path: String) -> Answer {
        var answer = Answer(status: 303, text: "", mediaType: "text/plain; charset=utf-8")
        answer.headers[.location] = path
        answer.shield()
        return answer
    }

    /// A page as it stands in a browser.
    init(status: Int = 200, html: String) {
        self.init(status: status, text: html, mediaType: "text/html; charset=utf-8")
        shield()
    }

    /// What a browser is told of every page: nothing from elsewhere, no frame around it, no trace of where
    /// it was.
    private mutating func shield() {
        headers[.contentSecurityPolicy] = Self.policy
        headers[.referrerPolicy] = "same-origin"
        headers[.crossOriginOpenerPolicy] = "same-origin"
        headers[.cacheControl] = "no-store"
    }

    private static let policy =
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
        + "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
}
