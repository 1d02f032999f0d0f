import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation

/// How somebody comes in to the console, and goes out.
extension PageTable {
    static let loginPages = [
        Route(
            method: .get,
            template: "/console/login",
            operation: "showLogin",
            summary: "Lets in by a key, or by a link that `entitle console` printed.",
            access: .visitor,
            parameters: Call.pageParameters + [
                Route.Parameter(name: "code", text: "What the link holds"),
                Route.Parameter(name: "next", text: "The page that was asked for"),
            ],
            answers: [
                Route.Reply(status: 200, text: "The page", shape: .text, mediaType: "text/html")
            ],
            handler: { call, _ in loginPage(call, wasRefused: false) }
        ),
        .form(
            "/console/login",
            "signIn",
            "Signs in.",
            .visitor,
            fields: ["key", "code", "next", "username"],
            isLocal: true,
            signIn
        ),
        .form(
            "/console/logout",
            "signOut",
            "Signs out.",
            .visitor,
            fields: [],
            isLocal: true
        ) { call, _, service in
            if let secret = service.access.cookie(in: call.headers) {
                service.access.sessions.end(secret)
            }
            var answer = Answer.seeOther("/console/login")
            answer.headers[.setCookie] = PageCookie.header(
                "",
                isSecure: service.access.isSecure(call.headers)
            )
            return answer
        },
    ]

    @Sendable
    private static func signIn(
        _ call: Call,
        _ form: Query,
        _ service: LedgerService
    ) async throws -> Answer {
        let caller: Caller?
        if let code = form[.code] {
            caller = service.access.sessions.redeem(code, at: call.now)
        } else {
            caller = service.access.caller(ofKey: form[.key] ?? "", at: call.now)
        }
        guard let caller else { return loginPage(call, next: form[.next], wasRefused: true) }
        // Whoever was signed in before is not any more.
        if let former = service.access.cookie(in: call.headers) {
            service.access.sessions.end(former)
        }
        let secret = service.access.sessions.begin(as: caller, at: call.now)
        var answer = Answer.seeOther(consolePath(form[.next]) ?? "/console")
        answer.headers[.setCookie] = PageCookie.header(
            secret,
            isSecure: service.access.isSecure(call.headers)
        )
        return answer
    }

    /// A page of ours; nil: anything else, as a link from elsewhere may name it.
    private static func consolePath(_ path: String?) -> String? {
        guard let path,
            path == "/console" || path.hasPrefix("/console/") || path.hasPrefix("/console?"),
            path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return nil }
        return path
    }

    private static func loginPage(_ call: Call, next: String? = nil, wasRefused: Bool) -> Answer {
        let language = call.language
        var frame = PageFrame(title: LoginWords.title(in: language), language: language)
        frame.isNarrow = true
        let page = LoginPage(
            language: language,
            code: wasRefused ? nil : call.query[.code],
            next: next ?? call.query[.next],
            wasRefused: wasRefused,
            formToken: call.session?.formToken
        )
        return Answer(status: wasRefused ? 403 : 200, html: frame.html { page.write(to: &$0) })
    }
}
