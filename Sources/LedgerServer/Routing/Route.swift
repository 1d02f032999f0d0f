import HTTPTypes
import LedgerAPI

/// One call of the HTTP interface: everything that the server, its documentation and its tests
/// know of it.
struct Route: Sendable {
    var method: HTTPRequest.Method
    /// Segments in braces are parameters, such as `/v1/customers/{id}`.
    var template: String
    /// Whether the last parameter takes the rest of the path, of some segments.
    var takesRest = false
    /// A name for programs, unique.
    var operation: String
    /// What it is for, in a sentence.
    var summary: String
    var access: Access
    var parameters: [Parameter] = []
    /// What the body holds; nil: none is read.
    var body: Body?
    /// Status codes of answers and their shapes.
    var answers: [Reply]
    /// Problems beyond those that every call of its access may meet.
    var problems: [ProblemCode] = []
    /// Whether keys of support and auditors leave an `access.logged` of the customer in the path.
    var isLogged = false
    /// Whether an app's backend asks it all day: a key that may read leaves no trace then.
    var isAskedByBackends = false
    /// Whether what it changes is this machine's alone, whoever leads a cluster.
    var isLocal = false
    /// Whether it may take hours, which whoever passes it on to the machine that leads waits for.
    var isLong = false
    var handler: @Sendable (Call, LedgerService) async throws -> Answer

    /// Who may call (Interfaces, "Who may").
    enum Access: Sendable {
        /// Anybody.
        case open
        /// Anybody, uncounted: health checks. A key with one of the scopes is told more.
        case health(ScopeSet)
        /// A store, by its secret, or by its signature, which the handler verifies.
        case store(Store)
        /// Keys with one of the scopes.
        case keys(ScopeSet)
        /// Keys with one of the scopes, and the customer whom the path names.
        case customer(ScopeSet)
        /// Keys with one of the scopes, and any customer; the handler sees to it that they reach
        /// themselves only (the evaluation context names the customer).
        case anyCustomer(ScopeSet)
        /// Keys with one of the scopes, and everybody where the log is public by configuration.
        case transparency(ScopeSet)
        /// Whoever is signed in to the pages with one of the scopes, or asks with such a key.
        case page(ScopeSet)
        /// Anybody, with a page: it lets in, or stands for everybody.
        case visitor
        /// A customer, with a page about themselves: whoever came in by a ticket or a token of theirs. Whom
        /// nobody let in reaches the handler as anonymous, for a ticket may be in the query (`Route.ownPage`).
        case ownPage

        /// Stores that send signals.
        enum Store { case appStore, playStore, revenueCat }
    }

    /// A query parameter or header.
    struct Parameter: Sendable {
        var name: String
        var place = Place.query
        var text: String
        var shape: Shape = .text
        var isRequired = false

        enum Place: String, Sendable { case query, header }
    }

    /// A request's body.
    struct Body: Sendable {
        var shape: Shape
        var byteLimit: Int
        /// Media types of lines of JSON, where those are taken, too; of them none is registered.
        var lineTypes: [String] = []
    }

    /// An answer that is not a problem.
    struct Reply: Sendable {
        var status: Int
        var text: String
        var shape: Shape?
        var mediaType = "application/json"
    }

    /// Whether it changes the ledger: in a cluster the machine that leads does it.
    var isChange: Bool { !isLocal && problems.contains(.readOnly) }

    /// The query parameters that are known.
    var queryNames: [String] { parameters.filter { $0.place == .query }.map(\.name) }
}
