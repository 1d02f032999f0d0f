import Encodings
import EntitlementClient
import Entitlements
import LedgerAPI
import Scenarios
import StoreSimulator
import Stores
import Synchronization
import Testing

/// What every store of a device must do, held against each form of it (row ES1).
struct `A store of a device` {
    private typealias Sheet = Mutex<SimulatedPurchases.SheetAnswer>

    /// Shared by closures.
    private final class State: Sendable {
        let sheet = Sheet(.buy)
        let bought = Mutex<[StoreTransaction]>([])
    }

    private enum Form: CaseIterable {
        case scripted
        case simulated
    }

    /// A form as it is; `spoiled`: which of its promises it breaks, for the control.
    private static func store(_ form: Form, spoiled: Spoiled? = nil) throws -> StoreUnderTest {
        let state = State()
        let purchases: any PurchaseServicing
        let approve: @Sendable () async -> Void
        let product: String
        switch form {
        case .scripted:
            product = "pro.month"
            let shop = ScriptedPurchases(
                [SoldProduct(id: product, name: "Pro", price: "4.99")]
            ) { _, _ in
                switch state.sheet.withLock(\.self) {
                case .buy: .success(sampleTransaction())
                case .cancel: .userCancelled
                case .ask: .pending
                case .fail: .failed(ServiceError(.storeProblem))
                }
            }
            approve = { shop.tell(.verified(sampleTransaction())) }
            purchases = shop
        case .simulated:
            product = "pro.month"
            let device = try Self.device()
            purchases = SimulatedPurchases(
                url: "http://simulator.test",
                account: "alice",
                transport: device,
                interval: .milliseconds(5),
                sheet: { _ in state.sheet.withLock(\.self) }
            )
            approve = {
                _ = await device(
                    ClientRequest(.post, "http://simulator.test/device/accounts/alice/approve")
                )
            }
        }
        return StoreUnderTest(
            purchases: spoiled.map { SpoiledPurchases(inner: purchases, spoiled: $0) } ?? purchases,
            answer: { answer in state.sheet.withLock { $0 = answer } },
            approve: approve,
            product: product
        )
    }

    /// The simulator's part for devices, without a network.
    private static func device() throws -> ClientTransport {
        let store = SimulatedAppStore(authority: try ScenarioRun.authority(around: noon))
        let device = SimulatedDeviceAPI(store, products: ScenarioProducts.sold, clock: { noon })
        return { request in
            let method = StoreRequest.Method(rawValue: request.method.rawValue) ?? .get
            let asked = StoreRequest(method, request.url, body: request.body ?? [])
            return await device.transport(asked)
                .map { ClientResponse(status: $0.status, body: $0.body) }
        }
    }

    // row ES1, rows ES2, B9
    @Test(arguments: [true, false])
    func `keeps what every one of them promises`(isSimulated: Bool) async throws {
        let store = try Self.store(isSimulated ? .simulated : .scripted)
        #expect(await store.violations() == [])
    }

    /// A store that breaks a promise.
    private enum Spoiled: String, CaseIterable {
        case grantsWithoutPaying = "says that the sheet was closed"
        case forgetsUnfinished = "tells anew what was not finished"
        case losesWhatIsHeld = "holds what is finished"
        case finishesNothing = "tells no more what is finished"
    }

    private struct SpoiledPurchases: PurchaseServicing {
        let inner: any PurchaseServicing
        let spoiled: Spoiled
        private let told = Told()

        private final class Told: Sendable { let count = Atomic(0) }

        init(inner: any PurchaseServicing, spoiled: Spoiled) {
            (self.inner, self.spoiled) = (inner, spoiled)
        }

        func products(for ids: [String]) async throws(ServiceError) -> [SoldProduct] {
            try await inner.products(for: ids)
        }
        func purchase(_ productID: String, for customer: CustomerID) async -> PurchaseResult {
            let result = await inner.purchase(productID, for: customer)
            guard spoiled == .grantsWithoutPaying, result == .userCancelled else { return result }
            return .success(sampleTransaction())
        }
        var transactions: AsyncStream<TransactionUpdate> {
            let count = told.count.add(1, ordering: .relaxed).oldValue
            if spoiled == .forgetsUnfinished, count == 1 { return AsyncStream { $0.finish() } }
            return inner.transactions
        }
        func currentEntitlements() async throws(ServiceError) -> [StoreTransaction] {
            let held = try await inner.currentEntitlements()
            return spoiled == .losesWhatIsHeld && told.count.load(ordering: .relaxed) > 1
                ? [] : held
        }
        func finish(_ transaction: StoreTransaction) async {
            if spoiled != .finishesNothing { await inner.finish(transaction) }
        }
    }

    // Stores, rule 7: ids are bytes, and tokens are read in lower case
    @Test(
        arguments: [
            ("5b3f9a52-6c0e-4c5e-9a5e-0d4c2a7f1b90", true),
            ("5B3F9A52-6C0E-4C5E-9A5E-0D4C2A7F1B90", false), ("alice-1", false),
        ] as [(CustomerID, Bool)]
    )
    func `is told whose a purchase is where their id is a UUID in lower case`(
        _ customer: CustomerID,
        _ isTold: Bool
    ) async throws {
        let asked = Mutex<JSONValue>(.null)
        let store = SimulatedPurchases(
            url: "http://simulator.test",
            account: "alice",
            transport: { request in
                let body = try? JSONValue(parsing: request.body ?? [])
                asked.withLock { $0 = body ?? .null }
                return nil
            }
        )
        _ = await store.purchase("pro.month", for: customer)
        let body = asked.withLock(\.self)
        #expect(body["productId"]?.string == "pro.month", "the control")
        #expect(body["appAccountToken"]?.string == (isTold ? customer.text : nil))
    }

    // Stores, rule 7
    @Test func `says whose a purchase is`() async throws {
        let store = SimulatedPurchases(
            url: "http://simulator.test",
            account: "alice",
            transport: try Self.device()
        )
        let customer: CustomerID = "5b3f9a52-6c0e-4c5e-9a5e-0d4c2a7f1b90"
        guard case .success(let bought) = await store.purchase("pro.month", for: customer) else {
            Issue.record("it is sold")
            return
        }
        #expect(bought.account == customer)
        #expect(try await store.currentEntitlements().map(\.account) == [customer])
        // The control: whose id is no UUID is not named.
        let other = SimulatedPurchases(
            url: "http://simulator.test",
            account: "bob",
            transport: try Self.device()
        )
        _ = await other.purchase("pro.month", for: "bob-1")
        #expect(try await other.currentEntitlements().map(\.account) == [nil])
    }

    // The control of the suite itself.
    @Test(arguments: [true, false])
    func `that breaks a promise is found by its name`(isSimulated: Bool) async throws {
        for spoiled in Spoiled.allCases {
            let store = try Self.store(isSimulated ? .simulated : .scripted, spoiled: spoiled)
            #expect(await store.violations().contains(spoiled.rawValue), "\(spoiled)")
        }
    }
}
