import HTTPTypes
import LedgerAPI
import Presentation

extension CustomerForm {
    /// The path of its page.
    var template: String { "/console/customers/{id}/" + rawValue }

    /// The operation of the interface that does the same: who may call it may send the form.
    var operation: String {
        switch self {
        case .grant: "grant"
        case .withdraw: "withdrawGrant"
        case .link: "linkCustomer"
        case .transfer: "transferPurchase"
        case .release: "releasePurchase"
        case .sync: "syncCustomer"
        case .verify: "verifyCustomer"
        case .erase: "eraseCustomer"
        }
    }

    /// Who may send it, of those who may call that operation: a form shows what the customer has, which
    /// whoever only writes is not told.
    var scopes: ScopeSet {
        let route = RouteTable.routes.first { $0.operation == operation }
        let scopes: ScopeSet
        switch route?.access {
        case .keys(let keys), .customer(let keys): scopes = keys
        default: preconditionFailure("\(operation) is no call for keys")
        }
        return ScopeSet(scopes.named.filter { $0 != .write })
    }

    /// The operation's name behind another word.
    func operation(after word: String) -> String {
        word + operation.prefix(1).uppercased() + operation.dropFirst()
    }

    /// The forms that somebody may send.
    static func forms(of call: Call) -> [CustomerForm] {
        allCases.filter { call.caller.has(anyOf: $0.scopes) }
    }
}
