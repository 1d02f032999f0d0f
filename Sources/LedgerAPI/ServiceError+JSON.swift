public import Encodings
import Entitlements

extension ServiceError {
    /// The JSON form: `code`, `message`, `retryable`, and where known `platform`, `nativeCode`,
    /// `reason`.
    public func json(in language: Language) -> JSONValue {
        var members = [
            JSONMember("code", .string(code.rawValue)),
            JSONMember("message", .string(message(in: language))),
            JSONMember("retryable", .bool(isRetryable)),
        ]
        let known = [
            ("platform", platform), ("nativeCode", nativeCode), ("reason", reason?.rawValue),
        ]
        for case (let name, let value?) in known {
            members.append(JSONMember(name, .string(value)))
        }
        return .object(members)
    }

    /// Reads the JSON form, or nil where there is no code.
    ///
    /// A code of a newer server becomes `UNKNOWN_ERROR`; what it says of retrying stays. The
    /// message is not read: the app has its own, in its customer's language.
    public init?(_ json: JSONValue) {
        guard let code = json["code"]?.string else { return nil }
        self.init(
            Code(rawValue: code) ?? .unknown,
            reason: json["reason"]?.string.flatMap(Reason.init(rawValue:)),
            isRetryable: json["retryable"]?.bool,
            platform: json["platform"]?.string,
            nativeCode: json["nativeCode"]?.string
        )
    }
}
