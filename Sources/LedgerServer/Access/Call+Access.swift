import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

extension Route {
    /// Why somebody looks: sealed with the access.
    static let reasonParameter = Parameter(
        name: "Access-Reason",
        place: .header,
        text: "Why a customer's data is looked at: noted with the access; no ids"
    )

    /// Bytes of a reason; what is longer is cut.
    static let reasonByteLimit = 1024

    /// Parameters and headers that may be sent.
    var allParameters: [Parameter] { parameters + (isLogged ? [Self.reasonParameter] : []) }
}

extension Call {
    /// The access that this call was; nil: it is not noted.
    ///
    /// Keys of support and auditors are noted; those of an app's backend, which asks all day, not.
    func access(_ route: Route) throws(Problem) -> CustomerAccess? {
        guard route.isLogged, case .key(let id, let scopes) = caller,
            scopes.allows(anyOf: [.support, .audit]),
            !route.isAskedByBackends || !scopes.allows(anyOf: [.read])
        else { return nil }
        return CustomerAccess(
            id: "access/\(requestID)",
            customer: try customer,
            environment: try environment(),
            actor: id,
            action: route.operation,
            reason: reason,
            time: now
        )
    }

    private var reason: String? {
        guard let header = headers[.accessReason] else { return nil }
        let text = String(decoding: header.utf8.prefix(Route.reasonByteLimit), as: UTF8.self)
        return text.isEmpty ? nil : text
    }
}
