import AsyncHTTPClient
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import NIOCore
import NIOHTTP1
import NIOPosix
import Tracing

/// Sends to one address.
///
/// The name is resolved here, what it leads to is looked at, and exactly that is connected to: a name that
/// leads to another network later leads nowhere. Redirections are not followed, and of an answer no more is
/// read than keeps the connection.
actor WebhookClient {
    private let address: HTTPAddress
    private let mayBePrivate: Bool
    private let pool: any BlockingPool
    private let clock: ContinuousClock
    private var connected: Connected?
    /// The look-up that is under way: one is enough for all that wait for it.
    private var lookup: Task<String?, Never>?

    private struct Connected {
        var ip: String
        var client: HTTPClient
        var resolvedAt: ContinuousClock.Instant
    }

    /// How long an answer is waited for (Standard Webhooks: 15 to 30 seconds).
    private static let timeout = TimeAmount.seconds(15)
    private static let connectTimeout = TimeAmount.seconds(5)
    /// How long, and for how many bytes, the rest of an answer is read.
    private static let restTime = Duration.seconds(1)
    private static let restByteLimit = 64 << 10
    /// How long an address counts that a name led to.
    private static let addressLifetime = Duration.seconds(60)
    /// Connections to one endpoint.
    static let connectionLimit = 16

    /// Sends to a webhook's address.
    ///
    /// `pool`: where its name is resolved, which may take long.
    ///
    /// - Throws: `InputFault` where it is none.
    init(for webhook: Webhook, pool: any BlockingPool) throws(InputFault) {
        mayBePrivate = webhook.mayBePrivate
        address = try HTTPAddress(webhook.url, mayBePrivate: webhook.mayBePrivate)
        self.pool = pool
        clock = ContinuousClock()
    }

    /// Sends one message, once.
    func send(_ headers: [(String, String)], _ body: [UInt8]) async -> DeliveryAttempt {
        await withSpanOfPart("webhook delivery", ofKind: .client) { span in
            let attempt = await attempt(headers, body)
            span?.attributes[SpanDocument.method] = "POST"
            // What stands behind the host may be a secret.
            span?.attributes[SpanDocument.server] = address.host
            if let status = attempt.status {
                span?.attributes[SpanDocument.status] = Int64(status)
            }
            if let fault = attempt.fault {
                span?.attributes[SpanDocument.errorType] = fault.rawValue
            }
            if !attempt.isTaken { span?.setStatus(SpanStatus(code: .error)) }
            return attempt
        }
    }

    private func attempt(_ headers: [(String, String)], _ body: [UInt8]) async -> DeliveryAttempt {
        let client: HTTPClient
        switch await reached() {
        case .success(let reached): client = reached
        case .failure(let fault): return DeliveryAttempt(fault: fault.fault)
        }
        var request = HTTPClientRequest(url: address.url)
        request.method = .POST
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            let answer = try await client.execute(request, timeout: Self.timeout)
            await Self.readRest(of: answer.body)
            return DeliveryAttempt(
                status: Int(answer.status.code),
                retryAfter: answer.headers.first(name: "retry-after")
            )
        } catch let error as HTTPClientError where Self.timeouts.contains(error) {
            return DeliveryAttempt(fault: .timeout)
        } catch {
            // The name may lead elsewhere by now.
            connected?.resolvedAt = clock.now - Self.addressLifetime
            return DeliveryAttempt(fault: .connection)
        }
    }

    private static let timeouts: [HTTPClientError] = [
        .deadlineExceeded, .readTimeout, .connectTimeout, .tlsHandshakeTimeout,
        .getConnectionFromPoolTimeout, .writeTimeout,
    ]

    /// Ends the connections.
    func close() async {
        let client = connected?.client
        connected = nil
        // What is still under way is not waited for.
        try? await client?.shutdown()
    }

    private struct Unreachable: Error { var fault: WebhookDelivery.Fault }

    /// The connections to what the name leads to now.
    private func reached() async -> Result<HTTPClient, Unreachable> {
        if let connected, clock.now - connected.resolvedAt < Self.addressLifetime {
            return .success(connected.client)
        }
        guard let ip = await resolved() else { return .failure(Unreachable(fault: .unresolved)) }
        guard mayBePrivate || IPAddress(ip).map(\.isPublic) ?? false else {
            return .failure(Unreachable(fault: .privateAddress))
        }
        if let connected, connected.ip == ip {
            self.connected?.resolvedAt = clock.now
            return .success(connected.client)
        }
        let former = connected?.client
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: Self.connectTimeout)
        )
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            Self.connectionLimit
        configuration.connectionPool.retryConnectionEstablishment = false
        if address.host != ip { configuration.dnsOverride = [address.host: ip] }
        let client = HTTPClient(
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            configuration: configuration
        )
        connected = Connected(ip: ip, client: client, resolvedAt: clock.now)
        if let former { Self.end(former) }
        return .success(client)
    }

    /// Ends connections once what is under way there is answered.
    private static func end(_ client: HTTPClient) {
        Task {
            // Nobody cancels it, and nobody waits for it.
            try? await Task.sleep(for: .nanoseconds(2 * timeout.nanoseconds))
            // What is still under way then is not waited for.
            try? await client.shutdown()
        }
    }

    /// The first address that the name leads to; nil: none.
    private func resolved() async -> String? {
        let (host, port) = (address.host, address.port)
        if IPAddress(host) != nil { return host }
        if let lookup { return await lookup.value }
        let lookup = Task { [pool] in
            // Whoever asks for a name that is none gets no answer.
            try? await pool.run {
                try SocketAddress.makeAddressResolvingHost(host, port: port).ipAddress
            }
        }
        self.lookup = lookup
        defer { self.lookup = nil }
        return await lookup.value
    }

    /// Reads a short answer to its end, so that the connection serves again; a long one is left.
    private static func readRest(of body: HTTPClientResponse.Body) async {
        await withTaskGroup(of: Void.self) { group in
            // Whatever the rest is, the message was answered.
            group.addTask { _ = try? await body.collect(upTo: restByteLimit) }
            // Who is cancelled waits no longer.
            group.addTask { try? await Task.sleep(for: restTime) }
            await group.next()
            group.cancelAll()
        }
    }
}
