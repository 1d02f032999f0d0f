import AsyncHTTPClient
import Encodings
package import Entitlements
package import LedgerOperations
import NIOCore
import NIOHTTP1
package import Stores
import Tracing

/// Carries questions to the stores' APIs over HTTP.
package enum HTTPStoreTransport {
    /// Pub/Sub waits ten seconds for an answer, and what it sent may be asked for several times.
    private static let timeout = TimeAmount.seconds(4)

    /// Carries one question; nil: there is no whole answer.
    @Sendable
    package static func send(_ request: StoreRequest) async -> StoreResponse? {
        await withSpanOfPart("store call", ofKind: .client) { span in
            span?.attributes[SpanDocument.method] = request.method.rawValue
            // What stands behind the host names purchases and customers.
            span?.attributes[SpanDocument.server] = host(of: request.url)
            let answer = await answer(to: request)
            if let answer {
                span?.attributes[SpanDocument.status] = Int64(answer.status)
            } else {
                span?.attributes[SpanDocument.errorType] = "no_answer"
            }
            if (answer?.status ?? 500) >= 400 { span?.setStatus(SpanStatus(code: .error)) }
            return answer
        }
    }

    /// The host of an address, without its port.
    private static func host(of url: String) -> String {
        let place = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return String(place.prefix { $0 != "/" && $0 != "?" && $0 != ":" })
    }

    private static func answer(to request: StoreRequest) async -> StoreResponse? {
        var call = HTTPClientRequest(url: request.url)
        call.method = HTTPMethod(rawValue: request.method.rawValue)
        for (name, value) in request.headers {
            call.headers.add(name: name.description, value: value)
        }
        if !request.body.isEmpty { call.body = .bytes(ByteBuffer(bytes: request.body)) }
        // Why there is no answer makes no difference to who asked.
        guard let answer = try? await HTTPClient.shared.execute(call, timeout: timeout),
            let body = try? await answer.body.collect(upTo: StoreCaller.bodyByteLimit)
        else { return nil }
        var headers: [Name: String] = [:]
        for header in answer.headers { headers[Name(header.name.lowercased())] = header.value }
        return StoreResponse(
            status: Int(answer.status.code),
            headers: headers,
            body: Array(body.readableBytesView)
        )
    }

    /// Asks over HTTP, by this machine's clock.
    static func caller(
        _ policy: StoreCaller.Policy,
        clock: @escaping @Sendable () -> Instant
    ) -> StoreCaller {
        StoreCaller(
            send,
            policy: policy,
            clock: clock,
            // Who is cancelled asks at once; what is asked then is cancelled too.
            sleep: { try? await Task.sleep(for: .milliseconds($0)) },
            random: { Double.random(in: 0..<1) }
        )
    }
}

extension StoreClients {
    /// The stores that are configured to be asked, over HTTP.
    ///
    /// `verifier`: checks what the App Store signs; nil: it is not configured. `policy`: how long a store
    /// is waited for.
    package init(
        _ configuration: StoresConfiguration,
        verifier: AppStoreVerifier?,
        policy: StoreCaller.Policy = StoreCaller.Policy(),
        clock: @escaping @Sendable () -> Instant
    ) {
        self.init()
        if let access = configuration.appStoreAccess, let verifier {
            appStore = AppStore(
                api: AppStoreServerAPI(
                    access,
                    bundleIDs: configuration.appStore?.bundleIDs ?? [],
                    caller: HTTPStoreTransport.caller(policy, clock: clock),
                    clock: clock
                ),
                verifier: verifier
            )
        }
        if let access = configuration.appStoreConnectAccess {
            appStoreConnect = AppStoreConnectAPI(
                access,
                caller: HTTPStoreTransport.caller(policy, clock: clock),
                clock: clock
            )
        }
        if let playConfiguration = configuration.playStore, let access = playConfiguration.access {
            playStore = PlayStore(
                api: PlayDeveloperAPI(
                    access.account,
                    caller: HTTPStoreTransport.caller(policy, clock: clock),
                    baseURL: access.apiURL,
                    clock: clock
                ),
                configuration: playConfiguration
            )
        }
        // Version 1 tells of a subscription its latest period alone, and names it by that.
        if configuration.revenueCat?.projectID != nil {
            revenueCat = RevenueCatAPI(configuration, policy: policy, clock: clock)
        }
    }
}

extension RevenueCatAPI {
    /// Asks over HTTP, of the version that is configured; nil: none is.
    package convenience init?(
        _ configuration: StoresConfiguration,
        policy: StoreCaller.Policy,
        clock: @escaping @Sendable () -> Instant
    ) {
        guard let revenueCat = configuration.revenueCat, let key = revenueCat.apiKey else {
            return nil
        }
        var policy = policy
        // It counts over a minute (revenuecat.com/docs/api-v2): what says more is no number of seconds.
        policy.longestWait = 60_000
        self.init(
            key: key,
            projectID: revenueCat.projectID,
            baseURL: revenueCat.apiURL,
            caller: HTTPStoreTransport.caller(policy, clock: clock),
            clock: clock
        )
    }
}
