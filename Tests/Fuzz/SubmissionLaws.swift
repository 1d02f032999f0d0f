import Encodings
import Entitlements
import Stores

extension Submission {
    /// What holds of every submission of a store's message, whatever the message says
    /// (Stores, rules 5 to 7; Model, "Events").
    func demandLaws(source expected: String, evidence body: [UInt8]) {
        demand(!events.isEmpty, "something is kept of every message")
        // What a store says, by itself or asked.
        demand(nature != .request && source == expected, "it is its store's")
        demand(Identifier.isValid(id), "its id is one")
        for (place, event) in events.enumerated() {
            // E1: the first event has the signal's own id.
            let ownID = place == 0 ? id : "\(id)#\(place + 1)"
            demand(event.id == ownID && event.source == source, "an event is its signal's")
            demand(event.environment == environment, "an event is of its signal's environment")
            event.demandRoundTrip()
        }
        demand(evidence == body, "the evidence is what was received")
        for link in links {
            demand(
                Identifier.isValid(link.customer.text) && Identifier.isValid(link.alias.text),
                "a link's names are ids"
            )
            demand(link.customer != link.alias, "a link is of two names")
            demand(
                link.time.isPlausible && link.observedAt.isPlausible,
                "a link's times are ones that an event may name"
            )
        }
    }
}

extension Event {
    /// What is recorded is read back as itself, to the byte.
    func demandRoundTrip() {
        let recorded = RecordedEvent(sequence: 0, recordedAt: observedAt, event: self)
        let text = recorded.json.description
        guard let json = try? JSONValue(parsing: Array(text.utf8)) else {
            fatalError("does not hold: an event's text is JSON")
        }
        do throws(InputFault) {
            let event = try Event(validating: json)
            demand(event == self, "an event reads back as itself")
            let again = RecordedEvent(sequence: 0, recordedAt: event.observedAt, event: event)
            demand(
                again.json.description.utf8.elementsEqual(text.utf8),
                "an event's text is one"
            )
        } catch {
            fatalError("does not hold: an event is valid: \(error.path): \(error.detail)")
        }
    }
}
