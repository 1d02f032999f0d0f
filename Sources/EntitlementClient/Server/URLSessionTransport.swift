import Encodings
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Calls by the system's `URLSession`, which waits for nobody longer than a time.
public struct URLSessionTransport: Sendable {
    private let session: URLSession

    /// Seconds for which a call waits, unless others are given.
    public static let defaultSeconds: Double = 15

    /// Makes a session that keeps neither cookies nor answers.
    ///
    /// `seconds`: for which a call waits for its answer.
    public init(seconds: Double = defaultSeconds) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = seconds
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
    }

    /// The transport.
    public var transport: ClientTransport {
        { [session] request in await Self.send(request, session) }
    }

    private static func send(
        _ request: ClientRequest,
        _ session: URLSession
    ) async -> ClientResponse? {
        guard let url = URL(string: request.url) else { return nil }
        var call = URLRequest(url: url)
        call.httpMethod = request.method.rawValue
        call.httpBody = request.body.map { Data($0) }
        for (name, value) in request.headers { call.setValue(value, forHTTPHeaderField: name.text) }
        // A task of its own, which nobody cancels: FoundationNetworking of Swift 6.3 holds up for ever a task
        // that is cancelled while its call ends (swift-corelibs-foundation, issue 5412).
        // Whoever is not reached is not there; why is the system's to log.
        let answered = Task { [call] in try? await session.data(for: call) }
        guard let (data, response) = await answered.value,
            let response = response as? HTTPURLResponse, data.count <= ClientResponse.byteLimit
        else { return nil }
        var headers: [Name: String] = [:]
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            headers[Name(name.lowercased())] = value
        }
        return ClientResponse(status: response.statusCode, headers: headers, body: Array(data))
    }
}
