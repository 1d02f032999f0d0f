import Encodings
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Every page and form, every credential, own and foreign ids (rows 9.4, 9.6).
struct `Who may see a page` {
    /// What the interface says (Interfaces, "Pages"), written apart from the table of routes; empty:
    /// everybody may.
    private static let rights: [String: Set<Scope>] = [
        "showLogin": [], "signIn": [], "signOut": [], "readPageAsset": [], "leaveAccount": [],
        "searchCustomers": [.read, .support, .admin],
        "showCustomerPage": [.read, .support, .admin],
        "explainFeaturePage": [.read, .support, .admin],
        "compareStatesPage": [.read, .support, .admin],
    ].merging(forms) { page, _ in page }.merging(operating) { page, _ in page }

    /// Pages of what the ledger does are for whoever may call what gives the same.
    private static let operating: [String: Set<Scope>] = {
        let (all, reports): (Set<Scope>, Set<Scope>) = (
            [.read, .support, .audit, .admin], [.read, .audit, .admin]
        )
        var rights: [String: Set<Scope>] = [
            "showOverviewPage": all, "showEventsPage": all, "showHealthPage": all,
            "showNodesPage": all,
            // Support names the customer first.
            "streamEventsPage": reports, "showEventPage": reports,
            "showAuditPage": [.audit, .admin], "auditFromPage": [.audit, .admin],
            "showReportsPage": reports, "showDeliveriesPage": reports,
            "showCatalogPage": [.read, .support, .admin],
            "tryCatalogFromPage": [.read, .support, .admin],
            "showExportsPage": [.support, .admin], "exportCustomerFromPage": [.support, .admin],
        ]
        for kind in [
            "Customers", "Revenue", "Refunds", "Funnel", "Stages", "Errors", "Experiments",
        ] {
            rights["show\(kind)ReportPage"] = reports
        }
        let owners = [
            "publishCatalogFromPage", "showWebhookPage", "testWebhookFromPage",
            "enableWebhookFromPage", "disableWebhookFromPage", "resendFromPage",
            "showSettingsPage", "createKeyFromPage", "revokeKeyFromPage",
        ]
        for operation in owners { rights[operation] = [.admin] }
        return rights
    }()

    /// Customers' own pages are for no key and for nobody who is signed in to the console.
    private static let own: Set<String> = [
        "showHistory", "showReceipt", "restoreHistory", "showPaywall", "showFeaturePaywall",
        "showAccount", "exportAccount", "beginSession", "askForErasure",
    ]

