import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import StoreSimulator
import Stores
import Testing

@testable import LedgerServer

/// Every route, every credential, own and foreign ids (row 9.4).
struct `Who may` {
    /// What the interface says (Interfaces, "Who may"), written apart from the table of routes.
    private struct Right {
        var scopes: Set<Scope>
        var customers = Customers.none

        enum Customers { case none, themselves, nobodySpecial }
    }

    private static let rights: [String: Right] = [
        "receiveAppStoreSignal": Right(scopes: [], customers: .nobodySpecial),
        "receivePlaySignal": Right(scopes: [.ingest, .admin]),
        "receiveRevenueCatSignal": Right(scopes: [.ingest, .admin]),
        "syncCustomer": Right(scopes: [.write, .support, .admin]),
        "claimPurchase": Right(scopes: [.write, .admin], customers: .themselves),
        "restorePurchases": Right(scopes: [.write, .admin], customers: .themselves),
        "grant": Right(scopes: [.write, .support, .admin]),
        "withdrawGrant": Right(scopes: [.write, .support, .admin]),
        "claimKnownPurchase": Right(scopes: [.support, .admin]),
        "transferPurchase": Right(scopes: [.support, .admin]),
        "releasePurchase": Right(scopes: [.support, .admin]),
        // What a customer asks for is noted.
        "eraseCustomer": Right(scopes: [.admin], customers: .themselves),
        "eraseCustomers": Right(scopes: [.admin]),
        "makePageLinks": Right(scopes: [.write, .support, .admin], customers: .themselves),
        "extendPurchase": Right(scopes: [.support, .admin]),
        "tellConsumption": Right(scopes: [.support, .admin]),
        "linkCustomer": Right(scopes: [.write, .support, .admin]),
        // Both scopes in one key, which each of these has not.
        "recordEvents": Right(scopes: [.admin]),
        "importLines": Right(scopes: [.admin]),
        "syncEverybody": Right(scopes: [.admin]),
        "signCheckpoint": Right(scopes: [.admin]),
        "rebuildViews": Right(scopes: [.admin]),
        "verifyEverybody": Right(scopes: [.admin]),
        "makeConsoleLink": Right(scopes: [.admin]),
        "startTrial": Right(scopes: [.write, .admin], customers: .themselves),
        "use": Right(scopes: [.write, .admin], customers: .themselves),
        "recordFlow": Right(scopes: [.write, .admin], customers: .themselves),
        "showCustomer": Right(scopes: [.read, .support, .admin], customers: .themselves),
        "checkFeature": Right(scopes: [.read, .support, .admin], customers: .themselves),
        "showTimeline": Right(scopes: [.read, .support, .admin], customers: .themselves),
        "listPurchases": Right(scopes: [.read, .support, .admin], customers: .themselves),
        "repeatDecision": Right(scopes: [.read, .support, .admin]),
        "signSnapshot": Right(scopes: [.read, .support, .admin], customers: .themselves),
        "readSnapshotKeys": Right(scopes: [], customers: .nobodySpecial),
        "compareStates": Right(scopes: [.read, .support, .admin]),
        "exportCustomer": Right(scopes: [.support, .admin], customers: .themselves),
        "exportLog": Right(scopes: [.audit, .admin]),
        "explainFeature": Right(scopes: [.read, .support, .admin], customers: .themselves),
        "readCatalog": Right(scopes: [.read, .support, .admin]),
        "publishCatalog": Right(scopes: [.admin]),
        "askWhatIf": Right(scopes: [.audit, .admin]),
        "compareCatalogs": Right(scopes: [.audit, .admin]),
        "listProducts": Right(scopes: [.read, .support, .admin]),
        "loadProducts": Right(scopes: [.admin]),
        "readGates": Right(scopes: [.read, .support, .admin], customers: .themselves),
        "readOffering": Right(scopes: [.read, .support, .admin], customers: .themselves),
        "reportCustomers": Right(scopes: [.read, .audit, .admin]),
        "reportRevenue": Right(scopes: [.read, .audit, .admin]),
        "reportRefunds": Right(scopes: [.read, .audit, .admin]),
        "reportFunnel": Right(scopes: [.read, .audit, .admin]),
        "reportStages": Right(scopes: [.read, .audit, .admin]),
        "reportErrors": Right(scopes: [.read, .audit, .admin]),
        "reportExperiments": Right(scopes: [.read, .audit, .admin]),
        "evaluateFlag": Right(scopes: [.read, .admin], customers: .themselves),
        "evaluateFlags": Right(scopes: [.read, .admin], customers: .themselves),
        // Asked about a customer, which auditors may not.
        "listEvents": Right(scopes: [.read, .support, .admin]),
        "streamEvents": Right(scopes: [.read, .support, .admin]),
        // Known by its ticket.
        "streamFlagChanges": Right(scopes: [], customers: .nobodySpecial),
        "listCustomerEvents": Right(scopes: [.read, .support, .admin]),
        "addWebhook": Right(scopes: [.admin]),
        "listWebhooks": Right(scopes: [.admin]),
        "readWebhook": Right(scopes: [.admin]),
        "removeWebhook": Right(scopes: [.admin]),
        "testWebhook": Right(scopes: [.admin]),
        "disableWebhook": Right(scopes: [.admin]),
        "enableWebhook": Right(scopes: [.admin]),
        "rotateWebhookSecret": Right(scopes: [.admin]),
        "listWebhookDeliveries": Right(scopes: [.admin]),
        "resendWebhookDeliveries": Right(scopes: [.admin]),
        "readCheckpoint": Right(scopes: [.audit, .admin]),
        "readRecords": Right(scopes: [.audit, .admin]),
        "readTile": Right(scopes: [.audit, .admin]),
        "proveRecord": Right(scopes: [.audit, .admin]),
        "proveGrowth": Right(scopes: [.audit, .admin]),
        "auditLedger": Right(scopes: [.audit, .admin]),
        "checkDrift": Right(scopes: [.audit, .admin]),
        "replayLedger": Right(scopes: [.audit, .admin]),
        "beginComparison": Right(scopes: [.admin]),
        "compareCustomers": Right(scopes: [.admin]),
        "verifyCustomer": Right(scopes: [.support, .admin]),
        "health": Right(scopes: [], customers: .nobodySpecial),
        "readiness": Right(scopes: [], customers: .nobodySpecial),
        "readStatus": Right(scopes: [.read, .support, .audit, .admin]),
        "diagnose": Right(scopes: [.admin]),
        "metrics": Right(scopes: [.read, .audit, .metrics, .admin]),
        "readCluster": Right(scopes: [.read, .support, .audit, .admin]),
        // Machines of a cluster, by their own tickets.
        "passAccesses": Right(scopes: []),
        "describe": Right(scopes: [], customers: .nobodySpecial),
    ]

