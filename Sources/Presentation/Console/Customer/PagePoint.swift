package import Entitlements

/// Where in both times a page about a customer stands.
package struct PagePoint: Sendable, Hashable {
    /// T; nil: it moves with the clock.
    package var at: Instant?
    /// R.
    package var known: BitemporalPoint.Known
    /// When the page was asked for.
    package var now: Instant

    /// Names a point.
    package init(at: Instant?, known: BitemporalPoint.Known, now: Instant) {
        self.at = at
        self.known = known
        self.now = now
    }

    /// Whether it is now, with all that is known.
    package var isNow: Bool { at == nil && known == .everything }

    /// The point as questions are asked.
    package var point: BitemporalPoint { BitemporalPoint(at: at ?? now, knownAt: known) }

    /// The same with another T.
    package func at(_ instant: Instant?) -> PagePoint {
        PagePoint(at: instant, known: known, now: now)
    }

    /// The same with another R.
    package func known(_ known: BitemporalPoint.Known) -> PagePoint {
        PagePoint(at: at, known: known, now: now)
    }

    /// What a page's query says of it; nothing of what goes without saying.
    package var query: [(name: String, value: String)] {
        var pairs: [(String, String)] = []
        if let at { pairs.append(("at", at.description)) }
        switch known {
        case .everything: break
        case .instant(let instant): pairs.append(("known", instant.description))
        case .sequence(let size): pairs.append(("knownSequence", String(size)))
        }
        return pairs
    }

    /// The attributes of a form's field for an instant, which is UTC.
    ///
    /// To the millisecond: a form that is sent as it stands asks what the page answers.
    static func field(_ name: String, _ instant: Instant?) -> KeyValuePairs<String, String> {
        [
            "type": "datetime-local", "id": name, "name": name, "step": "0.001",
            "value": instant.map { String($0.description.prefix(23)) } ?? "",
        ]
    }
}

/// A page to which one about a customer leads.
package enum CustomerPlace: Sendable, Hashable {
    /// The customer's own.
    case customer
    /// Why they have or lack a feature.
    case explanation(String)
    /// What differs between two points.
    case difference(from: PagePoint, to: PagePoint)
    /// What an event of the timeline changed: before it was known and with it, when it held.
    case change(byEvent: UInt64)
    /// An event of the customer's.
    case event(UInt64)
    /// A catalog that was published, by its event.
    case catalog(UInt64)
    /// A form by which something is recorded.
    case form(CustomerForm)
}

/// Makes the address of a page about a customer at a point.
package typealias CustomerLink = @Sendable (CustomerPlace, PagePoint) -> String
