import Encodings
import Entitlements

/// What the App Store has signed, as JSON: what every payload has is checked, the rest is read on
/// demand, so that fields and values that are not known yet survive.
struct AppStorePayload: PayloadFields, Hashable, Sendable {
    /// The JWS that it stands in.
    let jws: DecodedJWS
    /// The environment that it speaks of.
    let environment: StoreEnvironment
    /// When it was signed; the creation date of an app transaction.
    let signedAt: Instant
    /// Whether a signature was checked; false only for local testing.
    let isSigned: Bool

    /// All of it.
    var json: JSONValue { jws.json }

    /// A member; JSON's `null` counts as absent.
    subscript(_ name: String) -> JSONValue? { json.present(name) }

    /// A whole number of 64 bits; nil if absent or of another shape.
    func integer(_ name: String) -> Int64? { self[name]?.integer }

    /// An instant; nil if absent, not a number, or outside 2000 to 2200.
    func plausibleInstant(_ name: String) -> Instant? {
        guard case .at(let instant) = date(name) else { return nil }
        return instant
    }

    /// What is said about a date.
    func date(_ name: String) -> AppStoreDate { AppStoreDate(self[name]) }
}

/// A date as the App Store writes it: milliseconds since 1970.
enum AppStoreDate: Hashable, Sendable {
    /// Absent.
    case unstated
    case at(Instant)
    /// After 2200: for an end, without end (Stores, rule 6).
    case afterAll
    /// Before 2000, or not a number.
    case absurd

    /// What Xcode writes for an absent date: the first instant of year 1.
    private static let absence: Int64 = -62_135_769_600_000

    init(_ json: JSONValue?) {
        guard let json else {
            self = .unstated
            return
        }
        guard case .number(let text) = json, let milliseconds = Self.milliseconds(text) else {
            self = .absurd
            return
        }
        let instant = Instant(milliseconds: milliseconds)
        switch instant {
        case _ where milliseconds == Self.absence: self = .unstated
        case Instant.latest...: self = .afterAll
        case Instant.earliest...: self = .at(instant)
        default: self = .absurd
        }
    }

    /// Xcode writes fractions of a millisecond, which are cut off.
    private static func milliseconds(_ text: String) -> Int64? {
        if let whole = Int64(text) { return whole }
        if let whole = ExactDecimal(jsonNumber: text).integer { return whole }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(parts[0])
    }
}

extension JSONValue {
    /// A member that is not `null`.
    func present(_ name: String) -> JSONValue? {
        guard let value = self[name], !value.isNull else { return nil }
        return value
    }
}
