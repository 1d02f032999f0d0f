public import Encodings
import Entitlements

/// Why a call is not answered as asked: a problem document (RFC 9457) with `code` and
/// `retryable`.
///
/// It names nobody: neither `detail` nor any other member holds an id.
public struct Problem: Error, Hashable, Sendable {
    /// The reason, of a closed set.
    public var code: ProblemCode
    /// A sentence on this occurrence.
    public var detail: String?
    /// The member or parameter that it is about, such as `data.expiresAt`.
    public var path: String?
    /// Seconds after which to try again; nil: not said.
    public var retryAfter: Int?
    /// Further members, such as `owner` for support.
    public var members: [JSONMember]

    /// Makes a problem.
    public init(
        _ code: ProblemCode,
        _ detail: String? = nil,
        path: String? = nil,
        retryAfter: Int? = nil,
        members: [JSONMember] = []
    ) {
        self.code = code
        self.detail = detail
        self.path = path
        self.retryAfter = retryAfter
        self.members = members
    }

    /// The media type of the JSON form.
    public static let mediaType = "application/problem+json"

    /// The JSON form; members without a value are left out.
    ///
    /// `language`: of `message`, which is for the people who use the app (row 2.5).
    public func json(language: Language) -> JSONValue {
        var all = [
            JSONMember("type", "about:blank"), JSONMember("title", .string(code.title)),
            JSONMember("status", .integer(code.status)), JSONMember("code", .string(code.rawValue)),
            JSONMember("retryable", .bool(code.isRetryable)),
        ]
        if let detail { all.append(JSONMember("detail", .string(detail))) }
        if let path, !path.isEmpty { all.append(JSONMember("path", .string(path))) }
        all.append(JSONMember("error", code.serviceError.json(in: language)))
        return .object(all + members)
    }
}
