import EntitlementClient
import Entitlements
import LedgerAPI

/// What an app keeps for as long as it runs.
struct Shop: Sendable {
    let service: EntitlementService

    init(_ configuration: ServiceConfiguration) {
        service = EntitlementService(configuration)
    }

    /// At launch: what was kept answers at once, then the server is asked.
    func launch() async { await service.start() }

    /// A feature that is sold: no network, no waiting.
    func use(_ feature: String) -> String {
        let decision = service.gate.decision(feature)
        guard decision.isOpen else {
            return "Sold as \(decision.requiredProducts.joined(separator: ", "))."
        }
        return "Open, as the \(decision.source.rawValue) says."
    }

    /// The button of a paywall.
    func buy(_ product: String, confirm: @escaping @Sendable () async -> Bool) async -> String {
        let flow = await service.purchase(product, confirm: confirm)
        switch await flow.end() {
        case .done: return "Thank you."
        case .cancelled: return ""
        case .pending: return "Waiting for approval."
        case .failed(let error): return error.message(in: .english)
        case .confirming, .inStore, .verifying, .recording: return ""
        }
    }

    /// The button below it.
    func restore() async -> String {
        do throws(ServiceError) {
            switch try await service.restore() {
            case .nothing: return "There is nothing to restore."
            case .restored(let count): return "Restored: \(count)."
            case .waiting(let count): return "Waiting for the server: \(count)."
            }
        } catch {
            return error.message(in: .english)
        }
    }
}
