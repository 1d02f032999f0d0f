import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// Why a customer has or lacks a feature (row Z2).
extension RouteTable {
    static let explainRoutes = [
        Route(
            method: .get,
            template: "/v1/customers/{id}/explain",
            operation: "explainFeature",
            summary: "Why a customer has or lacks a feature, and what would change it.",
            access: .customer([.read, .support]),
            parameters: pointParameters + [
                Route.Parameter(name: "feature", text: "The feature's id", isRequired: true),
                Route.Parameter(
                    name: "for",
                    text:
                        "Who reads the sentences (default: developer; by a customer's token: customer)",
                    shape: .choice(audiences)
                ),
                Route.Parameter(
                    name: "lang",
                    text: "Their language (default: as Accept-Language says)",
                    shape: .choice(languages)
                ),
                Route.Parameter(
                    name: "zone",
                    text: "The time zone in which they tell instants (default: UTC)"
                ),
            ],
            answers: replies(.described(ExplanationAnswer.self)),
            problems: questionProblems + [.missingField, .unknownFeature],
            isLogged: true,
            handler: explain
        )
    ]

    static let audiences = Audience.allCases.map(\.rawValue)
    static let languages = Language.allCases.map(\.rawValue)

    @Sendable
    private static func explain(_ call: Call, _ service: LedgerService) async throws -> Answer {
        guard let feature = call.query[.feature] else {
            throw Problem(.missingField, "required", path: "feature")
        }
        let audience = try audience(call)
        let language =
            try choice(call, "lang") { Language(rawValue: $0) }
            ?? Language(acceptLanguage: call.headers[.acceptLanguage])
        let zone = try zone(call, service)
        let written = try await written(call, service) { ledger, question in
            let explained = try ledger.questions.explain(
                feature,
                question,
                to: audience,
                in: language,
                zone
            )
            switch explained {
            case .explained(let answer): return Written(answer)
            case .unknownFeature(let near):
                throw Problem(unknownFeatureNear: near, path: "feature")
            }
        }
        return answer(call, written, validUntil: .some(written.validUntil))
    }

    /// A customer's own token is answered in the words for customers alone.
    private static func audience(_ call: Call) throws(Problem) -> Audience {
        let asked = try choice(call, "for") { Audience(rawValue: $0) }
        guard call.visibility == .own else { return asked ?? .developer }
        guard asked ?? .customer == .customer else {
            throw Problem(.forbidden, "a customer's token asks for customer", path: "for")
        }
        return .customer
    }

    private static func zone(
        _ call: Call,
        _ service: LedgerService
    ) throws(Problem) -> NamedZone {
        guard let name = call.query["zone"] else { return .utc }
        guard let zone = service.timeZone(name) else {
            throw Problem(
                .invalidValue,
                "expected a name of the zone database, such as Europe/Berlin",
                path: "zone"
            )
        }
        return zone
    }

    /// A parameter that is one of some words; nil: it was not sent.
    static func choice<Choice>(
        _ call: Call,
        _ name: String,
        _ read: (String) -> Choice?
    ) throws(Problem) -> Choice? {
        guard let text = call.query[name] else { return nil }
        guard let choice = read(text) else {
            throw Problem(.invalidValue, "expected another word", path: name)
        }
        return choice
    }
}

extension Problem {
    /// A feature that no catalog lists.
    ///
    /// `near`: the names that may be meant. `path`: the parameter that it was given by; nil: the address.
    init(unknownFeatureNear near: [String], path: String? = nil) {
        let hint = near.isEmpty ? "" : "; near it: " + near.joined(separator: ", ")
        self.init(.unknownFeature, "no catalog lists such a feature" + hint, path: path)
    }
}