    /// What a caller presents, and what it makes of them.
    fileprivate enum Credential: CustomStringConvertible {
        case nothing, nonsense, revoked
        case key(Scope)
        case customer(String)
        case stranger

        var description: String {
            switch self {
            case .nothing: "nothing"
            case .nonsense: "nonsense"
            case .revoked: "a revoked key"
            case .key(let scope): "a key with \(scope)"
            case .customer(let id): "\(id)'s token"
            case .stranger: "a token of another issuer"
            }
        }
    }

    private static let credentials: [Credential] =
        [.nothing, .nonsense, .revoked, .stranger, .customer("alice")]
        + Scope.allCases.map { .key($0) }

    private enum Verdict { case admitted, unauthenticated, forbidden, notFound }

    private static func expected(
        _ operation: String,
        _ credential: Credential,
        about id: String?
    ) throws -> Verdict {
        let right = try #require(rights[operation], "\(operation) is not in the table")
        if right.customers == .nobodySpecial { return .admitted }
        // A store's message that no key vouches for has no secret either.
        let isStores = ["receivePlaySignal", "receiveRevenueCatSignal"].contains(operation)
        let refusal = isStores ? Verdict.unauthenticated : .forbidden
        switch credential {
        case .nothing, .nonsense, .revoked, .stranger: return .unauthenticated
        case .key(let scope):
            return right.scopes.contains(scope) ? .admitted : refusal
        case .customer(let own):
            switch right.customers {
            case .themselves: return id == own ? .admitted : .notFound
            default: return refusal
            }
        }
    }

    private static func verdict(_ answer: TestAnswer) -> Verdict {
        switch (answer.status, answer.code) {
        case (401, "unauthenticated"): .unauthenticated
        case (403, "forbidden"): .forbidden
        case (404, "not_found"): .notFound
        default: .admitted
        }
    }

    fileprivate static func body(_ route: Route, _ id: String) -> String? {
        guard route.body != nil else { return nil }
        switch route.operation {
        case "evaluateFlag", "evaluateFlags": return #"{"context":{"targetingKey":"\#(id)"}}"#
        case "grant": return #"{"tier":"pro"}"#
        case "transferPurchase": return #"{"to":"alice","reason":"asked"}"#
        case "claimKnownPurchase": return #"{"customer":"alice"}"#
        case "importLines": return #"{"lines":[]}"#
        case "releasePurchase": return #"{"reason":"asked"}"#
        case "linkCustomer": return #"{"alias":"another-id"}"#
        case "startTrial": return #"{"trialId":"week"}"#
        case "use": return #"{"featureId":"scan"}"#
        case "recordFlow": return #"{"type":"started","flowId":"f"}"#
        case "publishCatalog", "compareCatalogs": return TestServer.catalog
        default: return "{}"
        }
    }

