package import Encodings
package import Entitlements
package import LedgerAPI

extension ExportRedaction {
    /// Whether customers are shown by their number only.
    var hidesCustomers: Bool { self >= .names }
}

/// The forms in which an export is written.
public enum ExportFormat: String, CaseIterable, Sendable {
    case ndjson, csv, sqlite, html
}

/// What is exported: fixed before the first byte is written, so that an export that was stopped goes
/// on as it began.
public struct ExportPlan: Sendable, Hashable {
    /// Whose or which events.
    package enum Scope: Sendable, Hashable {
        /// One customer's, in one environment, under any of their names.
        case customer(CustomerID, StoreEnvironment)
        /// Those of a range of sequences, of all environments.
        case range(Range<UInt64>)
    }

    /// Whose or which events.
    package var scope: Scope
    /// T of the state and the explanations.
    package var at: Instant
    /// R, where it was given as an instant.
    package var known: Instant?
    /// Size of the prefix that is known at R.
    package var size: UInt64
    /// Who is answered: a customer's own export holds only what is theirs.
    package var visibility: Visibility
    /// What is hidden.
    package var redaction: ExportRedaction
    /// What is written.
    package var formats: [ExportFormat]
    /// When it was begun.
    package var madeAt: Instant
    /// The signed note of a checkpoint that covers every exported record.
    package var checkpoint: String

    /// The customer; nil: a range.
    package var customer: (id: CustomerID, environment: StoreEnvironment)? {
        guard case .customer(let id, let environment) = scope else { return nil }
        return (id, environment)
    }
}

extension ExportPlan {
    /// The plan as JSON, for an export that is to go on later.
    package var json: JSONValue {
        var members: [JSONMember]
        switch scope {
        case .customer(let id, let environment):
            members = [
                JSONMember("customer", .string(id.text)),
                JSONMember("environment", .string(environment.name)),
            ]
        case .range(let range):
            members = [
                JSONMember("from", .string(String(range.lowerBound))),
                JSONMember("to", .string(String(range.upperBound))),
            ]
        }
        members += [
            JSONMember("at", .instant(at)), JSONMember("known", .instant(known)),
            JSONMember("size", .string(String(size))),
            JSONMember("visibility", .string(visibility.rawValue)),
            JSONMember("redaction", .string(redaction.rawValue)),
            JSONMember("formats", .strings(formats.map(\.rawValue))),
            JSONMember("madeAt", .instant(madeAt)), JSONMember("checkpoint", .string(checkpoint)),
        ]
        return .object(members)
    }

    /// Reads a plan; nil for what is none.
    package init?(_ json: JSONValue) {
        func instant(_ name: String) -> Instant? {
            json[name]?.string.flatMap { Instant(rfc3339: $0) }
        }
        func number(_ name: String) -> UInt64? { json[name]?.string.flatMap { UInt64($0) } }
        if let text = json["customer"]?.string {
            guard let id = CustomerID(text),
                let environment = json["environment"]?.string.flatMap(StoreEnvironment.init(name:))
            else { return nil }
            scope = .customer(id, environment)
        } else {
            guard let from = number("from"), let to = number("to"), from <= to else { return nil }
            scope = .range(from..<to)
        }
        let names = (json["formats"]?.array ?? []).map { ExportFormat(rawValue: $0.string ?? "") }
        guard let at = instant("at"), let size = number("size"), let madeAt = instant("madeAt"),
            let redaction = json["redaction"]?.string.flatMap(ExportRedaction.init),
            let checkpoint = json["checkpoint"]?.string, !names.contains(nil)
        else { return nil }
        self.at = at
        // Plans without it were all the operator's.
        visibility = json["visibility"]?.string.flatMap(Visibility.init) ?? .everything
        known = instant("known")
        self.size = size
        self.redaction = redaction
        formats = names.compactMap(\.self)
        self.madeAt = madeAt
        self.checkpoint = checkpoint
    }
}
