import Encodings
import EntitlementLedger
import Entitlements
import ModelSupport

/// What a transfer or a release of support's does, by the slow model (C1, E4): it counts from its time
/// on, whatever the policy, and says something new.
struct OwnerChangeLaw {
    private let log: [RecordedEvent]

    init(_ log: [RecordedEvent]) { self.log = log }

    /// `recorded`: an event of the log; what is no reason of support's is passed over.
    func check(_ recorded: RecordedEvent) throws {
        let (noted, place) = (recorded.event, Int(recorded.sequence))
        guard noted.kind == .signalNoted, let name = noted.data.text(.name),
            ["purchase_transferred", "purchase_released"].contains(name),
            case .purchase(let purchase) = noted.subject
        else { return }
        guard log.indices.contains(place + 1) else {
            throw SimulationFailure("the reason at \(place) stands alone")
        }
        let change = log[place + 1].event
        func owners(of count: Int) -> [CustomerID] {
            let known = log.prefix(count)
            let model = SlowModel(log: Array(known))
            // By what is linked so far: of later links it does not know.
            let shown = Self.name(of: purchase, in: noted.environment, by: known)
            return SimulatedCalls.customers.filter { customer in
                let state = model.show(
                    customer: customer.text,
                    environment: noted.environment,
                    at: change.time
                )
                return (state["purchases"]?.array ?? []).contains { owned in
                    owned["purchase"]?.string == shown
                }
            }
        }
        let (before, after) = (owners(of: place), owners(of: place + 2))
        let isRight =
            switch change.kind {
            case .customerClaimed: !after.isEmpty && before != after
            case .customerReleased: after.isEmpty
            default: false
            }
        guard isRight else {
            throw SimulationFailure(
                "the \(change.kind) at \(place + 1) leaves \(after), who were \(before)"
            )
        }
    }

    /// The name under which a purchase is shown (P13).
    private static func name(
        of purchase: PurchaseName,
        in environment: StoreEnvironment,
        by log: ArraySlice<RecordedEvent>
    ) -> String {
        var links = SlowLinks()
        for event in log.lazy.map(\.event)
        where event.kind == .purchaseLinked && event.environment == environment {
            guard case .purchase(let name) = event.subject, let alias = event.data.text(.alias)
            else { continue }
            links.add(alias: alias, name: name.description)
        }
        return links.end(of: purchase.description)
    }
}