    @Test func `every route admits whom the interface names, and says no more to others`()
        async throws
    {
        var setup = TestServer.Setup()
        setup.stores.revenueCat = RevenueCatSecret.authentication
        setup.stores.playStore = PlayConfiguration(packageNames: ["com.example.app"])
        setup.stores.playPush = PlayPushVerifier(
            PlayPushIdentity(audience: "here", serviceAccount: "push@example.com"),
            // No credential of ours is a token by these.
            keys: IssuerKeys(for: TokenKeys.google) { [keys = try SimulatedPlayStore().keySet()] in
                IssuerKeys.Fetched(text: keys, lifetime: nil)
            }
        )
        try await TestServer.with(setup) { server in
            try server.publishCatalog()
            for customer in ["alice", "bob"] {
                _ = try await server.post("/v1/customers/\(customer)/grants", #"{"tier":"pro"}"#)
            }
            _ = try server.ledger.prover.checkpoint()
            // A stream ends where there is no more to tell.
            let watch = Task { try await server.service.growth.run() }
            watch.cancel()
            try await watch.value
            var count = 0
            var refusals: [Verdict: Int] = [:]
            for route in RouteTable.routes {
                let ids = route.isAboutCustomer ? ["alice", "bob", "nobody"] : [nil]
                for credential in Self.credentials {
                    var foreign: [String] = []
                    for id in ids {
                        let answer = try await server.send(route, credential, about: id)
                        let expected = try Self.expected(route.operation, credential, about: id)
                        let verdict = Self.verdict(answer)
                        #expect(
                            verdict == expected,
                            "\(route.operation), \(credential), \(id ?? "-"): \(answer)"
                        )
                        // RFC 9110, section 15.5.2
                        let challenge = answer.headers[.wwwAuthenticate]
                        #expect((challenge != nil) == (answer.status == 401))
                        count += 1
                        refusals[verdict, default: 0] += 1
                        if verdict != .admitted {
                            #expect(!answer.body.contains("bob") && !answer.body.contains("nobody"))
                            if id != "alice" { foreign.append(answer.anonymousBody) }
                        }
                    }
                    // "Not yours" and "does not exist" are one answer.
                    #expect(Set(foreign).count <= 1)
                }
            }
            let refused = count - refusals[.admitted, default: 0]
            print("routes × credentials × ids: \(count) requests, \(refused) refused, 0 leaks")
            #expect(count > 400)
            for verdict in [Verdict.unauthenticated, .forbidden, .notFound, .admitted] {
                #expect(refusals[verdict, default: 0] > 0)
            }
        }
    }

    @Test func `the interface's rights name every route and no other`() {
        #expect(Set(RouteTable.routes.map(\.operation)) == Set(Self.rights.keys))
        #expect(Set(RouteTable.routes.map(\.operation)).count == RouteTable.routes.count)
    }
}

extension Route {
    fileprivate var isAboutCustomer: Bool {
        template.contains("{id}") || operation.hasPrefix("evaluate") || isAboutViewer
    }

    /// Whether a parameter names the customer.
    fileprivate var isAboutViewer: Bool {
        queryNames.contains("customer")
    }
}

extension TestServer {
    fileprivate func send(
        _ route: Route,
        _ credential: `Who may`.Credential,
        about id: String?
    ) async throws -> TestAnswer {
        let query = route.isAboutViewer ? "?customer=\(id ?? "")" : ""
        let path = (route.template + query)
            .replacing("{id}", with: id ?? "").replacing("{feature}", with: "scan")
            .replacing("{key}", with: "scan").replacing("{grantId}", with: "g")
            .replacing("{sequence}", with: "0").replacing("{size}", with: "1")
            .replacing("{level}", with: "0").replacing("{place}", with: "000.p/1")
            .replacing("{purchase}", with: "app_store%2F1").replacing("{token}", with: "none")
            .replacing("{transaction}", with: "1")
        let text: String? =
            switch credential {
            case .nothing: nil
            case .nonsense: "nonsense"
            case .revoked: APIKey.sample(999).text
            case .key(let scope): keys[scope]
            case .customer(let id): try token(for: id)
            case .stranger: try await TokenIssuer.es256().token(for: "alice", from: clock.now)
            }
        return try await send(
            route.method,
            path,
            credential: text,
            body: `Who may`.body(route, id ?? "")
        )
    }
}

extension TestAnswer {
    /// The body without what differs from request to request.
    fileprivate var anonymousBody: String {
        guard case .object(let members) = json else { return body }
        return JSONValue.object(members.filter { $0.name != "requestId" }).description
    }
}
