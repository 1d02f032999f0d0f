import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Stores

/// Who may call which route, and how often (rows 9.4, 9.6; Interfaces, "Who may").
final class AccessControl: Sendable {
    let flows = PurchaseFlowLock()
    let sessions = PageSessions()
    private let authenticator: Authenticator
    private let limiter: RateLimiter
    private let metrics: ServerMetrics
    private let trust: RenewedTrust
    private let proxies: TrustedProxies
    /// Whether checkpoint and hash tiles are for everybody.
    let isLogPublic: Bool

    init(
        _ authenticator: Authenticator,
        _ limiter: RateLimiter,
        _ metrics: ServerMetrics,
        _ trust: RenewedTrust,
        _ proxies: TrustedProxies,
        isLogPublic: Bool
    ) {
        self.trust = trust
        self.proxies = proxies
        self.isLogPublic = isLogPublic
        self.authenticator = authenticator
        self.limiter = limiter
        self.metrics = metrics
    }

    /// Takes who issues customer tokens from now on.
    func renew(customers: CustomerTokenVerifier?) { authenticator.renew(customers: customers) }

    /// Admits a request to a route, or throws the problem that it is answered with.
    ///
    /// `customer`: whom the path names, if it names anybody. What is not the caller's is
    /// answered as what does not exist is, before anything is looked up.
    func admit(
        _ route: Route,
        _ customer: CustomerID?,
        _ exchange: inout Exchange
    ) throws(Problem) -> Caller {
        switch route.access {
        case .open, .visitor:
            try take(.anonymous, client(exchange), &exchange)
            // Whoever is signed in stays so on a page for everybody.
            exchange.session = session(exchange)
            return .anonymous
        case .page(let scopes): return try pageCaller(scopes, &exchange)
        case .ownPage: return try ownPageCaller(&exchange)
        case .health(let scopes): return try prober(scopes, &exchange)
        case .transparency where isLogPublic && isUnnamed(exchange):
            try take(.anonymous, client(exchange), &exchange)
            return .anonymous
        case .store(let store):
            try take(.signals, client(exchange), &exchange)
            // Their own secret may stand where our keys do: what is none of ours is nobody.
            let caller = credential(exchange).subject ?? .anonymous
            try vouch(store, caller, body: nil, &exchange)
            return caller
        case .transparency where isLogPublic: return try identified(&exchange)
        case .keys(let scopes), .transparency(let scopes):
            let caller = try identified(&exchange)
            guard caller.has(anyOf: scopes) else { throw Problem(.forbidden) }
            return caller
        case .customer(let scopes):
            let caller = try identified(&exchange)
            if case .customer = caller {
                guard let customer, caller.isCustomer(customer) else { throw Problem(.notFound) }
                return caller
            }
            guard caller.has(anyOf: scopes) else { throw Problem(.forbidden) }
            return caller
        case .anyCustomer(let scopes):
            let caller = try identified(&exchange)
            if case .customer = caller { return caller }
            guard caller.has(anyOf: scopes) else { throw Problem(.forbidden) }
            return caller
        }
    }

    /// Admits the body of a request that was admitted: what only the body proves, and its bytes.
    func admit(_ body: [UInt8], _ route: Route, _ exchange: inout Exchange) throws(Problem) {
        switch (route.access, exchange.caller) {
        case (.store(let store), let caller): try vouch(store, caller, body: body, &exchange)
        case (_, .customer(let id)):
            let decision = limiter.take(
                .appends,
                .customer(id),
                tokens: body.count,
                at: exchange.begun
            )
            if let decision, !decision.isAllowed { throw limited(decision, &exchange) }
        default: break
        }
    }

    /// Lets a customer have the stores asked about themselves; throws where they asked too often.
    func admitRestore(of customer: CustomerID) throws(Problem) {
        try take(.restores, customer, count: 1)
    }

    /// Lets a customer have a store asked about so many purchases that they name, all or none of them; throws
    /// where they named too many.
    ///
    /// Keys are the operator's own, and pass.
    func admitQuestions(_ count: Int, of caller: Caller) throws(Problem) {
        guard count > 0, case .customer(let id) = caller else { return }
        try take(.questions, id, count: count)
    }

    /// Counts what else a customer hands in with a call as calls of its own, all or none of it; throws where
    /// there were too many.
    ///
    /// Keys are the operator's own, and pass.
    func admitFurther(_ count: Int, of caller: Caller) throws(Problem) {
        guard count > 0, case .customer(let id) = caller else { return }
        try take(.customers, id, count: count)
    }

    private func take(
        _ policy: RateLimitPolicy,
        _ customer: CustomerID,
        count: Int
    ) throws(Problem) {
        let decision = limiter.take(policy, .customer(customer), tokens: count, at: .now)
        if let decision, !decision.isAllowed { throw Problem(decision) }
    }

