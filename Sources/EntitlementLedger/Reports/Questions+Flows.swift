import Encodings
package import Entitlements
import EventLog

/// What an app said of a purchase flow, with the names that the log keeps sealed (row 2.2).
package struct RecordedFlow: Sendable, Hashable {
    /// Whether the flow began; else it ended, however it went.
    package var isStart: Bool
    /// `flowId`.
    package var flowID: String
    /// Who buys.
    package var customer: CustomerID
    /// The environment that it belongs to.
    package var environment: StoreEnvironment
    /// When it was recorded (T3).
    package var recordedAt: Instant
}

extension Questions {
    /// What apps said of flows since an instant, in the order of the log; of customers who were erased,
    /// nothing.
    ///
    /// Cost: a binary search, a look at the header of each later event, and the keys of those of flows.
    package func flows(recordedAfter instant: Instant) throws -> [RecordedFlow] {
        let end = try log.end().size
        let first = try log.size(recordedBy: instant, upTo: end)
        let opener = EventOpener(vault: vault, log: log)
        var flows: [RecordedFlow] = []
        try log.scan(from: first, upTo: end) { header, record in
            let kind = try header.eventKind()
            guard FlowFact.reads(kind), let event = try opener.open(record).recorded?.event,
                case .customer(let customer) = event.subject, let flow = event.data.text(.flowID),
                event.source.isSame(as: Source.app)
            else { return true }
            flows.append(
                RecordedFlow(
                    isStart: kind == .flowStarted,
                    flowID: flow,
                    customer: customer,
                    environment: event.environment,
                    recordedAt: Instant(milliseconds: header.recordedAt)
                )
            )
            return true
        }
        return flows
    }
}
