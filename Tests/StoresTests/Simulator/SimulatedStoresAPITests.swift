import Encodings
import Entitlements
import StoreSimulator
import Synchronization
import Testing

@testable import Stores

/// What simulated stores answer, whoever asks them whatever (row Z7, row Z21).
struct `The API of a simulated store` {
    private static let now = AppStoreSample.now
    private static let length = 30 * Instant.millisecondsPerDay
    private static let month = SimulatedProduct(
        id: "pro.month",
        type: "Auto-Renewable Subscription",
        period: length,
        price: 9_990
    )
    /// The first transaction of the first account.
    private static let id = "2101000001"

    /// An account that bought a month, and renewed it so often.
    private static func account(
        _ number: Int = 1,
        renewals: Int64 = 0,
        in environment: String = "Production"
    ) throws -> SimulatedAppleAccount {
        let store = try AppStoreSample.store(environment)
        var account = SimulatedAppleAccount(number, token: nil, of: store)
        account.buy(month, at: AppStoreSample.start)
        for renewal in 0..<renewals {
            let time = AppStoreSample.start.advanced(byMilliseconds: (renewal + 1) * length)
            account.renew(0, at: time)
        }
        return account
    }

    private static func api(
        _ environment: String = "Production",
        knowing accounts: [SimulatedAppleAccount]
    ) throws -> SimulatedAppStoreAPI {
        let api = SimulatedAppStoreAPI(try AppStoreSample.store(environment)) { now }
        api.set(accounts)
        return api
    }

    private static func ask(
        _ api: SimulatedAppStoreAPI,
        _ path: String,
        _ method: StoreRequest.Method = .get,
        _ body: String = ""
    ) async throws -> StoreResponse {
        let token = try api.access().token(bundleID: "com.example.app", at: now)
        let request = StoreRequest(
            method,
            "http://127.0.0.1:1/inApps/" + path,
            headers: ["Authorization": "Bearer " + token],
            body: Array(body.utf8)
        )
        let response = await api.transport(request)
        return try #require(response)
    }

    /// The transactions of a page, and its revision.
    private static func history(
        _ api: SimulatedAppStoreAPI,
        _ query: String = ""
    ) async throws -> (transactions: [JSONValue], revision: String) {
        let page = try JSONValue(parsing: await ask(api, "v2/history/" + id + query).body)
        let revision = try #require(page["revision"]?.string)
        return (try (page["signedTransactions"]?.array ?? []).map(payload), revision)
    }

    /// All notifications.
    private static func notifications(
        _ api: SimulatedAppStoreAPI,
        _ query: String = ""
    ) async throws -> [JSONValue] {
        let path = "v1/notifications/history" + query
        let page = try JSONValue(parsing: await ask(api, path, .post, "{}").body)
        return try (page["notificationHistory"]?.array ?? []).map { item in
            try payload(of: item["signedPayload"] ?? .null)
        }
    }

