import Encodings
import Entitlements
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

    init(error: ServiceError, verdict: Verdict) {
        self.error = error
        self.verdict = verdict
    }

    /// Reads an answer that is no success.
    ///
    /// Only a problem document of the server gives a call up: a page of something in between, such as
    /// a proxy or a hotel's login, says nothing of it. `now`: when it came.
    init(_ response: ClientResponse, at now: Instant) {
        let wait = response.headers["retry-after"].flatMap { RetryAfter.milliseconds($0, at: now) }
        // What is no JSON is no problem document.
        let json = try? JSONValue(parsing: response.body)
        // A problem of a newer server may have parts that are not read here.
        let error = (json?["error"]).flatMap { try? ServiceErrorAnswer.fields.read($0) }
            .map { ServiceError($0) }
        guard let error, let isRetryable = json?["retryable"]?.bool else {
            self.init(
                error: ServiceError(.networkError, reason: .busy),
                verdict: .later(wait)
            )
            return
        }
        let code = json?["code"]?.string
        let verdict: Verdict =
            switch (response.status, code.flatMap { ProblemCode(rawValue: $0) }) {
            // Another server takes it, or this one later.
            case (403, .readOnly): .later(wait)
            // Whoever asks: what a newer server says besides is of the token, so that nothing is given up.
            case (403, .notAllowed), (403, .notPermitted): .never
            case (401, _), (403, _): .tokenRefused
            // Of a head that cannot be read, or is too large, the token is what the app put there.
            case (400, .invalidRequest), (431, _): .tokenRefused
            // What is another's, and a path that there is not, are answered alike: neither says anything of what is
            // handed in.
            case (404, .notFound), (405, .methodNotAllowed): .tokenRefused
            case (400..<500, _) where !isRetryable: .never
            default: .later(wait)
            }
        self.init(error: error, verdict: verdict)
        self.code = code
    }
}
