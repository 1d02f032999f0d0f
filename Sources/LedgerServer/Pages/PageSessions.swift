import Crypto
import Encodings
import Entitlements
import Synchronization

/// Who is signed in to the pages, by a cookie: in memory alone, so that a restart signs everybody out.
///
/// Cookies and links are kept by their digests: what is in memory lets nobody in.
final class PageSessions: Sendable {
    /// One who is signed in.
    struct Session: Sendable {
        /// As whom they ask.
        let caller: Caller
        /// What forms of their pages send back.
        let formToken: String
        /// The key that made the link by which a customer came in; nil: none did.
        let linkKeyID: String?
        /// When they came in.
        fileprivate var begunAt: Instant
        /// When they asked last.
        fileprivate var usedAt: Instant

        /// One of another machine of a cluster, as it says so with a call that it passes on.
        init(passedOnFor caller: Caller, formToken: String, at now: Instant) {
            self.init(caller, formToken, linkKeyID: nil, at: now)
        }

        fileprivate init(
            _ caller: Caller,
            _ formToken: String,
            linkKeyID: String?,
            at now: Instant
        ) {
            (self.caller, self.formToken, self.linkKeyID) = (caller, formToken, linkKeyID)
            (begunAt, usedAt) = (now, now)
        }

        fileprivate func stands(at now: Instant) -> Bool {
            now < usedAt.advanced(byMilliseconds: PageSessions.idleLimit)
                && now < begunAt.advanced(byMilliseconds: PageSessions.lifeLimit)
        }
    }

    /// Milliseconds without a request after which a session is over.
    static let idleLimit: Int64 = 12 * 3_600_000
    /// Milliseconds after which a session is over, however much it is used: what let somebody in, such as a
    /// customer's token, may have ended long before.
    static let lifeLimit: Int64 = Instant.millisecondsPerDay
    /// Milliseconds for which a link lets somebody in, once.
    static let linkLimit: Int64 = 15 * 60_000
    private static let secretByteCount = 32

    private struct State {
        /// Apart, so that customers, however many come in, sign nobody out who runs the ledger.
        private var operators: Generations<SHA256.Digest, Session>
        private var customers: Generations<SHA256.Digest, Session>
        var links: Generations<SHA256.Digest, (caller: Caller, end: Instant)>

        init(limit: Int, customerLimit: Int) {
            operators = Generations(limit: limit)
            customers = Generations(limit: customerLimit)
            links = Generations(limit: limit)
        }

        subscript(digest: SHA256.Digest) -> Session? { operators[digest] ?? customers[digest] }

        mutating func set(_ session: Session, for digest: SHA256.Digest) {
            if case .customer = session.caller {
                customers.set(session, for: digest)
            } else {
                operators.set(session, for: digest)
            }
        }

        mutating func remove(_ digest: SHA256.Digest) {
            operators.remove(digest)
            customers.remove(digest)
        }
    }

    private let state: Mutex<State>

    /// `limit`: links, and sessions of who runs the ledger, that are remembered in one generation;
    /// `customerLimit`: sessions of customers that are.
    init(limit: Int = 5_000, customerLimit: Int = 50_000) {
        state = Mutex(State(limit: limit, customerLimit: customerLimit))
    }

    /// Signs somebody in; what comes back is the cookie's value, which is kept nowhere.
    ///
    /// `linkKeyID`: the key that made the link by which a customer comes in; nil: none did.
    func begin(as caller: Caller, linkKeyID: String? = nil, at now: Instant) -> String {
        let secret = Self.secret()
        let session = Session(caller, Self.secret(), linkKeyID: linkKeyID, at: now)
        state.withLock { $0.set(session, for: Self.digest(secret)) }
        return secret
    }

    /// Who is signed in by a cookie; nil: nobody, or it is over.
    func session(_ secret: String, at now: Instant) -> Session? {
        state.withLock { state in
            let digest = Self.digest(secret)
            guard var session = state[digest] else { return nil }
            guard session.stands(at: now) else {
                state.remove(digest)
                return nil
            }
            session.usedAt = max(now, session.usedAt)
            state.set(session, for: digest)
            return session
        }
    }

    /// Whether a cookie lets somebody in still; that this was asked keeps no session from its end.
    func stands(_ secret: String, at now: Instant) -> Bool {
        state.withLock { $0[Self.digest(secret)]?.stands(at: now) ?? false }
    }

    /// Lets a session begin anew, as it is: the time was turned for it.
    func goOn(_ secret: String, at now: Instant) {
        state.withLock { state in
            let digest = Self.digest(secret)
            guard var session = state[digest] else { return }
            (session.begunAt, session.usedAt) = (now, now)
            state.set(session, for: digest)
        }
    }

    /// Signs out.
    func end(_ secret: String) {
        state.withLock { $0.remove(Self.digest(secret)) }
    }

    /// Makes what signs somebody in, once and soon.
    ///
    /// What comes back is its path behind the server's address, and its end.
    func makeLink(as caller: Caller, at now: Instant) -> (path: String, end: Instant) {
        let code = Self.secret()
        let end = now.advanced(byMilliseconds: Self.linkLimit)
        state.withLock { $0.links.set((caller, end), for: Self.digest(code)) }
        return ("/console/login?code=" + code, end)
    }

    /// As whom a link signs in; nil: it was used, it is over, or it never was one.
    func redeem(_ code: String, at now: Instant) -> Caller? {
        state.withLock { state in
            let digest = Self.digest(code)
            guard let link = state.links[digest] else { return nil }
            state.links.remove(digest)
            return now < link.end ? link.caller : nil
        }
    }

    private static func digest(_ secret: String) -> SHA256.Digest {
        SHA256.hash(data: Array(secret.utf8))
    }

    private static func secret() -> String {
        var randomness = SystemRandomNumberGenerator()
        let bytes = (0..<secretByteCount).map { _ in
            UInt8(truncatingIfNeeded: randomness.next())
        }
        return Base64.encode(bytes.span, .url)
    }
}

extension Caller {
    /// Whoever was let in by a link that the ledger's owner had made: an id that no key has, by which
    /// accesses are noted.
    static let console = Caller.key(id: "console", scopes: [.admin])
}
