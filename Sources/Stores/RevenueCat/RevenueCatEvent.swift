import Encodings
import Entitlements

/// The event inside a webhook body: its envelope is checked, its other fields are read on demand.
struct RevenueCatEvent: Hashable, Sendable {
    /// Unique for each signal, the same on each retry.
    let id: String
    /// As sent, such as `INITIAL_PURCHASE`.
    let type: String
    /// `event_timestamp_ms`: when RevenueCat made the statement (T2), not when it holds.
    let statedAt: Instant
    private let fields: JSONValue

    /// Bytes that an id may have: leaves room for the `#N` of a signal's later events.
    static let idByteLimit = Identifier.byteLimit - 24

    /// Checks what every event has: `id`, `type`, `event_timestamp_ms`.
    init(_ json: JSONValue) throws(SignalRefusal) {
        guard case .object = json else {
            throw SignalRefusal(.invalidValue, "", "expected a JSON object")
        }
        id = try Self.id(json)
        type = try Self.type(json)
        statedAt = try Self.statedAt(json)
        fields = json
    }

    /// A member; JSON's `null` counts as absent.
    subscript(_ name: String) -> JSONValue? {
        guard let value = fields[name], !value.isNull else { return nil }
        return value
    }

    private static func required(
        _ name: String,
        _ json: JSONValue
    ) throws(SignalRefusal) -> JSONValue {
        guard let value = json[name] else { throw SignalRefusal(.missingField, name, "required") }
        return value
    }

    private static func id(_ json: JSONValue) throws(SignalRefusal) -> String {
        guard let id = try required("id", json).string, Identifier.isValid(id),
            id.utf8.count <= idByteLimit
        else {
            throw SignalRefusal(
                .invalidValue,
                "id",
                "expected 1 to \(idByteLimit) bytes of text without control characters"
            )
        }
        return id
    }

    private static func type(_ json: JSONValue) throws(SignalRefusal) -> String {
        guard let type = try required("type", json).string,
            type.contains(where: { $0.isLetter || $0.isNumber })
        else {
            throw SignalRefusal(.invalidValue, "type", "expected text with a letter or a digit")
        }
        return type
    }

    private static func statedAt(_ json: JSONValue) throws(SignalRefusal) -> Instant {
        let name = "event_timestamp_ms"
        guard case .number(let text) = try required(name, json) else {
            throw SignalRefusal(.invalidValue, name, "expected milliseconds as a number")
        }
        guard let milliseconds = ExactDecimal(jsonNumber: text).integer,
            case let instant = Instant(milliseconds: milliseconds), instant.isPlausible
        else {
            throw SignalRefusal(
                .outOfRange,
                name,
                "expected whole milliseconds within 2000 to 2200"
            )
        }
        return instant
    }
}
