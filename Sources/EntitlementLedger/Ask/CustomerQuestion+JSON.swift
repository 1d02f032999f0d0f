public import Encodings
public import Entitlements

/// Why a question is not one.
public struct QuestionFault: Error, Sendable, Equatable {
    /// The member concerned; empty for the whole.
    public var path: String
    /// A sentence; holds no id.
    public var message: String

    /// Makes a fault.
    public init(path: String, message: String) {
        self.path = path
        self.message = message
    }
}

extension CustomerQuestion {
    private static let members: Set<String> = [
        "customer", "at", "known", "knownSequence", "environment",
    ]

    /// Reads `{"customer","at"?,"known"?,"knownSequence"?,"environment"?}`.
    ///
    /// `environment`, `point`: what is asked where the question does not say.
    ///
    /// `now`: what instants may be told from.
    public init(
        _ json: JSONValue,
        environment: StoreEnvironment,
        point: BitemporalPoint,
        now: Instant
    ) throws(QuestionFault) {
        guard let members = json.members else {
            throw QuestionFault(path: "", message: "not a JSON object")
        }
        if let unknown = members.first(where: { !Self.members.contains($0.name) }) {
            throw QuestionFault(path: unknown.name, message: "not a member of a question")
        }
        guard let customer = json["customer"]?.string, Identifier.isValid(customer) else {
            throw QuestionFault(path: "customer", message: "expected a customer id")
        }
        var point = point
        if let at = try Self.instant("at", in: json, now) { point.at = at }
        if let known = try Self.instant("known", in: json, now) { point.knownAt = .instant(known) }
        if let count = json["knownSequence"], !count.isNull {
            guard let count = count.integer, count >= 0 else {
                throw QuestionFault(path: "knownSequence", message: "expected a count")
            }
            guard json["known"] ?? .null == .null else {
                throw QuestionFault(
                    path: "knownSequence",
                    message: "known and knownSequence exclude each other"
                )
            }
            point.knownAt = .sequence(UInt64(count))
        }
        var asked = environment
        if let name = json["environment"], !name.isNull {
            guard let named = name.string.flatMap(StoreEnvironment.init(name:)) else {
                throw QuestionFault(
                    path: "environment",
                    message: "expected production, sandbox or local"
                )
            }
            asked = named
        }
        self.init(customer: customer, environment: asked, point: point)
    }

    private static func instant(
        _ name: String,
        in json: JSONValue,
        _ now: Instant
    ) throws(QuestionFault) -> Instant? {
        guard let value = json[name], !value.isNull else { return nil }
        guard let instant = value.string.flatMap({ Instant(argument: $0, now: now) }) else {
            throw QuestionFault(path: name, message: "expected an instant")
        }
        return instant
    }
}
