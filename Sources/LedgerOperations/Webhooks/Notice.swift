import Encodings
package import EntitlementLedger
package import Entitlements
import EventLog
package import LedgerAPI

/// Something that is told to whoever wants to know: an event of the log, or that a customer's access
/// changed.
///
/// It names nobody: whom it is about is the number of a stream, which the vault gives a name as long as it
/// is not erased.
package struct Notice: Sendable {
    /// What is told.
    package var content: Content
    /// The environment.
    package var environment: StoreEnvironment
    /// When it happened: of an event, when it was recorded.
    package var at: Instant
    /// The event, or the one that was the cause; nil: time was.
    package var sequence: UInt64?
    /// The stream by which notices stand in an order: the customer's, or the event's own.
    package var stream: UInt64

    /// What is told.
    package enum Content: Sendable {
        /// An event of the log.
        case event(EventKind)
        /// That access changed.
        case change(Change)
        /// That something is the matter, or no longer.
        case alert(LedgerAlert)
    }

    /// A change of access, as it is told.
    package struct Change: Sendable {
        var before: EntitlementChanged.Access
        var after: EntitlementChanged.Access
        var validUntil: Instant?
        /// Whether a catalog made it so.
        var isByCatalog: Bool
    }

    /// The type of a change of access (Interfaces, "Webhooks").
    package static let changeType = "entitlement.changed"

    /// The type of an alert.
    package static let alertType = "ledger.alert"
    /// By which alerts stand in an order: no stream has this number.
    private static let alertStream = UInt64.max

    /// An alert, at its onset or at its end.
    init(_ alert: LedgerAlert, at instant: Instant) {
        content = .alert(alert)
        environment = alert.environment
        at = instant
        stream = Self.alertStream
    }

    /// An event of the log.
    package init(_ mark: Questions.EventMark, at sequence: UInt64, of stream: UInt64) {
        content = .event(mark.kind)
        environment = mark.environment
        at = mark.recordedAt
        self.sequence = sequence
        self.stream = stream
    }

    /// A change of a customer's access.
    package init(_ change: ChangedAccess, _ outlook: AccessOutlook) {
        content = .change(
            Change(
                before: EntitlementChanged.Access(change.before),
                after: EntitlementChanged.Access(change.after),
                validUntil: change.validUntil,
                isByCatalog: change.isByCatalog
            )
        )
        environment = outlook.environment
        at = change.at
        sequence = change.cause
        stream = outlook.customer
    }

    /// The type of what is told.
    package var type: String {
        switch content {
        case .event(let kind): kind.name
        case .change: Self.changeType
        case .alert: Self.alertType
        }
    }

    /// The change of access that is told; nil: something else is.
    var change: Change? {
        if case .change(let change) = content { change } else { nil }
    }

    /// Whether a catalog changed somebody's access by it.
    var isByCatalog: Bool { change?.isByCatalog ?? false }

    /// Tells a change together with the one before it, from what that one began with.
    mutating func begin(with earlier: Notice) {
        guard var change, let first = earlier.change else { return }
        change.before = first.before
        content = .change(change)
    }

    /// The message's id: the same each time that this is told, whoever notices it again.
    package func id(of identity: LedgerIdentity) -> String {
        var parts = [
            type, identity.origin, String(at.milliseconds), sequence.map(String.init) ?? "",
            String(stream),
        ]
        if case .alert(let alert) = content {
            parts += [alert.alert.rawValue, alert.state.rawValue, alert.about ?? ""]
        }
        return "msg_" + ContentDigest.text(of: Array(parts.joined(separator: "\n").utf8))
    }
}

extension Notice {
    /// The notice as it is kept.
    var bytes: [UInt8] { Array(json.description.utf8) }

    private var json: JSONValue {
        var members = [
            JSONMember("type", .string(type)), JSONMember("environment", .string(environment.name)),
            JSONMember("at", .integer(at.milliseconds)), JSONMember("stream", .integer(stream)),
        ]
        if let sequence { members.append(JSONMember("sequence", .integer(sequence))) }
        if case .alert(let alert) = content {
            members.append(JSONMember("alert", .object(LedgerAlert.fields.members(of: alert))))
        }
        if case .change(let change) = content {
            members += [
                JSONMember("before", change.before.json), JSONMember("after", change.after.json),
                JSONMember("validUntil", .instant(change.validUntil)),
                JSONMember("catalog", .bool(change.isByCatalog)),
            ]
        }
        return .object(members)
    }

    /// Reads a notice as it is kept; nil: it is one of a later version's.
    init?(_ bytes: [UInt8]) {
        // What cannot be read is none of this version's.
        guard let json = try? JSONValue(parsing: bytes), let type = json["type"]?.string,
            let environment = json["environment"]?.string.flatMap({ StoreEnvironment(name: $0) }),
            let at = json["at"]?.integer, let stream = json["stream"]?.number
        else { return nil }
        if type == Self.alertType {
            // What cannot be read is none of this version's.
            guard let alert = json["alert"].flatMap({ try? LedgerAlert.fields.read($0) }) else {
                return nil
            }
            content = .alert(alert)
        } else if type == Self.changeType {
            guard let before = json["before"].flatMap(EntitlementChanged.Access.init(reading:)),
                let after = json["after"].flatMap(EntitlementChanged.Access.init(reading:)),
                let isByCatalog = json["catalog"]?.bool
            else { return nil }
            content = .change(
                Change(
                    before: before,
                    after: after,
                    validUntil: json["validUntil"]?.string.flatMap { Instant(rfc3339: $0) },
                    isByCatalog: isByCatalog
                )
            )
        } else {
            guard let kind = EventKind(name: type) else { return nil }
            content = .event(kind)
        }
        self.environment = environment
        self.at = Instant(milliseconds: at)
        self.stream = stream
        sequence = json["sequence"]?.number
    }
}

extension JSONValue {
    /// A number that is not negative.
    fileprivate var number: UInt64? {
        guard case .number(let text) = self else { return nil }
        return UInt64(text)
    }
}

extension EntitlementChanged.Access {
    /// As it is told.
    init(_ summary: AccessSummary) {
        self.init(tier: summary.tier.text, features: summary.features.map(\.text))
    }

    /// Reads what was kept; nil: it is a later version's.
    init?(reading json: JSONValue) {
        // What cannot be read is none of this version's.
        guard let access = try? Self.fields.read(json) else { return nil }
        self = access
    }

    fileprivate var json: JSONValue { .object(Self.fields.members(of: self)) }
}
