import Encodings
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The calls of a session that are under way: each ends by its answer, by its time or by its size.
///
/// A session's own time-out begins anew with each byte, and its answers are whole in memory before anybody
/// can look at them: whoever drips, or sends without end, would hold up what waits behind.
final class SessionCalls: NSObject, URLSessionDataDelegate {
    private let calls = Mutex<[Int: Call]>([:])

    private struct Call {
        var body = Data()
        let end: CheckedContinuation<ClientResponse?, Never>
    }

    /// Makes a call; nil: there is no whole answer within so many seconds.
    func answer(
        to request: URLRequest,
        in session: URLSession,
        seconds: Double
    ) async -> ClientResponse? {
        let task = session.dataTask(with: request)
        let timer = Task {
            // Called off: the call has ended.
            guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return }
            self.giveUp(task)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { end in
            calls.withLock { $0[task.taskIdentifier] = Call(end: end) }
            task.resume()
        }
    }

    private func giveUp(_ task: URLSessionTask) {
        take(task)?.end.resume(returning: nil)
        task.cancel()
    }

    private func take(_ task: URLSessionTask) -> Call? {
        calls.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    }

    /// Goes nowhere that an answer names: what is handed in would arrive as a question, or without its body, and the
    /// customer's token at whoever is named there.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let size = calls.withLock { calls in
            calls[dataTask.taskIdentifier]?.body.append(data)
            return calls[dataTask.taskIdentifier]?.body.count ?? 0
        }
        if size > ClientResponse.byteLimit { giveUp(dataTask) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    ) {
        guard let call = take(task) else { return }
        // Whoever is not reached is not there; why is the system's to log.
        guard error == nil, let response = task.response as? HTTPURLResponse else {
            return call.end.resume(returning: nil)
        }
        call.end.resume(returning: ClientResponse(response, body: call.body))
    }
}

extension ClientResponse {
    fileprivate init(_ response: HTTPURLResponse, body: Data) {
        self.init(status: response.statusCode, body: Array(body))
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            headers[Name(name.lowercased())] = value
        }
    }
}
