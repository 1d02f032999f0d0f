import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation

/// One request, read and admitted: what a route's handler works with.
struct Call: Sendable {
    var path: PathValues
    var query: Query
    var headers: HTTPFields
    var body: [UInt8]
    var caller: Caller
    /// When it came in.
    var now: Instant
    /// Names the request in logs and problems; says nothing about anybody.
    var requestID: String
    /// Who is signed in, of a page; nil: nobody, or a key asks.
    var session: PageSessions.Session?
    /// The pages that the server has.
    var pages = PageTable.routes
    /// The form in which a page is asked for.
    var format = PageFormat.html
    /// The path as it was sent, without the form of a page.
    var rawPath = ""

    /// The customer whom the path names: it was checked before the call was made.
    var customer: CustomerID {
        get throws(Problem) {
            guard let id = path.customer else { throw Problem(.notFound) }
            return id
        }
    }

    /// Who is answered.
    var visibility: Visibility {
        if case .customer = caller { return .own }
        return .everything
    }

    /// The question about the customer whom the path names.
    func question() throws(Problem) -> CustomerQuestion {
        CustomerQuestion(
            customer: try customer,
            environment: try environment(),
            point: try point(),
            visibility: visibility
        )
    }

    /// The environment that is asked about.
    func environment() throws(Problem) -> StoreEnvironment {
        guard let name = query[.environment] else { return .production }
        guard let environment = StoreEnvironment(name: name) else {
            throw Problem(
                .invalidValue,
                "expected production, sandbox or local",
                path: "environment"
            )
        }
        return environment
    }

    /// Whether nothing is to be recorded.
    func isDryRun() throws(Problem) -> Bool { try flag(.dryRun) }

    /// A parameter that is true or false; false where it was not sent.
    func flag(_ name: QueryName) throws(Problem) -> Bool {
        guard let text = query[name] else { return false }
        guard let flag = Bool(text) else {
            throw Problem(.invalidValue, "expected true or false", path: name.rawValue)
        }
        return flag
    }

    /// T and R: `at`, and `known` or `knownSequence`.
    func point() throws(Problem) -> BitemporalPoint {
        try point(at: "at", "known", "knownSequence")
    }

    /// T and R by the names of their parameters.
    func point(
        at atName: String,
        _ knownName: String,
        _ sequenceName: String
    ) throws(Problem) -> BitemporalPoint {
        try query.point(at: atName, knownName, sequenceName, now: now)
    }

    /// Whether T moves with the clock, so that the answer may change without a new event.
    var asksNow: Bool { query[.at].map { $0 == "now" } ?? true }

    /// An instant, a date or `now`.
    func instant(_ text: String, _ name: String) throws(Problem) -> Instant {
        try Query.instant(text, name, now: now)
    }

    /// The body as a JSON object with no members but these.
    func object(_ known: String...) throws(Problem) -> JSONValue { try object(of: known) }

    /// The same, of members that a list names.
    func object(of known: [String]) throws(Problem) -> JSONValue {
        let value = try json()
        guard case .object = value else { throw Problem(.malformed, "expected a JSON object") }
        try value.requireNone(besides: known)
        return value
    }

    /// The body as JSON, read strictly.
    func json() throws(Problem) -> JSONValue {
        do throws(JSONFault) {
            return try JSONValue(parsing: body, placeLimit: JSONText.placeLimit(of: body))
        } catch {
            throw Problem(notJSON: error)
        }
    }

    /// The body of a store's message as JSON: it is not lost for a text that is not well-formed
    /// (Stores, rule 6).
    func storeJSON() throws(Problem) -> JSONValue {
        do throws(JSONFault) {
            return try JSONValue(parsingStoreText: body, placeLimit: JSONText.placeLimit(of: body))
        } catch {
            throw Problem(notJSON: error)
        }
    }

    /// The smallest sequence that the answer must be made from (read your writes).
    func minimumSequence() throws(Problem) -> LogPlace? {
        try headers[.ledgerMinSequence].map { text throws(Problem) in
            guard let place = LogPlace(text) else {
                throw Problem(
                    .invalidValue,
                    "expected what an answer's Ledger-Sequence said",
                    path: HTTPField.Name.ledgerMinSequence.rawName
                )
            }
            return place
        }
    }
}

extension JSONValue {
    /// Refuses an object with other members than these.
    func requireNone(besides known: [String]) throws(Problem) {
        guard members?.contains(where: { !known.contains($0.name) }) == true else { return }
        throw Problem(.unknownField, "this call takes: " + known.joined(separator: ", "))
    }

    /// The elements of a list that must be there.
    func list(_ name: String) throws(Problem) -> [JSONValue] {
        guard let elements = self[name]?.array else {
            throw Problem(.missingField, "expected a list", path: name)
        }
        return elements
    }

    /// A text member that must be there.
    func required(_ name: String) throws(Problem) -> String {
        guard let value = self[name] else { throw Problem(.missingField, "required", path: name) }
        guard let text = value.string else {
            throw Problem(.invalidValue, "expected text", path: name)
        }
        return text
    }
}

extension Problem {
    fileprivate init(notJSON fault: JSONFault) {
        self.init(.malformed, "not JSON at byte \(fault.offset): \(fault.message)")
    }
}
