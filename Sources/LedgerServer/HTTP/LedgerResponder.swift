import Entitlements
import HTTPTypes
import Hummingbird
import LedgerAPI
import Logging
import NIOCore
import Presentation

/// Answers requests: finds the route, admits the caller, reads the body, asks the handler, and
/// makes of every refusal and fault a problem document.
struct LedgerResponder: HTTPResponder {
    typealias Context = ConnectionContext

    private let matcher: RouteMatcher
    private let service: LedgerService
    /// Whether those who ask are the ledger's owner, unless they say otherwise.
    private let isOwners: Bool

    init(_ routes: [Route], _ service: LedgerService, isOwners: Bool = false) {
        matcher = RouteMatcher(routes)
        self.service = service
        self.isOwners = isOwners
    }

    func respond(to request: Request, context: Context) async throws -> Response {
        guard let tracer = service.tracer else { return await respond(to: request, context, nil) }
        return await tracer.continuing(request) { span in await respond(to: request, context, span)
        }
    }

    private func respond(
        to request: Request,
        _ context: Context,
        _ span: RecordedSpan?
    ) async -> Response {
        let id = service.makeID()
        var exchange = Exchange(request, context, id: id, now: service.clock())
        var answer: Answer
        do {
            answer = try await self.answer(request, &exchange)
        } catch {
            let problem = problem(of: error, exchange.target?.route)
            await keep(problem, exchange.target?.route)
            exchange.problem = problem
            service.faults.note(error, exchange)
            service.noteDamage(error)
            answer =
                exchange.isPage
                ? problem.page(exchange, for: request)
                : problem.answer(language: exchange.language, requestID: id)
            for field in exchange.headers { answer.headers.append(field) }
        }
        answer.challenge(request.headers)
        answer.headers[.requestID] = id
        service.origins.tell(&answer.headers, askedBy: request.headers)
        answer.whenBroken { [exchange, service] error in
            var broken = exchange
            broken.problem = Problem(anyError: error)
            service.faults.note(error, broken)
            service.noteDamage(error)
        }
        let duration = exchange.begun.duration(to: .now)
        service.metrics.count(exchange.target?.number, status: answer.status, duration: duration)
        log(exchange, answer.status, duration, span)
        span?.describe(exchange, status: answer.status)
        return answer.response(isHead: request.method == .head)
    }

    /// Keeps that a webhook of RevenueCat's was refused (Stores, rule 5): it gets as far as no handler.
    private func keep(_ problem: Problem, _ route: Route?) async {
        // A machine that follows cannot: its metrics have it.
        guard service.leads, case .store(.revenueCat)? = route?.access,
            problem.code == .unauthenticated
        else { return }
        // It is refused whether or not that can be kept.
        try? await service.keep(problem.code.rawValue, of: Source.revenueCat)
    }

    /// What is told of an error.
    ///
    /// A server that only reads since its disk was full is to be asked again (Stores, rule 10).
    private func problem(of error: any Error, _ route: Route?) -> Problem {
        let problem = Problem(anyError: error)
        guard problem.code == .readOnly, service.isReadOnlyByFault,
            route?.problems.contains(.storageFull) == true
        else { return problem }
        return Problem(.storageFull, "the disk was full when the server began", retryAfter: 30)
    }

    private func answer(_ request: Request, _ exchange: inout Exchange) async throws -> Answer {
        guard request.head.hasOneHost else {
            try service.access.admitStray(&exchange)
            throw Problem(.invalidRequest, "expected one Host header")
        }
        if request.method == .options, let answer = service.origins.preflight(request.headers) {
            try service.access.admitStray(&exchange)
            return answer
        }
        let page = PagePath(request.uri.path, query: request.uri.query)
        (exchange.format, exchange.chosen) = (page?.format ?? .html, page?.language)
        let (target, path) = try route(
            request.method,
            page?.path ?? request.uri.path,
            &exchange
        )
        let route = target.route
        exchange.target = target
        // What is changed is answered by who leads.
        if !route.isChange { exchange.headers[.age] = try service.age(of: route) }
        let customer = path.customer
        var isOwners = isOwners
        switch service.holder(request.headers, at: exchange.now) {
        case .owner: isOwners = true
        case .session(let session): exchange.session = session
        case .credential, nil: break
        }
        exchange.caller =
            isOwners && service.access.isUnnamed(exchange)
            ? .owner : try service.access.admit(route, customer, &exchange)
        if path[.id] != nil, customer == nil {
            throw Problem(
                .invalidRequest,
                "an id has 1 to 1024 bytes without control characters"
            )
        }
        let query = try Query(
            request.uri.query,
            known: target.queryNames,
            isForm: route.isPage
        )
        let channel = exchange.connection.channel
        let room = route.body.map { _ in
            service.bodies.room { channel.close(promise: nil) }
        }
        defer { room?.end() }
        var body: [UInt8] = []
        if let room, let expected = route.body {
            try request.requirePlainBody(&exchange.headers)
            body = try await request.bytes(of: expected, in: room, on: channel)
        }
        try service.access.admit(body, route, &exchange)
        var call = Call(
            path: path,
            query: query,
            headers: request.headers,
            body: body,
            caller: exchange.caller,
            now: exchange.now,
            requestID: exchange.id
        )
        call.session = exchange.session
        call.pages = PageTable.routes(beside: service.simulator)
        call.format = exchange.format
        call.rawPath = page?.path ?? request.uri.path
        var answer = try await self.answer(call, route, request, exchange)
        for field in exchange.headers { answer.headers.append(field) }
        answer.condition(request.headers, now: exchange.now)
        return answer
    }

