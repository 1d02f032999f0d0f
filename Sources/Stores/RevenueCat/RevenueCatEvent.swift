import Encodings
import Entitlements

/// The event inside a webhook body: its envelope is checked, its other fields are read on demand.
struct RevenueCatEvent: Hashable, Sendable {
    /// Unique for each signal, the same on each retry.
    let id: String
    /// As sent, such as `INITIAL_PURCHASE`.
    let type: String
    /// `event_timestamp_ms`: when RevenueCat made the statement (T2), not when it holds; where that
    /// is absurd, the time of arrival.
    private(set) var statedAt: Instant
    /// Whether `event_timestamp_ms` cannot be when it was said (Stores, rule 6).
    private(set) var isOddlyDated: Bool
    private let fields: JSONValue

    /// Checks what every event has: `id`, `type`, `event_timestamp_ms`.
    init(_ json: JSONValue) throws(SignalRefusal) {
        guard case .object = json else {
            throw SignalRefusal(.invalidValue, "", "expected a JSON object")
        }
        id = try Self.id(json)
        type = try Self.type(json)
        let stated = try Self.statedAt(json)
        statedAt = stated ?? .earliest
        isOddlyDated = stated == nil
        fields = json
    }

    /// The event with the time of arrival in place of a time that is absurd: outside 2000 to 2200, or
    /// more than a day ahead.
    func received(at instant: Instant) -> RevenueCatEvent {
        let latest = instant.advanced(byMilliseconds: Instant.millisecondsPerDay)
        guard isOddlyDated || statedAt > latest else { return self }
        var event = self
        event.statedAt = instant
        event.isOddlyDated = true
        return event
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
            id.utf8.count <= SignalID.byteLimit
        else {
            throw SignalRefusal(
                .invalidValue,
                "id",
                "expected 1 to \(SignalID.byteLimit) bytes of text without control characters"
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

    /// nil: no instant within 2000 to 2200.
    private static func statedAt(_ json: JSONValue) throws(SignalRefusal) -> Instant? {
        let name = "event_timestamp_ms"
        guard case .number(let text) = try required(name, json) else {
            throw SignalRefusal(.invalidValue, name, "expected milliseconds as a number")
        }
        let instant = ExactDecimal(jsonNumber: text).integer.map { Instant(milliseconds: $0) }
        return instant?.isPlausible == true ? instant : nil
    }
}
