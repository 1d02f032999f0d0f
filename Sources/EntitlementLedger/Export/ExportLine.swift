import Entitlements
import EventLog
package import LedgerAPI

/// A line of an export before it is written in any form.
package enum ExportLine: Sendable {
    case identity(ExportedIdentity)
    case state(StateAnswer)
    case timeline(TimelineAnswer)
    case explanation(ExplanationAnswer)
    case event(ShownEvent)
    case evidence(ExportedEvidence)
    case proof(ExportedProof)
    case range(ExportedRange)

    /// Its JSON.
    package var text: String {
        switch self {
        case .identity(let line): AnswerText(line).description
        case .state(let line): AnswerText(line).description
        case .timeline(let line): AnswerText(line.exported).description
        case .explanation(let line): AnswerText(line).description
        case .event(let event): AnswerText(event.event.listed).description
        case .evidence(let line): AnswerText(line).description
        case .proof(let line): AnswerText(line).description
        case .range(let line): AnswerText(line).description
        }
    }
}

/// An event with what a redaction leaves of it.
package struct ShownEvent: Sendable {
    let event: OpenedEvent
    /// What its purchase is then, and whose, as they may be shown; nil: no purchase is looked up, or
    /// it is about none.
    let purchase: (moment: PurchaseMoment, owner: String?)?

    /// The event as support reads it.
    package var row: ExportedEvent {
        let header = event.header
        return ExportedEvent(
            event.kind,
            event.values,
            recorded: (header.sequence, Instant(milliseconds: header.recordedAt)),
            time: Instant(milliseconds: header.time),
            names: (event.subject ?? "erased/\(header.stream)", event.source, event.id),
            environment: StoreEnvironment(rawValue: header.environment),
            purchase: purchase
        )
    }
}
