import AsyncHTTPClient
import Encodings
import EntitlementLedger
import HTTPTypes
import Hummingbird
import LedgerAPI
import LedgerOperations
import NIOCore
import NIOHTTP1
import NIOPosix

/// A call that only the machine which leads can answer, passed on to it with its caller's credential.
struct LeaderCall: Sendable {
    let service: LedgerService
    let node: ClusterNode
    let ticket: NodeTicket

    /// Longest wait for the leader's answer.
    private static let usualTimeout = TimeAmount.seconds(60)
    /// The same for what may take hours, as long as a command waits that asks the leader itself.
    private static let longTimeout = TimeAmount.hours(24)
    /// Bytes of an answer.
    private static let answerByteLimit = 64 << 20
    /// How often it is looked whether this machine has what the leader answered, and how long apart.
    private static let looks = 500
    private static let lookInterval = Duration.milliseconds(10)
    /// How often it is looked whether the machine that is asked leads yet.
    private static let leaderLookInterval = Duration.milliseconds(100)

    /// Fields that are a connection's (RFC 9110, section 7.6.1), or that are said anew.
    private static let ownFields: Set<Name> = [
        "connection", "content-length", "expect", "host", "keep-alive", "te", "trailer",
        "transfer-encoding", "upgrade", "accept-encoding", "ledger-node", "proxy-authorization",
        // Who is signed in to pages is signed in at one machine, which says so.
        "cookie",
    ]
    /// Fields of an answer that its caller is told.
    private static let toldFields: Set<Name> = [
        "age", "ledger-sequence", "link", "location", "retry-after", "www-authenticate",
        "content-disposition",
        // Of pages.
        "content-security-policy", "referrer-policy", "cross-origin-opener-policy", "x-robots-tag",
    ]

    /// Nobody is followed elsewhere: whoever is asked is told a credential.
    static let http: HTTPClient = {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: .seconds(3))
        )
        // Calls that wait for a store, an import say, hold up no others.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionLimit
        return HTTPClient(
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            configuration: configuration
        )
    }()

    /// Calls to the leader that are under way at once.
    private static let connectionLimit = 256

    /// How long the answer to a call is waited for, where its machine leads as long.
    static func timeout(of route: Route?) -> TimeAmount {
        route?.isLong == true ? longTimeout : usualTimeout
    }

    /// What the leader answers; this machine knows what became of the call by then, as a rule.
    ///
    /// - Throws: `Problem.noLeader` where nobody leads, or does not answer; `readOnly` where nobody ever will.
    func answer(_ request: Request, _ body: [UInt8], _ exchange: Exchange) async throws -> Answer {
        guard !node.hasEnded else {
            throw Problem(.readOnly, "the cluster has ended: its ledger goes on elsewhere")
        }
        // What was passed on to this machine ends here.
        guard service.holder(request.headers, at: exchange.now) == nil,
            let address = node.leaderToAsk
        else {
            throw Problem(.noLeader, "no machine of the cluster leads now", retryAfter: 1)
        }
        let (status, headers, bytes) = try await reply(
            of: address,
            to: call(request, body, exchange, at: address),
            within: Self.timeout(of: exchange.target?.route)
        )
        var answer = Answer(
            status: status,
            bytes: bytes,
            mediaType: headers["content-type"].first ?? "application/json"
        )
        for (name, value) in headers where Self.toldFields.contains(Name(name.lowercased())) {
            guard let name = HTTPField.Name(name) else { continue }
            answer.headers.append(HTTPField(name: name, value: value))
        }
        if let size = answer.headers[.ledgerSequence].flatMap({ LogPlace($0)?.size }) {
            try await reach(size)
        }
        return answer
    }

    private func call(
        _ request: Request,
        _ body: [UInt8],
        _ exchange: Exchange,
        at address: String
    ) throws -> HTTPClientRequest {
        let target = request.uri.description
        // Behind an address anything else may lead to another machine, with a credential.
        guard target.hasPrefix("/") else {
            throw Problem(.invalidRequest, "expected a path that begins with /")
        }
        var call = HTTPClientRequest(url: address + target)
        call.method = .RAW(value: request.method.rawValue)
        for field in request.headers where !Self.ownFields.contains(Name(field.name.canonicalName))
        {
            call.headers.add(name: field.name.rawName, value: field.value)
        }
        if let peer = exchange.connection.channel.remoteAddress?.ipAddress {
            call.headers.add(name: "x-forwarded-for", value: peer)
        }
        call.headers.add(
            name: HTTPField.Name.ledgerNode.rawName,
            value: try ticket.text(
                of: node.name,
                for: exchange.caller == .owner
                    ? .owner : exchange.session.map { .session($0) } ?? .credential,
                at: exchange.now
            )
        )
        if !body.isEmpty { call.body = .bytes(ByteBuffer(bytes: body)) }
        return call
    }

    private func reply(
        of address: String,
        to call: HTTPClientRequest,
        within timeout: TimeAmount
    ) async throws -> (status: Int, headers: [(String, String)], body: [UInt8]) {
        do {
            return try await withThrowingTaskGroup { group in
                group.addTask {
                    let answer = try await Self.http.execute(call, timeout: timeout)
                    let body = try await answer.body.collect(upTo: Self.answerByteLimit)
                    return (
                        Int(answer.status.code), answer.headers.map { ($0.name, $0.value) },
                        Array(body.readableBytesView)
                    )
                }
                // A machine that hangs answers nobody, and another one leads by then.
                group.addTask {
                    while node.leaderToAsk == address {
                        try await Task.sleep(for: Self.leaderLookInterval)
                    }
                    throw Problem(.noLeader)
                }
                defer { group.cancelAll() }
                guard let reply = try await group.next() else { throw Problem(.noLeader) }
                return reply
            }
        } catch {
            service.faults.note(error, of: "leader")
            throw Problem(
                .noLeader,
                "the machine that leads does not answer: what became of the call tells the same call "
                    + "with the same Idempotency-Key",
                retryAfter: 1
            )
        }
    }

    /// Waits until this machine has what was answered, so that who asks here next finds it; one that is far
    /// behind keeps nobody waiting for ever.
    private func reach(_ size: UInt64) async throws {
        for _ in 0..<Self.looks {
            if try service.ledger.questions.size() >= size { return }
            try await Task.sleep(for: Self.lookInterval)
        }
    }
}

extension [(String, String)] {
    fileprivate subscript(name: String) -> [String] {
        filter { $0.0.lowercased() == name }.map(\.1)
    }
}
