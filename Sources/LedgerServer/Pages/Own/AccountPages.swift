import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation

/// How a customer comes in, what is open to them, and what they may ask of us.
extension PageTable {
    static let ownPages: [Route] = historyPages + paywallPages + accountPages

    private static let accountPages: [Route] = [
        .ownPage(
            "/account",
            "showAccount",
            "What is open to the customer, and what they are known by.",
            parameters: [
                Route.Parameter(
                    name: "done",
                    text: "What came of a form",
                    shape: .choice([erasureNoted])
                )
            ],
            account
        ),
        .ownPage(
            "/account/export",
            "exportAccount",
            "Everything that is recorded of the customer, redacted (row 8.6).",
            export
        ),
        .form(
            "/account/session",
            "beginSession",
            "Lets a customer in whose app sends their token, and leads to a page.",
            .ownPage,
            fields: ["next"],
            isLocal: true,
            beginSession
        ),
        .ownForm(
            "/account/erasure",
            "askForErasure",
            "Notes that the customer asks to be erased.",
            fields: ["confirm"],
            askForErasure
        ),
        .form(
            "/account/logout",
            "leaveAccount",
            "Signs the customer out.",
            .ownPage,
            fields: [],
            isLocal: true
        ) { call, _, service in
            if let secret = service.access.cookie(in: call.headers, of: .customer) {
                service.access.sessions.end(secret)
            }
            var frame = PageFrame(
                title: AccountWords.signedOut[call.language],
                language: call.language
            )
            frame.isNarrow = true
            frame.own = PageFrame.Own(place: nil, carried: "")
            var answer = Answer(html: frame.html { _ in })
            answer.tellNobody()
            answer.headers[.setCookie] = PageCookie.header(
                "",
                isSecure: service.access.isSecure(call.headers),
                of: .customer
            )
            return answer
        },
    ]

    private static let erasureNoted = "erasure"

    @Sendable
    private static func account(
        _ call: Call,
        _ owner: CustomerID,
        _ service: LedgerService
    ) async throws -> Answer {
        let question = try call.ownQuestion(owner)
        let language = call.language
        let (state, text) = try await service.blocking {
            (
                try service.ledger.questions.show(question),
                try service.soldText(language, at: question.point)
            )
        }
        let frame = call.ownFrame(.account)
        var body = XMLText()
        AccountPage(
            text: text,
            customer: owner,
            state: state.answer.state,
            formToken: call.session?.formToken,
            frame: frame,
            hasAskedForErasure: call.query[.done] == erasureNoted
        )
        .write(to: &body)
        return try call.answer(
            OwnPage(
                title: OwnWords.account[language],
                frame: frame,
                body: body,
                json: state.text.bytes
            )
        )
    }

    @Sendable
    private static func export(
        _ call: Call,
        _ owner: CustomerID,
        _ service: LedgerService
    ) async throws -> Answer {
        let media: ExportMedia =
            switch call.format {
            case .html: .page
            case .csv: .table
            case .json, .ndjson: .lines
            }
        // As for a customer's own token (Interfaces, "Who may").
        var answer = try await service.export(of: call.ownQuestion(owner), .names, as: media)
        let ending =
            switch media {
            case .page: "html"
            case .table: "csv"
            case .lines: "ndjson"
            }
        answer.headers[.contentDisposition] = "attachment; filename=\"my-data.\(ending)\""
        answer.tellNobody()
        return answer
    }

    @Sendable
    private static func askForErasure(
        _ call: Call,
        _ form: Query,
        _ owner: CustomerID,
        _ service: LedgerService
    ) async throws -> Answer {
        guard form["confirm"] != nil else {
            throw Problem(.missingField, "confirm that you want it", path: "confirm")
        }
        _ = try await RouteTable.noteErasureRequest(of: owner, call, service)
        var answer = Answer.seeOther(call.ownFrame(.account).path("/account?done=" + erasureNoted))
        answer.tellNobody()
        return answer
    }

    @Sendable
    private static func beginSession(
        _ call: Call,
        _ form: Query,
        _ service: LedgerService
    ) async throws -> Answer {
        let path = form[.next].flatMap(ownPath) ?? PageFrame.Own.Place.account.path
        // A session begins no other one, which would go on after its own end and that of what let its customer in.
        guard call.session == nil else {
            var answer = Answer.seeOther(path)
            answer.tellNobody()
            return answer
        }
        return call.signedIn(as: try call.owner, at: path, service)
    }

    /// A page of a customer's own; nil: anything else.
    private static func ownPath(_ path: String) -> String? {
        let places = ["/paywall"] + PageFrame.Own.Place.allCases.map(\.path)
        let isOwn = places.contains { place in
            path == place || path.hasPrefix(place + "/") || path.hasPrefix(place + "?")
        }
        guard isOwn,
            path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return nil }
        return path
    }
}