    /// Forms are for whoever may call what they do.
    private static let forms: [String: Set<Scope>] = {
        // They show what the customer has: no key that only writes may see one.
        let support: Set<Scope> = [.support, .admin]
        let rights: [String: Set<Scope>] = [
            "Grant": support, "WithdrawGrant": support, "LinkCustomer": support,
            "SyncCustomer": support, "TransferPurchase": support, "ReleasePurchase": support,
            "VerifyCustomer": support, "EraseCustomer": [.admin],
        ]
        let pairs = rights.flatMap { name, scopes in
            ["show", "send"].map { ($0 + name + "Form", scopes) }
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()

    private enum Credential: CustomStringConvertible {
        case nothing, nonsense
        case session(Scope)
        case key(Scope)
        case customer

        var description: String {
            switch self {
            case .nothing: "nothing"
            case .nonsense: "a cookie that is none"
            case .session(let scope): "a session with \(scope)"
            case .key(let scope): "a key with \(scope)"
            case .customer: "alice's token"
            }
        }

        var scope: Scope? {
            switch self {
            case .session(let scope), .key(let scope): scope
            default: nil
            }
        }
    }

    private static let credentials: [Credential] =
        [.nothing, .nonsense, .customer] + Scope.allCases.map { .session($0) }
        + Scope.allCases.map { .key($0) }

    private static func path(_ route: Route, _ id: String) -> String {
        route.template.replacing("{id}", with: id).replacing("{feature}", with: "export")
            .replacing("{file}", with: "none").replacing("{sequence}", with: "0")
            .replacing("{key}", with: "k").replacing("{webhook}", with: "w")
            .replacing("{grantId}", with: "g").replacing("{purchase}", with: "app_store%2F1")
    }

    private static func send(
        _ route: Route,
        _ credential: Credential,
        about id: String,
        _ server: TestServer
    ) async throws -> TestAnswer {
        let path = path(route, id)
        // A form without its token: whoever may send it is told so.
        let body = route.body == nil ? nil : ""
        switch credential {
        case .nothing: return try await server.send(route.method, path, body: body)
        case .nonsense:
            let headers: HTTPFields = [.cookie: "entitle=nonsense"]
            return try await server.send(route.method, path, headers: headers, body: body)
        case .session(let scope):
            let visitor = try PageVisitor(server, with: scope)
            let headers: HTTPFields = [.cookie: "entitle=" + visitor.secret]
            return try await server.send(route.method, path, headers: headers, body: body)
        case .key(let scope):
            return try await server.send(
                route.method,
                path,
                credential: server.keys[scope],
                body: body
            )
        case .customer:
            return try await server.send(
                route.method,
                path,
                credential: server.token(for: "alice"),
                body: body
            )
        }
    }

    /// Whether an answer lets nobody in: 401, 403 for who asks and not for what cannot be done here, or to
    /// where one signs in.
    private static func isRefusal(_ answer: TestAnswer) -> Bool {
        answer.status == 401 || answer.status == 403 && answer.body.contains("forbidden")
            || answer.headers[.location]?.hasPrefix("/console/login?next=") == true
    }

    @Test func `is said by the interface alone, and others learn nothing of anybody`() async throws
    {
        try await TestServer.with { server in
            try server.publishCatalog()
            for customer in ["alice", "bob"] {
                _ = try await server.post("/v1/customers/\(customer)/grants", #"{"tier":"pro"}"#)
            }
            // A stream ends where there is no more to tell.
            let watch = Task { try await server.service.growth.run() }
            watch.cancel()
            try await watch.value
            var (count, refused) = (0, 0)
            for route in PageTable.routes {
                let isOwn = Self.own.contains(route.operation)
                let scopes =
                    try isOwn
                    ? []
                    : #require(
                        Self.rights[route.operation],
                        "\(route.operation) is not in the table"
                    )
                let ids = route.template.contains("{id}") ? ["alice", "bob", "nobody"] : ["-"]
                for credential in Self.credentials {
                    var foreign: [Int] = []
                    for id in ids {
                        let answer = try await Self.send(route, credential, about: id, server)
                        count += 1
                        // What they are shown is held elsewhere.
                        if isOwn, case .customer = credential { continue }
                        guard isOwn || !scopes.isEmpty else {
                            #expect(answer.status != 401, "\(route.operation) \(credential)")
                            continue
                        }
                        let may = credential.scope.map { scopes.contains($0) } ?? false
                        // Who may send a form is refused for its token alone.
                        if may, route.body != nil, case .session = credential { continue }
                        #expect(
                            Self.isRefusal(answer) == !may,
                            "\(route.operation), \(credential), \(id): \(answer.status)"
                        )
                        guard !may else { continue }
                        refused += 1
                        foreign.append(answer.status)
                        #expect(!answer.body.contains("bob") && !answer.body.contains("alice"))
                    }
                    // "Not yours" and "does not exist" are one answer.
                    #expect(Set(foreign).count <= 1)
                }
            }
            print("pages × credentials × ids: \(count) requests, \(refused) refused, 0 leaks")
            #expect(refused > 30)
        }
    }

    @Test func `is said of every page and of no other`() {
        #expect(Set(PageTable.routes.map(\.operation)) == Self.own.union(Self.rights.keys))
        let names = (PageTable.routes + RouteTable.routes).map(\.operation)
        #expect(Set(names).count == names.count)
    }
}
