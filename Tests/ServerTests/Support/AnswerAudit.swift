import Encodings
import Entitlements
import HTTPTypes
import LedgerAPI
import Synchronization
import Testing

@testable import LedgerServer

/// Holds answers against the interface description: status, media type and shape.
///
/// It also collects the names that a test sends, so that none may be found in the log.
final class AnswerAudit: Sendable {
    private let state = Mutex(State())

    private struct State {
        var findings: [String] = []
        /// What the signed samples hold, and whatever else is sent.
        var names: Set<String> = ["2000000100000001", AppStoreWorld.account, "webhook-secret"]
    }

    private static let document = OpenAPIDocument.document(of: RouteTable.routes)
    private static let matcher = RouteMatcher(RouteTable.routes)
    private static let pages = RouteMatcher(PageTable.routes + PageTable.simulatorPages)
    /// Shorter texts stand in words that name nobody.
    private static let shortestID = 5
    private static let shortestText = 8
    /// Words of the interface that logs and metrics may hold.
    private static let vocabulary: Set<String> = ["app_store"]

    var findings: [String] { state.withLock { $0.findings } }
    var names: Set<String> { state.withLock { $0.names } }

    /// Adds who, and which grants, a path names.
    private func add(namesIn path: PathValues) {
        for name in [path[.id], path[.grantID]].compactMap(\.self) { add(name: name) }
    }

    /// Takes a credential or an id.
    func add(name: String) {
        if name.utf8.count >= Self.shortestID { state.withLock { _ = $0.names.insert(name) } }
    }

    func expectNoFindings() {
        let findings = Set(findings)
        #expect(findings.isEmpty, "\(findings.sorted().joined(separator: "\n"))")
    }

    /// Looks at one answer.
    func look(
        at answer: TestAnswer,
        to method: HTTPRequest.Method,
        _ uri: String,
        sent body: String?
    ) {
        // What a browser asks beforehand is no operation that is described.
        if method == .options, answer.status == 204 { return }
        // RFC 9110, section 15.5.2
        if answer.status == 401, answer.headers[.wwwAuthenticate] == nil {
            state.withLock { $0.findings.append("\(method) \(uri): 401 without a challenge") }
        }
        if look(atPage: answer, to: method, uri) { return }
        if let body, let json = try? JSONValue(parsing: Array(body.utf8)) { collect(json) }
        let path = String(uri.prefix { $0 != "?" })
        // Pages are for people: what they hold is theirs to test.
        if PagePath(path, query: nil) != nil || path.hasPrefix("/assets/") { return }
        let found: [String]
        if case .route(let target, let values)? = try? Self.matcher.match(method, path) {
            add(namesIn: values)
            found = Self.findings(in: answer, target.route, isHead: method == .head)
        } else {
            found = Self.problemFindings(answer, isHead: method == .head)
        }
        state.withLock { $0.findings += found.map { "\(method) \(path) \(answer.status): \($0)" } }
    }

    /// Looks at an answer of the pages: what a browser must be told of each stands in its head; false: the
    /// path is not theirs.
    private func look(
        atPage answer: TestAnswer,
        to method: HTTPRequest.Method,
        _ uri: String
    ) -> Bool {
        let path = uri.prefix { $0 != "?" }
        let query = uri.dropFirst(path.count + 1)
        guard let page = PagePath(String(path), query: String(query)),
            case .route(let target, let values)? = try? Self.pages.match(method, page.path),
            target.route.isPage
        else { return false }
        add(namesIn: values)
        // What is taken away as a file is shown by no page of ours.
        guard answer.headers[.contentType]?.hasPrefix("text/html") == true,
            answer.headers[.contentDisposition]?.hasPrefix("attachment") != true
        else { return true }
        let policy = answer.headers[.contentSecurityPolicy] ?? ""
        let isShielded =
            policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe-inline")
            && answer.headers[.cacheControl] == "no-store"
        if !isShielded { state.withLock { $0.findings.append("\(uri): not shielded") } }
        return true
    }

    private func collect(_ json: JSONValue) {
        switch json {
        case .string(let text):
            if text.utf8.count >= Self.shortestText, !Self.vocabulary.contains(text) {
                add(name: text)
            }
        case .array(let values): values.forEach(collect)
        case .object(let members): members.map(\.value).forEach(collect)
        default: break
        }
    }

