import HTTPTypes
import LedgerAPI

/// One call of the HTTP interface: everything that the server, its documentation and its tests
/// know of it.
struct Route: Sendable {
    var method: HTTPRequest.Method
    /// Segments in braces are parameters, such as `/v1/customers/{id}`.
    var template: String
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
    var handler: @Sendable (Call, LedgerService) async throws -> Answer

    /// Who may call (interfaces.md, "Who may").
    enum Access: Sendable {
        /// Anybody.
        case open
        /// A store, which the handler knows by its signature or secret.
        case store
        /// Keys with one of the scopes.
        case keys(ScopeSet)
        /// Keys with one of the scopes, and the customer whom the path names.
        case customer(ScopeSet)
        /// Keys with one of the scopes, and any customer; the handler sees to it that they reach
        /// themselves only (the evaluation context names the customer).
        case anyCustomer(ScopeSet)
    }

    /// A query parameter or header.
    struct Parameter: Sendable {
        var name: String
        var place = Place.query
        var text: String
        var shape: Shape = .text

        enum Place: String, Sendable { case query, header }
    }

    /// A request's body.
    struct Body: Sendable {
        var shape: Shape
        var byteLimit: Int
    }

    /// An answer that is not a problem.
    struct Reply: Sendable {
        var status: Int
        var text: String
        var shape: Shape?
        var mediaType = "application/json"
    }

    /// The query parameters that are known.
    var queryNames: [String] { parameters.filter { $0.place == .query }.map(\.name) }
}

/// Finds the route of a path.
///
/// Hummingbird's router neither decodes parameters nor tells a wrong method from a wrong path, and
/// both decide what is refused here.
struct RouteMatcher: Sendable {
    private struct Entry: Sendable {
        var segments: [Segment]
        var routes: [Route]
    }

    private enum Segment: Sendable, Equatable {
        case literal([UInt8])
        case parameter(String)
    }

    private var entries: [Int: [Entry]] = [:]

    init(_ routes: [Route]) {
        for route in routes {
            let segments = Self.segments(of: route.template)
            var sameLength = entries[segments.count] ?? []
            if let index = sameLength.firstIndex(where: { $0.segments == segments }) {
                sameLength[index].routes.append(route)
            } else {
                sameLength.append(Entry(segments: segments, routes: [route]))
            }
            entries[segments.count] = sameLength
        }
    }

    private static func segments(of template: String) -> [Segment] {
        template.split(separator: "/").map { segment in
            segment.hasPrefix("{")
                ? .parameter(String(segment.dropFirst().dropLast())) : .literal(Array(segment.utf8))
        }
    }

    /// What a path leads to.
    enum Match {
        case route(Route, [String: String])
        case otherMethods([HTTPRequest.Method])
        case nothing
    }

    /// Finds a path, as it was sent.
    ///
    /// `.` and `..` are nobody's name, encoded or not, so that no path means another one to a
    /// proxy before us.
    func match(_ method: HTTPRequest.Method, _ path: String) throws(Problem) -> Match {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .dropFirst()
        guard let entry = entries[parts.count]?.first(where: { Self.fits($0.segments, parts) })
        else { return .nothing }
        var values: [String: String] = [:]
        for (segment, part) in zip(entry.segments, parts) {
            guard case .parameter(let name) = segment else { continue }
            guard let value = PercentCoding.decode(part) else {
                throw Problem(.invalidRequest, "the path is not percent-encoded UTF-8")
            }
            guard value != ".", value != ".." else {
                throw Problem(.invalidRequest, "a path has no relative segments")
            }
            values[name] = value
        }
        let wanted = method == .head ? .get : method
        guard let route = entry.routes.first(where: { $0.method == wanted }) else {
            return .otherMethods(entry.routes.map { $0.method })
        }
        return .route(route, values)
    }

    private static func fits(
        _ segments: [Segment],
        _ parts: ArraySlice<Substring.UTF8View>
    ) -> Bool {
        zip(segments, parts).allSatisfy { segment, part in
            switch segment {
            case .literal(let bytes): part.elementsEqual(bytes)
            case .parameter: !part.isEmpty
            }
        }
    }
}
