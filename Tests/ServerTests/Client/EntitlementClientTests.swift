import Encodings
import Entitlements
import Foundation
import HTTPTypes
import LedgerAPI
import StoreSimulator
import Synchronization
import Testing

@testable import EntitlementClient
@testable import LedgerServer

/// An app's library against the server itself.
struct `The client library` {
    /// The network between both, which a test cuts.
    private final class Network: Sendable {
        private let isCut = Mutex(false)
        let server: TestServer

        init(_ server: TestServer) { self.server = server }

        func cut(_ isCut: Bool) { self.isCut.withLock { $0 = isCut } }

        var transport: ClientTransport {
            { [self] request in
                guard !isCut.withLock(\.self) else { return nil }
                var headers = HTTPFields()
                for (name, value) in request.headers {
                    guard let name = HTTPField.Name(name.text) else { continue }
                    headers[name] = value
                }
                let answer = try? await server.send(
                    request.method == .get ? .get : .post,
                    String(request.url.dropFirst("https://ledger.test".count)),
                    headers: headers,
                    body: request.body.map { String(decoding: $0, as: UTF8.self) }
                )
                guard let answer else { return nil }
                let fields = answer.headers.map {
                    (Name($0.name.canonicalName), $0.value)
                }
                return ClientResponse(
                    status: answer.status,
                    headers: Dictionary(fields) { first, _ in first },
                    body: answer.bytes
                )
            }
        }
    }

    private static let customer: CustomerID = "carol-1"

    private static let product = "com.example.app.pro.month"

    /// A client of the customer's; what it buys the simulated App Store signs.
    private static func service(
        _ network: Network,
        _ shop: ScriptedPurchases,
        of customer: CustomerID = customer,
        folder: String
    ) -> EntitlementService {
        let server = network.server
        var configuration = ServiceConfiguration(
            serverURL: "https://ledger.test",
            folder: folder,
            customer: customer,
            time: ClientTime(now: { server.clock.now }),
            transport: network.transport,
            token: { try server.token(for: customer.text) }
        )
        configuration.origin = "ledger.test/log"
        configuration.purchases = shop
        return EntitlementService(configuration)
    }

    private static func shop() -> ScriptedPurchases {
        ScriptedPurchases(
            [SoldProduct(id: product, name: "Pro", price: "4.99")]
        ) { product, customer in
            let id = "300000010000001"
            let token = customer.appAccountToken?.uuidString
            let signed = try? AppStoreWorld.store().transaction(
                start: AppStoreWorld.start,
                .members([
                    "transactionId": .string(id), "originalTransactionId": .string(id),
                    "appAccountToken": .optional(token),
                ])
            )
            guard let signed else { return .pending }
            return .success(
                StoreTransaction(
                    id: id,
                    originalID: id,
                    productID: product,
                    expiresAt: AppStoreWorld.end,
                    signed: String(decoding: signed, as: UTF8.self)
                )
            )
        }
    }

    // rows Z10, 2.3, 3.3, 3.4, 10.1, B8, ES5, CL5: bought, the server away, refunded
    @Test
    func `opens what was bought, also while the server is away, and closes what was refunded`()
        async throws
    {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            try await KeyFolder.with { folder in
                let (network, shop) = (Network(server), Self.shop())
                let service = Self.service(network, shop, folder: folder.path + "/client")
                #expect(await service.start() == .refreshed(server.clock.now))
                #expect(!service.gate.isOpen("export") && service.gate.isOpen("scan"))
                #expect(service.gate.decision("export").requiredProducts == [Self.product])
                let flow = await service.purchase(Self.product) { true }
                #expect(await flow.end() == .done(isRecorded: true))
                let decision = service.gate.decision("export")
                #expect(decision.isOpen && decision.reason == .purchase)
                #expect(decision.source == .server)
                #expect(decision.sources == ["app_store/300000010000001"])
                #expect(shop.finished.map(\.id) == ["300000010000001"])
                let shown = try await server.state(Self.customer.text)
                #expect(service.store.current.tier == shown["tier"]?.string)
                #expect(service.store.current.purchases.map(\.purchase) == decision.sources)
                try await Self.expectFlow(in: server)
                await service.stop()
                // The server is away, and the app begins anew.
                network.cut(true)
                let again = Self.service(network, shop, folder: folder.path + "/client")
                await again.start()
                #expect(again.gate.isOpen("export") && !again.gate.isOpen("none such"))
                #expect(again.store.current.source == .snapshot)
                network.cut(false)
                let refund = try Self.refund(of: 1)
                let told = try await server.send(.post, "/v1/signals/app-store", body: refund)
                #expect(told.status == 200, "\(told.body)")
                #expect(again.gate.isOpen("export"), "the control: nobody has asked yet")
                await again.applicationDidBecomeActive()
                #expect(!again.gate.isOpen("export") && again.store.current.source == .server)
                await again.stop()
            }
        }
    }

    // Stores, rule 7: ids are bytes, and a token is an id in lower case
    @Test(
        arguments: [
            "5b3f9a52-6c0e-4c5e-9a5e-0d4c2a7f1b90", "5B3F9A52-6C0E-4C5E-9A5E-0D4C2A7F1B90",
        ] as [CustomerID]
    )
    func `hands in what was bought by whose id is a UUID`(_ customer: CustomerID) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            try await KeyFolder.with { folder in
                let service = Self.service(
                    Network(server),
                    Self.shop(),
                    of: customer,
                    folder: folder.path + "/client"
                )
                await service.start()
                let flow = await service.purchase(Self.product) { true }
                #expect(await flow.end() == .done(isRecorded: true))
                #expect(service.gate.decision("export").source == .server)
                await service.stop()
            }
        }
    }

    // row 3.5: bought while nobody was reached
    @Test func `hands in what was bought while nobody was reached`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            try server.publishCatalog()
            try await KeyFolder.with { folder in
                let (network, shop) = (Network(server), Self.shop())
                let service = Self.service(network, shop, folder: folder.path + "/client")
                await service.start()
                network.cut(true)
                let flow = await service.purchase(Self.product) { true }
                #expect(await flow.end() == .done(isRecorded: false))
                #expect(service.gate.decision("export").source == .provisional)
                #expect(shop.finished.isEmpty)
                let before = try await server.has(Self.customer.text, "export")
                #expect(before == false)
                network.cut(false)
                await service.retry()
                #expect(service.gate.decision("export").source == .server)
                let after = try await server.has(Self.customer.text, "export")
                #expect(after == true)
                #expect(shop.finished.count == 1)
                await service.stop()
            }
        }
    }

    /// What the ledger has of the flow, which is told behind its end.
    private static func expectFlow(in server: TestServer) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(30))
        var kinds: [String] = []
        while kinds.count < 2, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(2))
            kinds = try server.events().compactMap { $0["type"]?.string }
                .filter { $0.hasPrefix("flow.") }
        }
        #expect(kinds == ["flow.started", "flow.succeeded"])
    }

    /// What the App Store tells of a purchase that it refunded.
    private static func refund(of number: Int) throws -> String {
        let id = JSONValue.string("30000001000000" + String(number))
        return AppStoreWorld.body(
            try AppStoreWorld.store().notification(
                "REFUND",
                id: "11111111-2222-3333-4444-555555555555",
                start: AppStoreWorld.start,
                transaction: .members([
                    "transactionId": id, "originalTransactionId": id,
                    "revocationDate": .integer(noon.milliseconds - 1000),
                    "revocationReason": .integer(0),
                    "signedDate": .integer(noon.milliseconds - 1000),
                ]),
                renewalInfo: .members(["originalTransactionId": id])
            )
        )
    }
}