    /// What an answer has that its operation's description does not.
    static func findings(in answer: TestAnswer, _ route: Route, isHead: Bool) -> [String] {
        let operation = document["paths"]?[route.template]?[
            route.method.rawValue.lowercased()
        ]
        guard let response = operation?["responses"]?[String(answer.status)] else {
            return ["the status is not documented for \(route.operation)"]
        }
        let type = answer.headers[.contentType]
        guard let content = response["content"] else {
            return answer.body.isEmpty && type == nil ? [] : ["a body that is not documented"]
        }
        if isHead { return answer.body.isEmpty ? [] : ["HEAD has a body"] }
        if type == ProblemAnswer.mediaType { return problemFindings(answer, isHead: false) }
        guard let type, let schema = content[type]?["schema"] else {
            return ["the media type \(type ?? "-") is not documented"]
        }
        guard type == "application/json" else { return [] }
        guard let json = try? JSONValue(parsing: Array(answer.body.utf8)) else {
            return ["the body is not JSON"]
        }
        return SchemaCheck(root: document).faults(of: json, schema)
    }

    /// What a problem document lacks (RFC 9457; rows 2.5, 8.2).
    private static func problemFindings(_ answer: TestAnswer, isHead: Bool) -> [String] {
        guard answer.headers[.contentType] == ProblemAnswer.mediaType else {
            return ["it is no problem document"]
        }
        if isHead { return [] }
        guard let code = answer.code.flatMap(ProblemCode.init(rawValue:)) else {
            return ["the code \(answer.code ?? "-") is not of the closed set"]
        }
        var faults = SchemaCheck(root: document).faults(
            of: answer.json,
            document["components"]?["schemas"]?["Problem"] ?? .null
        )
        if code.status != answer.status { faults.append("\(code) has another status") }
        if answer.json["status"]?.integer != Int64(answer.status) { faults.append("status") }
        if answer.json["title"]?.string != code.title { faults.append("title") }
        if answer.json["retryable"]?.bool != code.isRetryable { faults.append("retryable") }
        if answer.json["requestId"]?.string != answer.headers[.requestID] {
            faults.append("requestId")
        }
        return faults
    }
}

/// As much of JSON Schema 2020-12 as the descriptions use.
struct SchemaCheck {
    /// Where `#/…` leads.
    let root: JSONValue

    /// Where a value departs from a schema.
    func faults(of value: JSONValue, _ schema: JSONValue, at path: String = "$") -> [String] {
        if let reference = schema["$ref"]?.string {
            guard let target = target(reference) else {
                return ["\(path): \(reference) is nowhere"]
            }
            return faults(of: value, target, at: path)
        }
        if let choices = schema["anyOf"]?.array {
            let fits = choices.contains { faults(of: value, $0, at: path).isEmpty }
            return fits ? [] : ["\(path): none of the shapes"]
        }
        if let words = schema["enum"]?.array, !words.contains(value) {
            return ["\(path): not one of the words"]
        }
        guard let type = schema["type"]?.string else { return [] }
        switch (type, value) {
        case ("string", .string), ("boolean", .bool), ("null", .null): return []
        case ("integer", .number): return value.integer == nil ? ["\(path): no integer"] : []
        case ("number", .number): return []
        case ("array", .array(let elements)):
            return elements.enumerated().flatMap {
                faults(of: $1, schema["items"] ?? .object([]), at: "\(path)[\($0)]")
            }
        case ("object", .object(let members)):
            return faults(ofMembers: members, schema, at: path)
        default: return ["\(path): expected \(type)"]
        }
    }

    private func faults(
        ofMembers members: [JSONMember],
        _ schema: JSONValue,
        at path: String
    ) -> [String] {
        let required = (schema["required"]?.array ?? []).compactMap(\.string)
        var faults = required.filter { name in !members.contains { $0.name == name } }
            .map { "\(path).\($0): missing" }
        for member in members {
            let place = "\(path).\(member.name)"
            if let known = schema["properties"]?[member.name] {
                faults += self.faults(of: member.value, known, at: place)
            } else if let further = schema["additionalProperties"] {
                faults += self.faults(of: member.value, further, at: place)
            } else if schema["properties"] != nil {
                faults.append("\(place): not described")
            }
        }
        return faults
    }

    private func target(_ reference: String) -> JSONValue? {
        guard reference.hasPrefix("#/") else { return nil }
        return reference.dropFirst(2).split(separator: "/")
            .reduce(root as JSONValue?) { $0?[String($1)] }
    }
}
