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
    /// Keys of support and auditors are noted; those of an app's backend, which asks all day, not, unless they are
    /// support's or an auditor's as well and say why they ask.
    func access(_ route: Route) throws(Problem) -> CustomerAccess? {
        guard route.isLogged, let id = noted(isAskedByBackends: route.isAskedByBackends) else {
            return nil
        }
        return access(
            to: try customer,
            in: try environment(),
            by: id,
            route.operation,
            accessReason
        )
    }

    /// The same of customers whom the body or the answer names, and of a question that backends ask, too.
    ///
    /// `action`: the route's operation.
    func looks(
        at customers: [CustomerID],
        in environment: StoreEnvironment,
        _ action: String,
        isAskedByBackends: Bool = true
    ) -> [CustomerAccess] {
        guard let id = noted(isAskedByBackends: isAskedByBackends) else { return [] }
        return customers.enumerated().map { place, customer in
            access(to: customer, in: environment, by: id, action, accessReason, place)
        }
    }

    /// Whether what this caller changes is noted, and what they see of it.
    var leavesTrace: Bool { noted(isAskedByBackends: false) != nil }

    /// By which id a look of this caller is noted; nil: it is not.
    private func noted(isAskedByBackends: Bool) -> String? {
        guard case .key(let id, let scopes) = caller, scopes.allows(anyOf: [.support, .audit]),
            !isAskedByBackends || !scopes.allows(anyOf: [.read]) || saysWhy(scopes),
            // As the command by itself: what has a reason is noted.
            caller != .owner || accessReason != nil
        else { return nil }
        return id
    }

    /// Whether support or an auditor says why they look: no backend does, and a key that may read as well is noted
    /// then.
    private func saysWhy(_ scopes: ScopeSet) -> Bool {
        accessReason != nil && scopes.named.contains { $0 == .support || $0 == .audit }
    }

    /// Accesses to customers whom the path does not name, and who were concerned all the same.
    ///
    /// `action`: the route's operation. `reason`: as the body or the header says it.
    func accesses(
        to customers: [CustomerID],
        in environment: StoreEnvironment,
        _ action: String,
        _ reason: String?
    ) -> [CustomerAccess] {
        guard caller != .owner, case .key(let id, _) = caller else { return [] }
        return customers.enumerated().map { place, customer in
            access(to: customer, in: environment, by: id, action, reason, place)
        }
    }

    /// `place`: among the accesses of this call, each of which has an id of its own (E1).
    private func access(
        to customer: CustomerID,
        in environment: StoreEnvironment,
        by key: String,
        _ action: String,
        _ reason: String?,
        _ place: Int = 0
    ) -> CustomerAccess {
        CustomerAccess(
            id: "access/\(requestID)" + (place == 0 ? "" : "/\(place)"),
            customer: customer,
            environment: environment,
            actor: key,
            action: action,
            reason: reason,
            time: now
        )
    }

    /// Why the caller looks, as they say; nil: they do not.
    var accessReason: String? {
        guard let header = headers[.accessReason] else { return nil }
        let text = String(decoding: header.utf8.prefix(Route.reasonByteLimit), as: UTF8.self)
        return text.isEmpty ? nil : text
    }
}

extension Problem {
    /// Nobody is let in whose access could not be noted.
    static let accessesFull = Problem(
        .busy,
        "accesses cannot be noted: try again",
        retryAfter: 1
    )
}
