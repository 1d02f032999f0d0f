import Encodings
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Calls by the system's `URLSession`, which waits for nobody longer than a time.
///
/// It goes nowhere that an answer names: one that names another address is the answer.
public struct URLSessionTransport: Sendable {
    private let session: URLSession
    private let calls = SessionCalls()
    private let seconds: Double

    /// Seconds for which a call waits, unless others are given.
    public static let defaultSeconds: Double = 15

    /// Makes a session that keeps neither cookies nor answers.
    ///
    /// `seconds`: for which a call waits for its whole answer.
    public init(seconds: Double = defaultSeconds) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = seconds
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        session = URLSession(configuration: configuration, delegate: calls, delegateQueue: nil)
        self.seconds = seconds
    }

    /// The transport.
    public var transport: ClientTransport { { await send($0) } }

    private func send(_ request: ClientRequest) async -> ClientResponse? {
        guard let url = URL(string: request.url) else { return nil }
        var call = URLRequest(url: url)
        call.httpMethod = request.method.rawValue
        call.httpBody = request.body.map { Data($0) }
        for (name, value) in request.headers { call.setValue(value, forHTTPHeaderField: name.text) }
        return await calls.answer(to: call, in: session, seconds: seconds)
    }
}
