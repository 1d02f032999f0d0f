import Encodings
import LedgerAPI

/// Why a call has no answer that counts, and what to do about it.
struct CallFault: Error, Sendable, Hashable {
    /// What an app tells its people.
    var error: ServiceError
    /// What becomes of the call.
    var verdict: Verdict
    /// The problem's code; nil: it is none of the server's.
    var code: String?

    /// What becomes of a call that was not answered as asked.
    enum Verdict: Sendable, Hashable {
        /// It may succeed later; milliseconds that the server asks to wait, where it says any.
        case later(Int64?)
        /// The token does not count: what is known stays, and the call waits for another.
        case tokenRefused
        /// It can never succeed as it was sent.
        case never
    }

    /// Nobody was reached.
    static let unreached = CallFault(error: ServiceError(.networkError), verdict: .later(nil))

    /// The longest wait that a server is believed.
    private static let longestWait: Int64 = 86_400_000

    init(error: ServiceError, verdict: Verdict) {
        self.error = error
        self.verdict = verdict
    }

    /// Reads an answer that is no success.
    ///
    /// Only a problem document of the server gives a call up: a page of something in between, such as
    /// a proxy or a hotel's login, says nothing of it.
    init(_ response: ClientResponse) {
        // What is no JSON is no problem document.
        let json = try? JSONValue(parsing: response.body)
        // A problem of a newer server may have parts that are not read here.
        let error = (json?["error"]).flatMap { try? ServiceErrorAnswer.fields.read($0) }
            .map { ServiceError($0) }
        guard let error, let isRetryable = json?["retryable"]?.bool else {
            self.init(
                error: ServiceError(.networkError, reason: .busy),
                verdict: .later(Self.wait(response))
            )
            return
        }
        let code = json?["code"]?.string
        let verdict: Verdict =
            switch (response.status, code.flatMap { ProblemCode(rawValue: $0) }) {
            // Another server takes it, or this one later.
            case (403, .readOnly): .later(Self.wait(response))
            // Whoever asks: what a newer server says besides is of the token, so that nothing is given up.
            case (403, .notAllowed), (403, .notPermitted): .never
            case (401, _), (403, _): .tokenRefused
            // What is another's, and a path that there is not, are answered alike: neither says anything of what is
            // handed in.
            case (404, .notFound), (405, .methodNotAllowed): .tokenRefused
            case (400..<500, _) where !isRetryable: .never
            default: .later(Self.wait(response))
            }
        self.init(error: error, verdict: verdict)
        self.code = code
    }

    /// `Retry-After` in seconds, as milliseconds; nil: it is not said.
    private static func wait(_ response: ClientResponse) -> Int64? {
        guard let seconds = response.headers["retry-after"].flatMap({ Int64($0) }), seconds >= 0
        else { return nil }
        // Fits: held to a day first.
        return min(seconds, longestWait / 1000) * 1000
    }
}