    /// Asks the handler; in a cluster what changes the ledger is done by the machine that leads.
    private func answer(
        _ call: Call,
        _ route: Route,
        _ request: Request,
        _ exchange: Exchange
    ) async throws -> Answer {
        let access = try call.access(route)
        guard access == nil || service.accesses.hasRoom else { throw Problem.accessesFull }
        if route.isChange, let leader = service.leaderCall {
            return try await leader.answer(request, call.body, exchange)
        }
        var answer: Answer
        do {
            answer = try await route.handler(call, service)
        } catch let problem as Problem {
            // A no is an outcome like any other: whoever was deposed decided it by an old state (Several
            // machines).
            if route.isChange { try await service.confirmLease() }
            throw problem
        }
        // A place in a draft is none in the log.
        if route.isChange, call.query[.dryRun] != "true" { try service.tellSize(in: &answer) }
        try await service.nameHistory(of: &answer)
        if route.isChange { try await service.confirmLease() }
        // Behind the answer, where the cluster is led: who looks at whom is a record, too.
        if let access { service.accesses.add(access) }
        return answer
    }

    /// Where a path leads; throws what is told of one that leads nowhere.
    private func route(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ exchange: inout Exchange
    ) throws(Problem) -> (RouteMatcher.Target, PathValues) {
        let match = Result { () throws(Problem) in try matcher.match(method, path) }
        if case .success(.route(let target, let names)) = match { return (target, names) }
        try service.access.admitStray(&exchange)
        if case .otherMethods(let methods) = try match.get() {
            var allowed = methods.map(\.rawValue)
            if methods.contains(.get) { allowed.append("HEAD") }
            exchange.headers[.allow] = allowed.joined(separator: ", ")
            throw Problem(.methodNotAllowed)
        }
        throw Problem(.notFound, "there is no such path")
    }

    private func log(
        _ exchange: Exchange,
        _ status: Int,
        _ duration: Duration,
        _ span: RecordedSpan?
    ) {
        guard service.logger.logLevel <= .info else { return }
        var metadata: Logger.Metadata = [
            "requestId": "\(exchange.id)", "operation": "\(exchange.operation)",
            "method": "\(exchange.method)", "status": "\(status)",
            "code": "\(exchange.problem?.code.rawValue ?? "")",
            "caller": "\(exchange.caller.label)",
            "microseconds": "\(duration.microseconds)",
        ]
        // Its own part of the trace, so that the line leads there, else the caller's.
        let trace =
            span?.place.traceParent ?? TraceParent(exchange.requestHeaders[.traceparent])?.text
        if let trace { metadata["traceparent"] = "\(trace)" }
        service.logger.info("request", metadata: metadata)
    }
}

/// What is known of a request while it is being answered.
struct Exchange {
    /// Where the path leads; nil: nowhere.
    var target: RouteMatcher.Target?
    var caller = Caller.anonymous
    /// Who is signed in to the pages; nil: nobody.
    var session: PageSessions.Session?
    /// The form in which a page is asked for.
    var format = PageFormat.html
    /// The language that a page's query chooses; nil: none.
    var chosen: Language?
    var problem: Problem?
    /// Headers of every answer to it, such as rate limits.
    var headers = HTTPFields()
    let method: String
    let id: String
    let now: Instant
    let begun = ContinuousClock.now
    let requestHeaders: HTTPFields
    let connection: ConnectionContext

    init(_ request: Request, _ context: ConnectionContext, id: String, now: Instant) {
        method = HTTPRequest.Method.known.contains(request.method) ? request.method.rawValue : "-"
        self.id = id
        self.now = now
        requestHeaders = request.headers
        connection = context
    }

    /// The peer's address, for rate limits; kept nowhere.
    var peer: IPAddress? { connection.peer }

    /// Whether what goes wrong is told in a page.
    var isPage: Bool { target?.route.isPage == true && format == .html }

    /// The route's name; of a path that leads nowhere, `none`.
    var operation: String { target?.route.operation ?? "none" }

    /// The language that the caller reads.
    var language: Language {
        chosen ?? Language(acceptLanguage: requestHeaders[.acceptLanguage])
    }
}

extension HTTPRequest.Method {
    /// Methods that may stand in a log.
    static let known: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect,
    ]
}

extension Duration {
    /// Whole microseconds.
    var microseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}

/// A request's connection.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The peer's address; nil: it has none of the Internet.
    var peer: IPAddress? { channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) } }
}
