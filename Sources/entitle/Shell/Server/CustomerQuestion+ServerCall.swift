import EntitlementLedger
import Entitlements
import LedgerServer

extension CustomerQuestion {
    /// The question as a server is asked it; of a customer's calls the one at a path.
    ///
    /// `more`: what else is asked. `reason`: why; nil: it is not said.
    func call(
        _ path: String...,
        more: [(name: String, value: String)] = [],
        because reason: String? = nil
    ) -> ServerCall {
        .get(
            ["v1", "customers", customer.text] + path,
            [("environment", environment.name)] + point.parameters("at", "known", "knownSequence")
                + more,
            because: reason
        )
    }
}

extension BitemporalPoint {
    /// The point as parameters of a call.
    func parameters(
        _ at: String,
        _ known: String,
        _ knownSequence: String
    ) -> [(name: String, value: String)] {
        let first = (name: at, value: self.at.description)
        switch knownAt {
        case .everything: return [first]
        case .instant(let instant): return [first, (known, instant.description)]
        case .sequence(let sequence): return [first, (knownSequence, String(sequence))]
        }
    }
}
