/// What an API key may do.
package enum Scope: String, CaseIterable, Sendable {
    /// Hand in store signals and events.
    case ingest
    /// Ask about any customer.
    case read
    /// Append what an app's server appends: claims, trials, uses, flows, links.
    case write
    /// Explanations, exports, grants and who owns a purchase, as support needs them.
    case support
    /// The log, its proofs and checkpoints.
    case audit
    /// Everything: the catalog, erasure, and all of the others.
    case admin
    /// The server's figures and why it is not ready; nothing of any customer.
    case metrics

    fileprivate var bit: UInt8 {
        switch self {
        case .ingest: 1
        case .read: 2
        case .write: 4
        case .support: 8
        case .audit: 16
        case .admin: 32
        case .metrics: 64
        }
    }
}

/// Some scopes, held in one byte.
package struct ScopeSet: Hashable, Sendable, ExpressibleByArrayLiteral {
    private var bits: UInt8 = 0

    /// Collects scopes; one that is named twice counts once.
    package init(_ scopes: some Sequence<Scope>) {
        for scope in scopes { bits |= scope.bit }
    }

    package init(arrayLiteral scopes: Scope...) { self.init(scopes) }

    package var isEmpty: Bool { bits == 0 }

    /// Whether a scope is given, by itself or through `admin`.
    package func allows(_ scope: Scope) -> Bool {
        bits & (scope.bit | Scope.admin.bit) != 0
    }

    /// Whether one of some scopes is given, by itself or through `admin`.
    package func allows(anyOf scopes: ScopeSet) -> Bool {
        bits & (scopes.bits | Scope.admin.bit) != 0
    }

    /// The scopes that were named, in the order of their declaration.
    package var named: [Scope] { Scope.allCases.filter { bits & $0.bit != 0 } }
}
