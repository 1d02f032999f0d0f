package import Entitlements

/// Why a call is not answered as asked.
///
/// It names nobody: neither `detail` nor any other member holds an id, but for `owner`, which support
/// alone is told.
package struct Problem: Error, Hashable, Sendable {
    /// The reason, of a closed set.
    package var code: ProblemCode
    /// A sentence on this occurrence.
    package var detail: String?
    /// The member or parameter that it is about, such as `data.expiresAt`.
    package var path: String?
    /// The store whose message it is about; nil: no store's.
    package var store: String?
    /// Seconds after which to try again; nil: not said.
    package var retryAfter: Int?
    /// Who owns the purchase that was claimed, for support (Stores, rule 7).
    package var owner: String?
    /// When there are uses again (C5).
    package var resetsAt: Instant?
    /// Every fault of a catalog (K10).
    package var faults: [CatalogFaultAnswer]?
    /// The rate limits that were passed, by name.
    package var violatedPolicies: [String]?

    /// Makes a problem.
    package init(
        _ code: ProblemCode,
        _ detail: String? = nil,
        path: String? = nil,
        retryAfter: Int? = nil
    ) {
        self.code = code
        self.detail = detail
        self.path = path
        self.retryAfter = retryAfter
    }
}

/// A problem document (RFC 9457) with `code` and `retryable`; members without a value are left out.
package struct ProblemAnswer: Described {
    /// The problem's kind; its code says more.
    package var type: String
    /// The code in words.
    package var title: String
    /// The status of the response.
    package var status: Int
    /// The reason; a newer server may say what this program does not know.
    package var code: String
    /// Whether the same request may succeed later.
    package var isRetryable: Bool
    /// A sentence on this occurrence.
    package var detail: String?
    /// The member or parameter that it is about.
    package var path: String?
    /// What the app shows to its people.
    package var error: ServiceErrorAnswer
    /// Who owns the purchase that was claimed.
    package var owner: String?
    /// When there are uses again.
    package var resetsAt: Instant?
    /// Every fault of a catalog.
    package var faults: [CatalogFaultAnswer]?
    /// The rate limits that were passed (draft-ietf-httpapi-ratelimit-headers).
    package var violatedPolicies: [String]?
    /// The request, by which the server's log knows it.
    package var requestID: String

    /// The media type.
    package static let mediaType = "application/problem+json"

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Problem", "Why a call is not answered as asked", Self.init)
    {
        Field("type", \.type, .text)
        Field("title", \.title, .text)
        Field("status", \.status, .integer)
        Field("code", \.code, .text)
        Field("retryable", \.isRetryable, .boolean)
        Field("detail", \.detail, .orAbsent(.text))
        Field("path", \.path, .orAbsent(.text))
        Field("error", \.error, .object)
        Field("owner", \.owner, .orAbsent(.text))
        Field("resetsAt", \.resetsAt, .orAbsent(.instant))
        Field("faults", \.faults, .orAbsent(.list(.object)))
        Field("violated-policies", \.violatedPolicies, .orAbsent(.list(.text)))
        Field("requestId", \.requestID, .text)
    }
}

extension ProblemAnswer {
    /// Words a problem.
    ///
    /// `language`: of the message, which is for the people who use the app (row 2.5).
    package init(_ problem: Problem, in language: Language, requestID: String) {
        self.init(
            type: "about:blank",
            title: problem.code.title,
            status: problem.code.status,
            code: problem.code.rawValue,
            isRetryable: problem.code.isRetryable,
            detail: problem.detail,
            path: problem.path.flatMap { $0.isEmpty ? nil : $0 },
            error: ServiceErrorAnswer(problem.code.serviceError(of: problem.store), in: language),
            owner: problem.owner,
            resetsAt: problem.resetsAt,
            faults: problem.faults,
            violatedPolicies: problem.violatedPolicies,
            requestID: requestID
        )
    }
}

/// What is wrong with a catalog at one place (K10), or doubtful there.
package struct CatalogFaultAnswer: Described {
    /// Which rule is broken, a code of a closed set.
    package var code: String
    /// Where.
    package var path: String
    /// A sentence.
    package var detail: String

    /// Its members, in the order in which they are written.
    package static let fields = Fields("CatalogFault", "What is wrong with a catalog", Self.init) {
        Field("code", \.code, .text)
        Field("path", \.path, .text)
        Field("detail", \.detail, .text)
    }
}

extension CatalogFaultAnswer {
    /// Tells what is wrong.
    package init(_ fault: InputFault) {
        self.init(code: fault.code.rawValue, path: fault.path, detail: fault.detail)
    }

    /// Tells what is doubtful.
    package init(_ doubt: CatalogDoubt) {
        self.init(code: doubt.code.rawValue, path: doubt.path, detail: doubt.detail)
    }
}
