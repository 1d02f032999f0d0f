import Encodings
import Entitlements
import LedgerOperations
import LedgerServer
import Presentation
import StoreSimulator
import Stores

/// The demonstration's App Store as the console's page of it shows and works it.
struct DemoStore: SimulatedStoreDesk {
    private let desk: SimulatedAppStoreDesk
    private let time: SimulatedClock
    private let products: [SimulatedProduct]
    /// A key that may hand in what apps do.
    private let key: String

    init(
        _ store: SimulatedAppStore,
        _ devices: SimulatedDeviceAPI,
        products: [SimulatedProduct],
        clock: SimulatedClock,
        key: String
    ) {
        desk = SimulatedAppStoreDesk(store, devices, products: products, clock: clock)
        time = clock
        self.products = products
        self.key = key
    }

    var clock: @Sendable () -> Instant { { [time] in time.now } }

    func state(of customer: CustomerID?, limit: Int) async -> SimulatorPage.State {
        let bought = await desk.bought.filter {
            customer == nil || $0.customer == customer
        }
        return SimulatorPage.State(
            now: time.now,
            ahead: time.ahead,
            products: products.map(\.id),
            purchases: bought.prefix(limit).map { customer, purchase in
                SimulatorPage.Purchase(
                    customer: customer,
                    id: purchase.id,
                    product: purchase.productID,
                    standing: SimulatorPage.Standing(purchase.standing),
                    end: purchase.end
                )
            },
            purchaseCount: bought.count,
            told: await desk.lately.map { told in
                SimulatorPage.Told(
                    at: told.at,
                    customer: told.customer,
                    what: told.what,
                    outcome: told.outcome.word,
                    sequence: told.outcome.sequence
                )
            }
        )
    }

    func buy(
        _ product: String,
        for customer: CustomerID,
        telling address: String
    ) async throws -> Bool {
        try await desk.buy(product, for: customer, telling: backend(at: address))
    }

    func take(
        _ step: SimulatorPage.Step,
        to purchase: String,
        telling address: String
    ) async throws -> Bool {
        try await desk.take(SimulatedStep(step), to: purchase, telling: backend(at: address))
    }

    func turn(by milliseconds: Int64, telling address: String) async throws {
        try await desk.turn(
            to: time.now.advanced(byMilliseconds: milliseconds),
            telling: backend(at: address)
        )
    }

    /// The ledger's server, told as any backend is: over HTTP, and verified there.
    private func backend(at address: String) -> SimulatedAppStoreDesk.Backend {
        SimulatedAppStoreDesk.Backend(
            notification: { body in
                await Self.send(body, to: address + "/v1/signals/app-store", key: nil)
            },
            claim: { [key] customer, transaction in
                let body = JSONValue.members([
                    "store": "app_store", "signedTransaction": .string(transaction),
                ])
                let path = "/v1/customers/\(customer.text.pathSegment)/purchases"
                return await Self.send(body, to: address + path, key: key)
            }
        )
    }

    private static func send(
        _ body: JSONValue,
        to url: String,
        key: String?
    ) async -> SimulatedAppStoreDesk.Outcome {
        var headers: [Name: String] = ["Content-Type": "application/json"]
        if let key { headers["Authorization"] = "Bearer " + key }
        let request = StoreRequest(
            .post,
            url,
            headers: headers,
            body: Array(body.description.utf8)
        )
        guard let response = await HTTPStoreTransport.send(request) else {
            return SimulatedAppStoreDesk.Outcome(word: "no_answer", sequence: nil)
        }
        // What is no JSON has no outcome.
        let answer = try? JSONValue(parsing: response.body)
        let word = answer?["outcome"]?.string ?? answer?["code"]?.string
        let sequence = answer?["sequence"]?.integer.flatMap { UInt64(exactly: $0) }
        return SimulatedAppStoreDesk.Outcome(
            word: word ?? String(response.status),
            sequence: sequence
        )
    }
}

extension SimulatorPage.Standing {
    fileprivate init(_ standing: SimulatedAppleAccount.Standing) {
        self =
            switch standing {
            case .renewing: .renewing
            case .ending: .ending
            case .grace: .grace
            case .retry: .retry
            case .over: .over
            case .refunded: .refunded
            case .owned: .owned
            }
    }
}

extension SimulatedStep {
    fileprivate init(_ step: SimulatorPage.Step) {
        self =
            switch step {
            case .renew: .renew
            case .grace: .grace
            case .failRenewal: .failRenewal
            case .endGrace: .endGrace
            case .expire: .expire
            case .cancel: .cancel
            case .resume: .resume
            case .resubscribe: .resubscribe
            case .refund: .refund
            case .reverseRefund: .reverseRefund
            }
    }
}
