import Encodings
import EntitlementClient
import Entitlements
import LedgerAPI
import Synchronization

/// Answers as a server does, or as a test says, and counts what it is asked.
final class ScriptedServer: Sendable {
    private struct State {
        var isAway = false
        var isTokenRefused = false
        var end: Instant? = noon.plus(days: 30)
        var at = noon
        var sequence: UInt64 = 7
        var requests: [ClientRequest] = []
        /// Answers in place of its own, by the end of a path.
        var answers: [(path: String, answer: ClientResponse)] = []
        var authority: SnapshotAuthority
        /// What was recorded: the keys under which each signed transaction came.
        var recorded: [Name: Set<Name>] = [:]
        /// The bodies of flows.
        var flows: [JSONValue] = []
        /// What waits before an answer.
        var holds: [CheckedContinuation<Void, Never>] = []
        /// The path of what waits; nil: nothing does.
        var heldPath: String?
    }

    private let state: Mutex<State>

    init(_ authority: SnapshotAuthority = SnapshotAuthority()) {
        state = Mutex(State(authority: authority))
    }

    /// Nobody is reached.
    var isAway: Bool {
        get { state.withLock { $0.isAway } }
        set { state.withLock { $0.isAway = newValue } }
    }
    var isTokenRefused: Bool {
        get { state.withLock { $0.isTokenRefused } }
        set { state.withLock { $0.isTokenRefused = newValue } }
    }
    var requests: [ClientRequest] { state.withLock { $0.requests } }
    var authority: SnapshotAuthority {
        get { state.withLock { $0.authority } }
        set { state.withLock { $0.authority = newValue } }
    }

    /// The keys under which what was signed came, of what was recorded.
    var recorded: [Name: Set<Name>] { state.withLock { $0.recorded } }
    /// What was told of flows, by their types in order.
    var flows: [JSONValue] { state.withLock { $0.flows } }

    /// How often a path with an end was asked for.
    func count(_ path: String) -> Int { requests.count { $0.url.contains(path) } }

    /// What the next snapshots say.
    func set(until end: Instant?, at instant: Instant = noon, sequence: UInt64 = 7) {
        state.withLock { ($0.end, $0.at, $0.sequence) = (end, instant, sequence) }
    }

    /// Answers a path in another way; nil: as before.
    func answer(_ path: String, _ response: ClientResponse?) {
        state.withLock { state in
            state.answers.removeAll { $0.path == path }
            if let response { state.answers.append((path, response)) }
        }
    }

    /// Lets calls of a path wait until ``release()``.
    func hold(_ path: String = "/snapshot") { state.withLock { $0.heldPath = path } }
    /// How many calls wait.
    var heldCount: Int { state.withLock { $0.holds.count } }
    /// Answers what waits; `isOver`: and what comes.
    func release(isOver: Bool = true) {
        let holds = state.withLock { state in
            if isOver { state.heldPath = nil }
            defer { state.holds = [] }
            return state.holds
        }
        for hold in holds { hold.resume() }
    }

    /// A problem document.
    static func problem(_ code: ProblemCode, retryAfter: Int? = nil) -> ClientResponse {
        let answer = ProblemAnswer(Problem(code), in: .english, requestID: "r")
        var headers: [Name: String] = [:]
        headers["retry-after"] = retryAfter.map(String.init)
        return ClientResponse(
            status: code.status,
            headers: headers,
            body: AnswerText(answer).bytes
        )
    }

    var transport: ClientTransport {
        { [self] request in
            state.withLock { $0.requests.append(request) }
            await waitWhereHeld(request)
            return response(to: request)
        }
    }

    private func waitWhereHeld(_ request: ClientRequest) async {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                guard let path = state.heldPath, request.url.contains(path) else { return false }
                state.holds.append(continuation)
                return true
            }
            if !isHeld { continuation.resume() }
        }
    }

    private func response(to request: ClientRequest) -> ClientResponse? {
        let state = state.withLock { $0 }
        if state.isAway { return nil }
        if let answer = state.answers.first(where: { request.url.contains($0.path) }) {
            return answer.answer
        }
        func ok(_ text: String) -> ClientResponse {
            ClientResponse(status: 200, body: Array(text.utf8))
        }
        if request.url.hasSuffix("/jwks.json") { return ok(state.authority.jwks) }
        if state.isTokenRefused { return Self.problem(.unauthenticated) }
        if request.url.contains("/v1/catalog/gates") { return ok(gateText) }
        if request.method == .post { return recorded(request) }
        guard request.url.contains("/snapshot"),
            let name = request.url.split(separator: "/").dropLast().last,
            let customer = CustomerID(String(name)),
            // A test's own key signs.
            let text = try? state.authority.snapshot(
                of: customer,
                at: state.at,
                until: state.end,
                sequence: state.sequence
            )
        else { return Self.problem(.notFound) }
        return ok(text)
    }

    /// Records what is handed in, which opens what is sold; each key counts once.
    private func recorded(_ request: ClientRequest) -> ClientResponse? {
        guard let body = try? JSONValue(parsing: request.body ?? []),
            let key = request.headers["Idempotency-Key"]
        else { return Self.problem(.malformed) }
        let items = body["transactions"]?.array ?? [body]
        let size = state.withLock { state in
            if body["flowId"] != nil { state.flows.append(body) }
            for signed in items.compactMap({ $0["signedTransaction"]?.string }) {
                state.recorded[Name(signed), default: []].insert(Name(key))
                (state.end, state.sequence) = (noon.plus(days: 30), 8)
            }
            return state.sequence
        }
        let outcomes = items.map { _ in
            #"{"outcome":"recorded","purchase":"app_store/1","sequence":7}"#
        }
        let text =
            body["transactions"] == nil
            ? outcomes[0]
            : """
            {"recorded":\(items.count),"known":0,"refused":0,"items":[\(outcomes.joined(separator: ","))]}
            """
        return ClientResponse(
            status: 200,
            headers: ["ledger-sequence": String(size)],
            body: Array(text.utf8)
        )
    }
}
