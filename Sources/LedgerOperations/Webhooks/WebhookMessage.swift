import Encodings
package import EntitlementLedger
package import Entitlements
import LedgerAPI

/// A message to a webhook: a CloudEvent (cloudevents.io, JSON format 1.0.2) under an id of its own.
package struct WebhookMessage: Sendable {
    /// The message's id: the same each time that it is sent.
    package var id: String
    /// The CloudEvent.
    package var body: [UInt8]

    /// The media type of the body.
    package static let mediaType = "application/cloudevents+json"

    /// A message of a notice; nil: whom it is about is erased, or the event is gone.
    ///
    /// Cost: of an event, reading it twice; of a change, a name.
    package init?(_ notice: Notice, of ledger: Ledger) throws {
        id = notice.id(of: ledger.identity)
        switch notice.content {
        case .event(let kind):
            guard let sequence = notice.sequence else { return nil }
            // The feed goes on telling of whom is erased, by a number; an erasure itself names nobody.
            guard
                try [.customerErased, .catalogPublished].contains(kind)
                    || ledger.questions.event(at: sequence) != nil
            else { return nil }
            // Fits: the log has the event.
            let filter = EventFilter(sequences: sequence..<sequence + 1)
            let page = try ledger.questions.feed(filter, for: .application, limit: 1)
            guard let text = page.events.first?.text else { return nil }
            body = Array(text.utf8)
        case .change(let change):
            guard let customer = try ledger.questions.customerName(ofStream: notice.stream) else {
                return nil
            }
            let changed = EntitlementChanged(
                customer: customer.text,
                environment: notice.environment,
                at: notice.at,
                before: change.before,
                after: change.after,
                cause: notice.sequence,
                validUntil: change.validUntil
            )
            body = Self.event(
                id,
                Notice.changeType,
                of: ledger.identity,
                at: notice.at,
                [
                    JSONMember("subject", .string(Subject.customer(customer).description)),
                    JSONMember("environment", .string(notice.environment.name)),
                ],
                .object(EntitlementChanged.fields.members(of: changed))
            )
        case .alert(let alert):
            body = Self.event(
                id,
                Notice.alertType,
                of: ledger.identity,
                at: notice.at,
                [JSONMember("environment", .string(notice.environment.name))],
                .object(LedgerAlert.fields.members(of: alert))
            )
        }
    }

    /// A message that tells of nothing, to try a webhook.
    package init(trying id: String, of identity: LedgerIdentity, at now: Instant) {
        self.id = id
        body = Self.event(id, "webhook.tested", of: identity, at: now, [], .object([]))
    }

    private static func event(
        _ id: String,
        _ type: String,
        of identity: LedgerIdentity,
        at instant: Instant,
        _ attributes: [JSONMember],
        _ data: JSONValue
    ) -> [UInt8] {
        let event = JSONValue.object(
            [
                JSONMember("specversion", .string(EventAttribute.specificationVersion)),
                JSONMember("id", .string(id)), JSONMember("source", .string(identity.origin)),
                JSONMember("type", .string(type)), JSONMember("time", .instant(instant)),
                JSONMember("datacontenttype", "application/json"),
            ] + attributes + [JSONMember("data", data)]
        )
        return Array(event.description.utf8)
    }
}
