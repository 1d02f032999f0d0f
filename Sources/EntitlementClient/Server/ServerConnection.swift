import Encodings
import Entitlements
import LedgerAPI

/// The server as the client calls it, by the customer's own token.
struct ServerConnection: Sendable {
    /// Where it is, without a slash at its end.
    let url: String
    let transport: ClientTransport
    private let time: ClientTime
    private let tokens: TokenSource

    /// `token`: gives the customer's token, from the app's own backend.
    init(
        url: String,
        transport: @escaping ClientTransport,
        time: ClientTime,
        token: @escaping @Sendable () async throws -> String
    ) {
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.transport = transport
        self.time = time
        tokens = TokenSource(time, token)
    }

    /// Another customer is signed in: a token that is under way is not theirs.
    func forgetToken() async { await tokens.forget() }

    /// The path of a call about a customer.
    static func path(_ call: String, of customer: CustomerID) -> String {
        "/v1/customers/\(customer.text.pathSegment)/\(call)"
    }

    /// Makes a call; a token that is refused is asked for once more, since the first may have ended.
    func call(
        _ method: ClientRequest.Method,
        _ path: String,
        headers: [Name: String] = [:],
        body: [UInt8]? = nil
    ) async -> Result<ClientResponse, CallFault> {
        var result = await attempt(method, path, headers, body)
        if case .failure(let fault) = result, fault.verdict == .tokenRefused {
            result = await attempt(method, path, headers, body)
        }
        return result
    }

    private func attempt(
        _ method: ClientRequest.Method,
        _ path: String,
        _ headers: [Name: String],
        _ body: [UInt8]?
    ) async -> Result<ClientResponse, CallFault> {
        var headers = headers
        do {
            headers["Authorization"] = "Bearer " + (try await tokens.token())
        } catch let error as ServiceError {
            let verdict = error.isRetryable ? CallFault.Verdict.later(nil) : .tokenRefused
            return .failure(CallFault(error: error, verdict: verdict))
        } catch {
            // A backend that is not reached gives no token.
            return .failure(.unreached)
        }
        return await send(ClientRequest(method, url + path, headers: headers, body: body))
    }

    /// Makes a call that is open to everybody.
    func openCall(_ path: String) async -> Result<ClientResponse, CallFault> {
        await send(ClientRequest(.get, url + path))
    }

    private func send(_ request: ClientRequest) async -> Result<ClientResponse, CallFault> {
        var request = request
        if request.body != nil { request.headers["Content-Type"] = "application/json" }
        guard let response = await transport(request),
            response.body.count <= ClientResponse.byteLimit
        else { return .failure(.unreached) }
        guard (200..<300).contains(response.status) else {
            return .failure(CallFault(response, at: time.now()))
        }
        return .success(response)
    }
}
