import Encodings
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations

/// The interface description (OpenAPI 3.1), made from the table of routes.
enum OpenAPIDocument {
    /// The document for a table.
    static func document(of routes: [Route]) -> JSONValue {
        var paths: [(template: String, operations: [JSONMember])] = []
        for route in routes {
            let member = JSONMember(route.method.rawValue.lowercased(), operation(route))
            if let index = paths.firstIndex(where: { $0.template == route.template }) {
                paths[index].operations.append(member)
            } else {
                paths.append((route.template, [member]))
            }
        }
        return .members([
            "openapi": "3.1.1",
            "info": .members([
                "title": "entitlement-ledger",
                "version": .string(ProductVersion.current),
                "summary": "What was this customer entitled to at T, as known at R, and why?",
            ]),
            "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
            "paths": .object(paths.map { JSONMember($0.template, .object($0.operations)) }),
            "webhooks": .members(["told": .members(["post": told])]),
            "components": .members([
                "schemas": .object(Shapes.named.map { JSONMember($0.name, $0.shape.schema) }),
                "securitySchemes": .members([
                    "key": .members([
                        "type": "http", "scheme": "bearer",
                        "description": "An API key, or a customer's token (JWT)",
                    ]),
                    "keyHeader": .members([
                        "type": "apiKey", "in": "header", "name": "X-API-Key",
                    ]),
                ]),
            ]),
        ])
    }

    /// What a webhook is sent (Interfaces, "Webhooks").
    private static let told = JSONValue.members([
        "operationId": "tellWebhook",
        "summary":
            "A CloudEvent, signed as Standard Webhooks 1.0.0 say: an event, a change of access or an alert.",
        "requestBody": .members([
            "required": .bool(true),
            "content": content([(WebhookMessage.mediaType, message)]),
        ]),
        "responses": .members([
            "2XX": .members(["description": "Taken"]),
            "410": .members(["description": "Gone: nothing is sent any more until it is enabled"]),
            "default": .members(["description": "Not taken: it is sent again"]),
        ]),
    ])

    private static let message = Shape.either([
        .file("event", "A CloudEvent"),
        .object([
            Shape.Member("specversion", .text), Shape.Member("id", .text),
            Shape.Member("source", .text),
            Shape.Member("type", .choice([Notice.changeType])),
            Shape.Member("time", .instant), Shape.Member("datacontenttype", .text),
            Shape.Member("subject", .text), Shape.Member("environment", .text),
            Shape.Member("data", .described(EntitlementChanged.self)),
        ]),
        .object([
            Shape.Member("specversion", .text), Shape.Member("id", .text),
            Shape.Member("source", .text),
            Shape.Member("type", .choice([Notice.alertType])),
            Shape.Member("time", .instant), Shape.Member("datacontenttype", .text),
            Shape.Member("environment", .text),
            Shape.Member("data", .described(LedgerAlert.self)),
        ]),
    ])

    private static func operation(_ route: Route) -> JSONValue {
        var members = [
            JSONMember("operationId", .string(route.operation)),
            JSONMember("summary", .string(route.summary)),
        ]
        if let rights = rights(route) { members.append(JSONMember("description", .string(rights))) }
        let parameters = pathParameters(route) + route.allParameters.map(parameter)
        if !parameters.isEmpty { members.append(JSONMember("parameters", .array(parameters))) }
        if let body = route.body {
            let lines = body.lineTypes.map { (mediaType: $0, shape: Shape.text) }
            members.append(
                JSONMember(
                    "requestBody",
                    .members([
                        "required": .bool(true),
                        "content": content(
                            [(mediaType: "application/json", shape: body.shape)] + lines
                        ),
                    ])
                )
            )
        }
        members.append(JSONMember("responses", .object(responses(route))))
        members.append(JSONMember("security", security(route)))
        return .object(members)
    }

    private static func rights(_ route: Route) -> String? {
        switch route.access {
        case .open, .visitor: nil
        case .ownPage: "Customers for themselves."
        case .health(let scopes):
            scopes.isEmpty ? nil : "For everybody; the reasons for keys with: \(names(scopes))."
        case .store(.appStore): "For the store: known by its signature."
        case .store: "For the store: known by its signature or secret; or keys with: ingest."
        case .keys(let scopes), .page(let scopes): "Keys with: \(names(scopes))."
        case .transparency(let scopes):
            "Keys with: \(names(scopes)); everybody where the log is public."
        case .customer(let scopes), .anyCustomer(let scopes):
            "Keys with: \(names(scopes)); customers for themselves."
        }
    }