    /// Lets pass what a store sent; without its body, what may be a store's by its head.
    ///
    /// RevenueCat's secret vouches for a webhook, or a key that may ingest; a notification of the
    /// App Store is known by its signature, a push of Google Play's by its token: the handler
    /// verifies them.
    private func vouch(
        _ store: Route.Access.Store,
        _ caller: Caller,
        body: [UInt8]?,
        _ exchange: inout Exchange
    ) throws(Problem) {
        switch store {
        case .appStore:
            guard trust.current.stores.appStore != nil else {
                throw Problem(.notConfigured, "the App Store is not configured here")
            }
        case .playStore:
            guard trust.current.stores.playStore != nil else {
                throw Problem(.notConfigured, "Google Play is not configured here")
            }
            if caller.has(.ingest) { return }
            guard trust.current.stores.playPush != nil else {
                throw Problem(.notConfigured, "no pushes of Google Play are configured here")
            }
        case .revenueCat:
            if caller.has(.ingest) { return }
            guard let revenueCat = trust.current.stores.revenueCat else {
                throw Problem(.notConfigured, "RevenueCat is not configured here")
            }
            let isTheirs = revenueCat.accepts(
                authorization: exchange.requestHeaders[.authorization],
                signature: exchange.requestHeaders[.revenueCatSignature],
                body: body,
                now: exchange.now
            )
            if isTheirs { return }
            metrics.countSignal(
                Source.revenueCat,
                outcome: ProblemCode.unauthenticated.rawValue
            )
            try take(.failures, client(exchange), &exchange)
            throw Problem(.unauthenticated, "the webhook's secret does not fit")
        }
    }

    /// The address that asks, behind the proxies that are trusted.
    private func client(_ exchange: Exchange) -> RateLimitClient {
        .address(
            proxies.client(
                peer: exchange.peer,
                forwardedFor: exchange.requestHeaders[values: .xForwardedFor]
            )
        )
    }

    /// Who asks for the server's health: a key with one of the scopes, or nobody in particular.
    ///
    /// Nothing is counted but credentials that do not count: a probe that is refused would take a
    /// healthy server out of service.
    private func prober(
        _ scopes: ScopeSet,
        _ exchange: inout Exchange
    ) throws(Problem) -> Caller {
        guard !scopes.isEmpty else { return .anonymous }
        switch credential(exchange) {
        case .accepted(let caller): return caller.has(anyOf: scopes) ? caller : .anonymous
        case .refused(let reason):
            try countFailure(reason, &exchange)
            return .anonymous
        }
    }

    /// Counts a credential that does not count; throws where its address had too many.
    private func countFailure(
        _ reason: AuthenticationRefusal,
        _ exchange: inout Exchange
    ) throws(Problem) {
        metrics.countRefusedCredential(reason)
        try take(.failures, client(exchange), &exchange)
    }

    /// Who asks for a page: by the cookie of a session whose key counts still, or by a key.
    private func pageCaller(
        _ scopes: ScopeSet,
        _ exchange: inout Exchange
    ) throws(Problem) -> Caller {
        guard isUnnamed(exchange), let session = session(exchange) else {
            let caller = try identified(&exchange)
            guard caller.has(anyOf: scopes) else { throw Problem(.forbidden) }
            return caller
        }
        exchange.session = session
        if let id = session.caller.keyID { try take(.keys, .key(id), &exchange) }
        guard session.caller.has(anyOf: scopes) else { throw Problem(.forbidden) }
        return session.caller
    }

    /// Which customer asks for a page of their own: by the cookie of a session, or by their token; anonymous:
    /// nobody was let in yet, and a ticket may.
    ///
    /// Row 9.4: a session of the console is nobody here, as one of a customer is there.
    private func ownPageCaller(_ exchange: inout Exchange) throws(Problem) -> Caller {
        guard isUnnamed(exchange) else {
            let caller = try identified(&exchange)
            guard case .customer = caller else { throw Problem(.forbidden) }
            return caller
        }
        guard let session = session(exchange, of: .customer),
            case .customer(let id) = session.caller
        else {
            try take(.anonymous, client(exchange), &exchange)
            return .anonymous
        }
        exchange.session = session
        try take(.customers, .customer(id), &exchange)
        return session.caller
    }

    /// Who is signed in, here or at the machine of a cluster that passes the call on; nil: nobody, or the key was
    /// taken back that let them in.
    private func session(
        _ exchange: Exchange,
        of holder: PageCookie.Holder = .console
    ) -> PageSessions.Session? {
        if let session = exchange.session { return session }
        guard let secret = cookie(in: exchange.requestHeaders, of: holder) else { return nil }
        guard let session = sessions.session(secret, at: exchange.now) else { return nil }
        guard stands(session.caller, at: exchange.now) else { return nil }
        // A customer who came by a link is in for no longer than whoever made it could let them in.
        guard let id = session.linkKeyID else { return session }
        return may(CustomerTicket.linkScopes, key: id, at: exchange.now) ? session : nil
    }

