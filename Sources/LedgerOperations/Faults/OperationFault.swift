package import Encodings
package import Entitlements

/// Why something cannot be done: what, where, and what to do.
///
/// What the layers below throw passes through the library as it is; a command tells it as one of
/// these.
public struct OperationFault: Error, Sendable, Equatable {
    /// What kind.
    public var code: Code
    /// A sentence; holds no id of a person.
    public var message: String
    /// Where: a path, a line, an option of the command.
    public var place: String?
    /// What to do, in terms of the command.
    public var hint: String?
    /// When there are uses again, for a limit that is used up.
    package var resetsAt: Instant?

    package init(_ code: Code, _ message: String, place: String? = nil, hint: String? = nil) {
        self.code = code
        self.message = message
        self.place = place
        self.hint = hint
    }

    /// RFC 9457 members, `code` and `hint`.
    package var json: JSONValue {
        var members = [
            JSONMember("type", "about:blank"), JSONMember("title", .string(message)),
            JSONMember("code", .string(code.rawValue)), JSONMember("detail", .optional(place)),
            JSONMember("hint", .optional(hint)),
            JSONMember("exitCode", .integer(code.status.rawValue)),
        ]
        if let resetsAt { members.append(JSONMember("resetsAt", .instant(resetsAt))) }
        return .object(members)
    }
}
