import Encodings
import Entitlements

/// An object in what a store's API says, by its members.
struct PayloadObject: PayloadFields, Hashable, Sendable {
    let json: JSONValue

    subscript(_ name: String) -> JSONValue? { json.present(name) }

    /// An object inside it; nil if absent or of another shape.
    func object(_ name: String) -> PayloadObject? {
        guard let value = self[name], value.members != nil else { return nil }
        return PayloadObject(json: value)
    }

    /// The objects of a list inside it; none if absent or of another shape.
    func objects(_ name: String) -> [PayloadObject] {
        (self[name]?.array ?? []).filter { $0.members != nil }.map(PayloadObject.init)
    }

    /// A whole number of 64 bits, which Google and RevenueCat write as a number or as text
    /// (protobuf.dev/programming-guides/json); nil if absent or of another shape.
    func integer(_ name: String) -> Int64? {
        switch self[name] {
        case .number(let text): ExactDecimal(jsonNumber: text).integer
        case .string(let text): Int64(text)
        default: nil
        }
    }

    /// An instant as milliseconds since 1970; nil if absent.
    ///
    /// - Throws: `InputFault` for another shape and outside 2000 to 2200.
    func instant(milliseconds name: String) throws(InputFault) -> Instant? {
        guard self[name] != nil else { return nil }
        return try plausible(integer(name).map { Instant(milliseconds: $0) }, name)
    }

    /// An instant as RFC 3339 text; nil if absent.
    ///
    /// - Throws: `InputFault` for another shape and outside 2000 to 2200.
    func instant(_ name: String) throws(InputFault) -> Instant? {
        guard self[name] != nil else { return nil }
        return try plausible(stated(name), name)
    }

    /// An end as RFC 3339 text, where after 2200 means never.
    ///
    /// - Throws: `InputFault` for another shape and before 2000.
    func end(_ name: String) throws(InputFault) -> StatedEnd {
        guard self[name] != nil else { return .unstated }
        return try end(stated(name), name)
    }

    /// An end as milliseconds since 1970, where after 2200 means never.
    ///
    /// - Throws: `InputFault` for another shape and before 2000.
    func end(milliseconds name: String) throws(InputFault) -> StatedEnd {
        guard self[name] != nil else { return .unstated }
        return try end(integer(name).map { Instant(milliseconds: $0) }, name)
    }

    /// When an answer was given, as its `observedAt` says; nil: it does not say.
    ///
    /// - Throws: `SignalRefusal` for what is no instant up to now: an answer is not from the future.
    func observedAt(now: Instant) throws(SignalRefusal) -> Instant? {
        do throws(InputFault) {
            let stated = try instant("observedAt")
            // Clocks differ by less than a day.
            guard (stated ?? now) <= now.advanced(byMilliseconds: Instant.millisecondsPerDay) else {
                throw InputFault(unusable: "observedAt lies ahead")
            }
            return stated
        } catch {
            throw SignalRefusal(.outOfRange, "observedAt", "expected an instant up to now")
        }
    }

    private func end(_ instant: Instant?, _ name: String) throws(InputFault) -> StatedEnd {
        guard let end = instant.flatMap({ StatedEnd($0) }) else {
            throw InputFault(unusable: "\(name) is not within 2000 to 2200")
        }
        return end
    }

    private func stated(_ name: String) -> Instant? {
        text(name).flatMap { RFC3339.milliseconds(of: $0) }.map { Instant(milliseconds: $0) }
    }

    private func plausible(_ instant: Instant?, _ name: String) throws(InputFault) -> Instant {
        guard let instant, instant.isPlausible else {
            throw InputFault(unusable: "\(name) is not within 2000 to 2200")
        }
        return instant
    }
}