    /// The cookie of whoever is signed in to the pages; nil: a request brings none.
    func cookie(in headers: HTTPFields, of holder: PageCookie.Holder = .console) -> String? {
        PageCookie.value(in: headers, isSecure: isSecure(headers), of: holder)
    }

    /// Whether a browser came by TLS, to us or to a proxy before us.
    func isSecure(_ headers: HTTPFields) -> Bool {
        trust.current.tls != nil || headers[.xForwardedProto] == "https"
    }

    /// Who signs in to the pages by the text of a key; nil, and counted: it does not fit.
    func caller(ofKey text: String, at now: Instant) -> Caller? {
        switch authenticator.caller(authorization: [], apiKey: [text], at: now) {
        case .accepted(let caller): return caller.keyID == nil ? nil : caller
        case .refused(let reason):
            metrics.countRefusedCredential(reason)
            return nil
        }
    }

    /// Whether a request brings no credential.
    func isUnnamed(_ exchange: Exchange) -> Bool {
        guard case .accepted(.anonymous) = credential(exchange) else { return false }
        return true
    }

    /// Counts a request that leads to no route.
    func admitStray(_ exchange: inout Exchange) throws(Problem) {
        try take(.anonymous, client(exchange), &exchange)
    }

    /// Whether who was admitted still is: by their key, and by the session in which they asked.
    func stands(_ call: Call, at now: Instant) -> Bool {
        guard stands(call.caller, at: now) else { return false }
        guard call.session != nil, let secret = cookie(in: call.headers) else { return true }
        return sessions.stands(secret, at: now)
    }

    private func stands(_ caller: Caller, at now: Instant) -> Bool {
        authenticator.stands(caller, at: now)
    }

    /// Whether a key counts still, and has one of some scopes.
    func may(_ scopes: ScopeSet, key id: String, at now: Instant) -> Bool {
        self.scopes(ofKey: id, at: now)?.allows(anyOf: scopes) ?? false
    }

    /// What a key may; nil: it does not count any more.
    func scopes(ofKey id: String, at now: Instant) -> ScopeSet? {
        authenticator.scopes(ofKey: id, at: now)
    }

    private func credential(_ exchange: Exchange) -> Authentication<Caller> {
        authenticator.caller(
            authorization: exchange.requestHeaders[values: .authorization],
            apiKey: exchange.requestHeaders[values: .apiKey],
            at: exchange.now
        )
    }

    /// A key or a customer.
    ///
    /// Whoever tries credentials is slowed down; a good one is never refused for others' bad ones,
    /// who may share its address behind a proxy.
    private func identified(_ exchange: inout Exchange) throws(Problem) -> Caller {
        switch credential(exchange) {
        case .accepted(.anonymous):
            try take(.anonymous, client(exchange), &exchange)
            exchange.headers[.wwwAuthenticate] = AuthenticationRefusal.challengeWithoutCredential
            throw Problem(.unauthenticated)
        case .accepted(.key(let id, let scopes)):
            try take(.keys, .key(id), &exchange)
            return .key(id: id, scopes: scopes)
        case .accepted(.customer(let id)):
            try take(.customers, .customer(id), &exchange)
            return .customer(id: id)
        case .refused(let reason):
            try countFailure(reason, &exchange)
            exchange.headers[.wwwAuthenticate] = AuthenticationRefusal.challenge
            throw Problem(.unauthenticated)
        }
    }

    private func take(
        _ policy: RateLimitPolicy,
        _ client: RateLimitClient,
        _ exchange: inout Exchange
    ) throws(Problem) {
        guard let decision = limiter.take(policy, client, at: exchange.begun) else { return }
        guard decision.isAllowed else { throw limited(decision, &exchange) }
        let fields = RateLimitHeaders(decision)
        exchange.headers[.rateLimitPolicy] = fields.policy
        exchange.headers[.rateLimit] = fields.limit
    }

    private func limited(_ decision: RateLimitDecision, _ exchange: inout Exchange) -> Problem {
        let fields = RateLimitHeaders(decision)
        exchange.headers[.rateLimitPolicy] = fields.policy
        exchange.headers[.rateLimit] = fields.limit
        return Problem(decision)
    }
}

extension Problem {
    /// A request too many.
    fileprivate init(_ decision: RateLimitDecision) {
        self.init(.rateLimited, retryAfter: Int(decision.resetSeconds))
        violatedPolicies = [decision.policy.rawValue]
    }
}

extension Caller {
    /// What a log may say of a caller: a key's id, never a customer's.
    var label: String {
        switch self {
        case .anonymous: "anonymous"
        case .key(let id, _): "key/" + id
        case .customer: "customer"
        }
    }
}