    private static func names(_ scopes: ScopeSet) -> String {
        scopes.named.map(\.rawValue).joined(separator: ", ")
    }

    private static func security(_ route: Route) -> JSONValue {
        switch route.access {
        case .open, .visitor, .store: .array([])
        case .health(let scopes) where scopes.isEmpty: .array([])
        case .health:
            // The empty one: without a credential (OpenAPI 3.1, section 4.8.10).
            .array([
                .members([:]), .members(["key": .array([])]), .members(["keyHeader": .array([])]),
            ])
        default:
            .array([.members(["key": .array([])]), .members(["keyHeader": .array([])])])
        }
    }

    private static func pathParameters(_ route: Route) -> [JSONValue] {
        route.template.split(separator: "/").filter { $0.hasPrefix("{") }.map { segment in
            .members([
                "name": .string(String(segment.dropFirst().dropLast())), "in": "path",
                "required": .bool(true), "schema": Shape.identifier.schema,
            ])
        }
    }

    private static func parameter(_ parameter: Route.Parameter) -> JSONValue {
        .members([
            "name": .string(parameter.name), "in": .string(parameter.place.rawValue),
            "required": .bool(parameter.isRequired),
            "description": .string(parameter.text),
            "schema": parameter.shape.schema,
        ])
    }

    private static func responses(_ route: Route) -> [JSONMember] {
        let problems = Dictionary(grouping: route.allProblems, by: \.status)
        let statuses = Set(route.answers.map(\.status))
        var byStatus: [(status: Int, value: JSONValue)] = statuses.compactMap { status in
            let replies = route.answers.filter { $0.status == status }
            guard let reply = replies.first else { return nil }
            var members = [JSONMember("description", .string(reply.text))]
            var kinds = replies.compactMap { reply in reply.shape.map { (reply.mediaType, $0) } }
            if !kinds.isEmpty {
                // A refusal in another protocol's form stands beside ours.
                if problems[reply.status] != nil {
                    kinds.append((ProblemAnswer.mediaType, .named("Problem")))
                }
                members.append(JSONMember("content", content(kinds)))
            }
            return (reply.status, .object(members))
        }
        for (status, codes) in problems where !byStatus.contains(where: { $0.status == status }) {
            let names = codes.map(\.rawValue).sorted().joined(separator: ", ")
            byStatus.append(
                (
                    status,
                    .members([
                        "description": .string(names),
                        "content": content([(ProblemAnswer.mediaType, .named("Problem"))]),
                    ])
                )
            )
        }
        return byStatus.sorted { $0.status < $1.status }
            .map { JSONMember(String($0.status), $0.value) }
    }

    private static func content(_ kinds: [(mediaType: String, shape: Shape)]) -> JSONValue {
        .object(kinds.map { JSONMember($0.mediaType, .members(["schema": $0.shape.schema])) })
    }
}

extension Route {
    /// Every problem that a call may meet.
    var allProblems: Set<ProblemCode> {
        var codes: Set<ProblemCode> = [
            .invalidRequest, .headTooLarge, .unknownParameter, .invalidValue, .rateLimited,
            .internal, .storage, .storageFull, .busy, .noLeader,
        ]
        switch access {
        case .open, .visitor, .health: break
        case .ownPage: codes.formUnion([.unauthenticated, .forbidden])
        case .store: codes.formUnion([.unauthenticated])
        case .keys, .page, .transparency: codes.formUnion([.unauthenticated, .forbidden])
        case .customer, .anyCustomer:
            codes.formUnion([.unauthenticated, .forbidden, .notFound])
        }
        if body != nil {
            codes.formUnion([
                .malformed, .missingField, .unknownField, .outOfRange, .tooLarge,
                .unsupportedMediaType,
            ])
        }
        if parameters.contains(where: { $0.name == RouteTable.minimumSequence.name }) {
            codes.formUnion([.behind, .otherHistory])
        }
        return codes.union(problems)
    }
}
