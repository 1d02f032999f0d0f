import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation

extension Call {
    /// What pages about a customer take beside T and R, for forms that name days.
    static let dayParameters = [
        Route.Parameter(name: "atDay", text: "T, as a day since 1970", shape: .sequence),
        Route.Parameter(name: "knownDay", text: "R, as a day since 1970", shape: .sequence),
    ]

    /// Where in both times the page stands: by instants, or by days as sliders send them; what a form
    /// left empty is as if it were not sent.
    func pagePoint() throws(Problem) -> PagePoint {
        var point = PagePoint(at: nil, known: .everything, now: now)
        point.at = try instant(.at, orDay: .atDay)
        if let known = try instant(.known, orDay: .knownDay) { point.known = .instant(known) }
        if let text = query[.knownSequence], !text.isEmpty {
            guard point.known == .everything else {
                throw Problem(.invalidRequest, "known and knownSequence exclude one another")
            }
            point.known = .sequence(try Query.sequence(text, QueryName.knownSequence.rawValue))
        }
        return point
    }

    /// An instant, a date, or what a field of a form makes of one; nil: none, or now.
    func formInstant(_ name: QueryName) throws(Problem) -> Instant? {
        guard let text = query[name], !text.isEmpty, text != "now" else { return nil }
        return try formInstant(text, name.rawValue)
    }

    /// What a field of a form says, which is UTC.
    func formInstant(_ text: String, _ name: String) throws(Problem) -> Instant {
        // `datetime-local` leaves out the zone, and seconds that are zero (HTML, "Local dates and times").
        for ending in ["Z", ":00Z"] {
            if let instant = Instant(rfc3339: text + ending) { return instant }
        }
        return try instant(text, name)
    }

    private func instant(
        _ name: QueryName,
        orDay dayName: QueryName
    ) throws(Problem) -> Instant? {
        if let instant = try formInstant(name) { return instant }
        return try day(dayName)
    }

    /// The beginning of a day that a slider names; nil: none, or the last one, which is now.
    private func day(_ name: QueryName) throws(Problem) -> Instant? {
        guard let text = query[name], !text.isEmpty else { return nil }
        let last = now.milliseconds / Instant.millisecondsPerDay
        guard let day = Int64(text), day >= 0 else {
            throw Problem(.invalidValue, "expected a day since 1970", path: name.rawValue)
        }
        guard day < last else { return nil }
        // Fits: the day is before today.
        return Instant(milliseconds: day * Instant.millisecondsPerDay)
    }

    /// The question about the customer whom the path names, at a page's point.
    func question(at point: PagePoint) throws(Problem) -> CustomerQuestion {
        CustomerQuestion(
            customer: try customer,
            environment: try environment(),
            point: point.point,
            visibility: visibility
        )
    }

    /// Makes the addresses of pages about the customer whom the path names.
    func customerLink() throws(Problem) -> CustomerLink {
        let id = try customer.text
        return { place, point in
            let pairs = point.query.compactMap { pair in
                QueryName(rawValue: pair.name).map { ($0, pair.value) }
            }
            let base = ["customers", id]
            switch place {
            case .customer: return link(base, pairs)
            case .explanation(let feature): return link(base + ["explain", feature], pairs)
            case .change(let sequence):
                return link(base + ["diff"], [(.event, String(sequence))] + pairs)
            case .event(let sequence):
                // Support sees an event as one of the customer's whom it names.
                return link(["events", String(sequence)], readsAll ? [] : [(.customer, id)])
            case .catalog(let sequence):
                // It is no customer's event: to support the catalog's page shows it.
                return readsAll ? link(["events", String(sequence)]) : link(["catalog"])
            case .form(let form): return link(base + [form.rawValue])
            case .difference(let from, let to):
                return link(base + ["diff"], differencePairs(from, to))
            }
        }
    }

    private func differencePairs(_ from: PagePoint, _ to: PagePoint) -> [(QueryName, String)] {
        func second(_ name: String) -> QueryName? {
            switch QueryName(rawValue: name) {
            case .at: .toAt
            case .known: .toKnown
            case .knownSequence: .toKnownSequence
            default: nil
            }
        }
        let first = from.query.compactMap { pair in
            QueryName(rawValue: pair.name).map { ($0, pair.value) }
        }
        // T is the first one's unless it says so.
        let rest = to.at == from.at ? to.query.filter { $0.name != "at" } : to.query
        let now: [(QueryName, String)] =
            to.at == nil && from.at != nil ? [(.toAt, "now")] : []
        return first + now
            + rest.compactMap { pair in second(pair.name).map { ($0, pair.value) } }
    }

    /// What forms of a page carry along.
    var carriedPairs: [(name: String, value: String)] {
        [QueryName.environment, .lang].compactMap { name in
            query[name].map { (name.rawValue, $0) }
        }
    }
}