    private static func payload(of jws: JSONValue) throws -> JSONValue {
        let parts = (jws.string ?? "").split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let bytes = Base64.decode(parts[1], .url)
        return try JSONValue(parsing: try #require(bytes))
    }

    // A number below 0 ended the program.
    @Test func `tells all to whoever asks from before the beginning`() async throws {
        let api = try Self.api(knowing: [Self.account()])
        #expect(try await Self.history(api, "?revision=-1").transactions.count == 1)
        #expect(try await Self.notifications(api, "?paginationToken=-1").count == 1)
        let play = try SimulatedPlayAPI()
        let path = "/androidpublisher/v3/applications/com.example.app/purchases/voidedpurchases"
        let request = StoreRequest(
            .get,
            "http://127.0.0.1:1" + path + "?token=-1",
            headers: ["Authorization": "Bearer access-1"]
        )
        let response = await play.transport(request)
        #expect(response?.status == 200)
    }

    // developer.apple.com/documentation/appstoreserverapi/error-codes: 4040010
    @Test func `knows nobody of another environment`() async throws {
        let tester = try Self.account(2, in: "Sandbox")
        let api = try Self.api(knowing: [Self.account(), tester])
        let id = try #require(tester.transactions.first?["transactionId"]?.string)
        #expect(try await Self.ask(api, "v2/history/" + id).status == 404)
        #expect(try await Self.notifications(api).count == 1)
        // The control: the sandbox knows the tester.
        let sandbox = try Self.api("Sandbox", knowing: [tester])
        #expect(try await Self.ask(sandbox, "v2/history/" + id).status == 200)
    }

    // What changed comes last: whoever had read all of three was told of no refund of the first.
    @Test func `tells what changed behind a revision`() async throws {
        var account = try Self.account(renewals: 2)
        let api = try Self.api(knowing: [account])
        let before = try await Self.history(api)
        #expect(before.transactions.count == 3)
        account.refund(0, at: Self.now)
        api.set([account])
        let after = try await Self.history(api, "?revision=" + before.revision)
        #expect(after.transactions.compactMap { $0["transactionId"]?.string } == [Self.id])
        // The control: nothing changed since.
        #expect(try await Self.history(api, "?revision=" + after.revision).transactions == [])
    }

    // E1: what was told of it had the id of what happened next, and was forgotten.
    @Test func `keeps an end that it moved, whatever it is told of the account`() async throws {
        var account = try Self.account()
        let api = try Self.api(knowing: [account])
        let answer = try await Self.ask(
            api,
            "v1/subscriptions/extend/" + Self.id,
            .put,
            #"{"extendByDays":7}"#
        )
        let end = try JSONValue(parsing: answer.body)["effectiveDate"]?.integer
        let start = AppStoreSample.start.milliseconds
        #expect(end == start + Self.length + 7 * Instant.millisecondsPerDay)
        account.setRenewal(0, false, at: Self.now)
        api.set([account])
        let transactions = try await Self.history(api).transactions
        #expect(transactions.map { $0["expiresDate"]?.integer } == [end])
        let told = try await Self.notifications(api)
        let types = told.compactMap { $0["notificationType"]?.string }.sorted()
        #expect(types == ["DID_CHANGE_RENEWAL_STATUS", "RENEWAL_EXTENDED", "SUBSCRIBED"])
        #expect(Set(told.compactMap { $0["notificationUUID"]?.string }).count == 3)
    }

    @Test func `tells what all accounts of one customer bought`() async throws {
        let api = SimulatedRevenueCatAPI()
        var accounts = [1, 2].map { SimulatedRevenueCatAccount($0, of: "alice") }
        for place in accounts.indices { accounts[place].buy(Self.month, at: Self.now) }
        api.set(accounts)
        let request = StoreRequest(
            .get,
            "http://127.0.0.1:1/v2/projects/proj1/customers/alice/subscriptions",
            headers: ["Authorization": "Bearer sk_simulated_0123456789"]
        )
        let response = await api.transport(request)
        let list = try JSONValue(parsing: response?.body ?? [])
        let ids = (list["items"]?.array ?? []).compactMap { $0["id"]?.string }
        #expect(ids == ["sub-1-0", "sub-2-0"])
    }

    // revenuecat.com/docs/integrations/webhooks/event-types-and-fields
    @Test func `sends a refund of the last period alone`() {
        var account = SimulatedRevenueCatAccount(1, of: "alice")
        account.buy(Self.month, at: AppStoreSample.start)
        account.renew(0, at: AppStoreSample.start.advanced(byMilliseconds: Self.length))
        account.refund(0, at: Self.now)
        #expect(account.webhooks.count == 2)
        account.refund(1, at: Self.now)
        #expect(account.webhooks.last?.body["event"]?["type"]?.string == "CANCELLATION")
    }

    // An older state that was told last took away what a second device had bought meanwhile.
    @Test func `tells what devices buy in the order in which they do`() async throws {
        let counts = Mutex<[Int]>([])
        let store = try AppStoreSample.store()
        let devices = SimulatedDeviceAPI(store, products: [], clock: { Self.now }) { accounts in
            // Every second one takes longer to be told.
            var words = SeededWords(seed: 1)
            if accounts.count % 2 == 1 { for _ in 0..<2_000 { _ = words.next() } }
            counts.withLock { $0.append(accounts.count) }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                let url = "http://127.0.0.1:1/device/accounts/device-\(number)/approve"
                group.addTask { _ = await devices.transport(StoreRequest(.post, url)) }
            }
        }
        #expect(counts.withLock(\.self) == Array(1...100))
    }
}
