package import Entitlements

extension Query {
    /// T and R: `at`, and `known` or a number of events, by the names of their parameters.
    ///
    /// `now`: T where it is not given.
    package func point(
        at atName: String,
        _ knownName: String,
        _ sequenceName: String,
        now: Instant
    ) throws(Problem) -> BitemporalPoint {
        let at =
            try self[atName].map { text throws(Problem) in
                try Self.instant(text, atName, now: now)
            } ?? now
        let known: BitemporalPoint.Known
        switch (self[knownName], self[sequenceName]) {
        case (nil, nil): known = .everything
        case (let text?, nil): known = .instant(try Self.instant(text, knownName, now: now))
        case (nil, let text?): known = .sequence(try Self.sequence(text, sequenceName))
        case (_?, _?):
            throw Problem(
                .invalidRequest,
                "\(knownName) and \(sequenceName) exclude one another"
            )
        }
        return BitemporalPoint(at: at, knownAt: known)
    }

    /// An instant, a date or `now`.
    package static func instant(
        _ text: String,
        _ name: String,
        now: Instant
    ) throws(Problem) -> Instant {
        if text == "now" { return now }
        guard let instant = Instant(rfc3339: text) ?? Instant(rfc3339: text + "T00:00:00Z") else {
            throw Problem(.invalidValue, "expected an instant (RFC 3339) or a date", path: name)
        }
        return instant
    }

    /// A number of events.
    package static func sequence(_ text: String, _ name: String) throws(Problem) -> UInt64 {
        guard let sequence = UInt64(text) else {
            throw Problem(.invalidValue, "expected a sequence", path: name)
        }
        return sequence
    }
}
