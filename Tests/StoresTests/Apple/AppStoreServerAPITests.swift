import Crypto
import Encodings
import Entitlements
import StoreSimulator
import Synchronization
import Testing

@testable import Stores

struct `The App Store Server API` {
    private static let now = AppStoreSample.start.advanced(byMilliseconds: 400 * 86_400_000)

    /// An account with a subscription of so many months, the first of which are given back.
    private static func simulated(
        months: Int = 1,
        refunds: Int = 0,
        clock: @escaping @Sendable () -> Instant = { now }
    ) throws -> SimulatedAppStoreAPI {
        let store = SimulatedAppStore(authority: try AppStoreSample.authority.get())
        var account = SimulatedAppleAccount(1, token: nil, of: store)
        let month = SimulatedAppleAccount.Product(
            id: "pro.month",
            type: "Auto-Renewable Subscription",
            period: 86_400_000,
            price: 9_990
        )
        account.buy(month, at: AppStoreSample.start)
        for number in 1..<max(months, 1) {
            let days = Int64(number) * 86_400_000
            account.renew(0, at: AppStoreSample.start.advanced(byMilliseconds: days))
        }
        for number in 0..<refunds { account.refund(number, at: now) }
        let simulated = SimulatedAppStoreAPI(store, clock: clock)
        simulated.set([account])
        return simulated
    }

    private static let id = "2101000001"

    private static func api(
        _ simulated: SimulatedAppStoreAPI,
        apps: Set<String> = ["com.example.app"],
        access: AppStoreAccess? = nil
    ) throws -> AppStoreServerAPI {
        AppStoreServerAPI(
            try access ?? simulated.access(),
            bundleIDs: apps,
            caller: StoreCaller(
                simulated.transport,
                clock: { now },
                sleep: { _ in },
                random: { 0 }
            ),
            clock: { now }
        )
    }

    private static func history(
        _ api: AppStoreServerAPI,
        of id: String = id
    ) async -> (count: Int, fault: StoreFault.Code?) {
        var pages = api.history(of: id, in: .production)
        var count = 0
        do throws(StoreFault) {
            while let page = try await pages.next() {
                count += page["signedTransactions"]?.array?.count ?? 0
            }
            return (count, nil)
        } catch {
            return (count, error.code)
        }
    }

    // row 8.3
    @Test(arguments: [1, 19, 20, 21, 45])
    func `hands out a history page by page`(_ months: Int) async throws {
        let simulated = try Self.simulated(months: months)
        let told = await Self.history(try Self.api(simulated))
        #expect(told.count == months && told.fault == nil)
        #expect(simulated.requests.count == (months + 19) / 20)
    }

    @Test(arguments: [0, 1, 21])
    func `tells what was given back`(_ refunds: Int) async throws {
        let simulated = try Self.simulated(months: 45, refunds: refunds)
        let api = try Self.api(simulated)
        var pages = api.refunds(of: Self.id, in: .production)
        var refunded: [JSONValue] = []
        while let page = try await pages.next() {
            refunded += page["signedTransactions"]?.array ?? []
        }
        #expect(refunded.count == refunds)
        #expect(simulated.requests.count == (refunds == 21 ? 2 : 1))
        #expect(simulated.requests[0].url.contains("/inApps/v2/refund/lookup/" + Self.id))
    }

    @Test(
        arguments: [
            (StoreEnvironment.production, nil, [0, 200]), (.sandbox, nil, [0, 2000]),
            // Control: another address has a pace of its own.
            (.production, "http://127.0.0.1:9", [0, 0]),
        ] as [(StoreEnvironment, String?, [Int64])]
    )
    func `is asked as often as it allows`(
        _ environment: StoreEnvironment,
        _ apiURL: String?,
        _ longest: [Int64]
    ) async throws {
        let simulated = try Self.simulated()
        let slept = Mutex<[Int64]>([])
        let api = AppStoreServerAPI(
            try simulated.access(apiURL: apiURL),
            bundleIDs: ["com.example.app"],
            caller: StoreCaller(
                simulated.transport,
                clock: { Self.now },
                sleep: { milliseconds in slept.withLock { $0.append(milliseconds) } },
                random: { 0 }
            ),
            clock: { Self.now }
        )
        // Ten seconds of what it allows, and a fiftieth more.
        let allowed = environment == .sandbox ? 50 : 500
        for _ in 0..<allowed { _ = try await api.statuses(of: Self.id, in: environment) }
        #expect((slept.withLock { $0.max() } ?? 0) == longest[0])
        for _ in 0..<10 { _ = try await api.statuses(of: Self.id, in: environment) }
        #expect((slept.withLock { $0.max() } ?? 0) == longest[1])
    }

    @Test func `is asked where production or the sandbox is`() async throws {
        let simulated = try Self.simulated()
        let api = try Self.api(simulated)
        _ = try await api.statuses(of: Self.id, in: .production)
        _ = try await api.statuses(of: Self.id, in: .sandbox)
        #expect(
            simulated.requests.map { $0.url.prefix(40) }
                == [
                    "https://api.storekit.apple.com/inApps/v1",
                    "https://api.storekit-sandbox.apple.com/i",
                ].map { $0.prefix(40) }
        )
        simulated.fail(with: [StoreResponse(status: 429, headers: ["retry-after": "60"])])
        await #expect(throws: StoreFault.self) {
            try await api.statuses(of: Self.id, in: .sandbox)
        }
        let end = Self.now.advanced(byMilliseconds: 60_000)
        #expect(api.heldUntil(in: .sandbox) == end)
        #expect(api.heldUntil(in: .production) == nil)
        _ = try await api.statuses(of: Self.id, in: .production)
    }

    @Test func `is asked about one app after the other`() async throws {
        let simulated = try Self.simulated(months: 25)
        let api = try Self.api(simulated, apps: ["com.example.app", "com.example.zzz"])
        #expect(await Self.history(api).count == 25)
        #expect(await Self.history(api, of: "2999").fault == .notFound)
    }

    @Test func `refuses whoever has another key`() async throws {
        let simulated = try Self.simulated()
        let access = try AppStoreAccess(
            issuerID: "57246542-96fe-1a63-e053-0824d011072a",
            keyID: "OTHER",
            pem: P256.Signing.PrivateKey().pemRepresentation
        )
        #expect(await Self.history(try Self.api(simulated, access: access)).fault == .notPermitted)
    }

    private static func response(_ text: String, status: Int = 200) -> StoreResponse {
        StoreResponse(status: status, body: Array(text.utf8))
    }

    static let endless = [
        #"{"hasMore":true,"revision":"1","signedTransactions":[]}"#,
        #"{"hasMore":true,"signedTransactions":[]}"#,
        #"{"hasMore":true,"revision":7,"signedTransactions":[]}"#,
    ]

    // a revision that repeats, pages without end
    @Test(arguments: endless)
    func `is not followed round and round`(_ page: String) async throws {
        let simulated = try Self.simulated()
        simulated.fail(with: Array(repeating: Self.response(page), count: 50))
        let told = await Self.history(try Self.api(simulated))
        #expect(told.fault == .malformed)
        #expect(simulated.requests.count <= 2)
    }

    @Test func `is given up behind so many pages`() async throws {
        let simulated = try Self.simulated()
        simulated.fail(
            with: (0...StorePages.limit).map {
                Self.response(#"{"hasMore":true,"revision":"\#($0)","signedTransactions":[]}"#)
            }
        )
        // At an address that is named, the App Store sets no pace: time stands still here.
        let access = try simulated.access(apiURL: AppStoreServerAPI.productionURL)
        #expect(await Self.history(try Self.api(simulated, access: access)).fault == .malformed)
        #expect(simulated.requests.count == StorePages.limit)
    }

    @Test(arguments: ["", "<html>Service Unavailable</html>", "[]", "{", #"{"a":"#, "\u{0}"])
    func `that answers with something else is at fault`(_ text: String) async throws {
        let simulated = try Self.simulated()
        simulated.fail(with: [Self.response(text)])
        #expect(await Self.history(try Self.api(simulated)).fault == .malformed)
    }

    static let verdicts: [(Int, String, Int, StoreFault.Code)] = [
        (404, #"{"errorCode":4040010}"#, 1, .notFound),
        // It says itself that it may be asked again.
        (404, #"{"errorCode":4040002}"#, 4, .unavailable),
        (404, #"{"errorCode":4040006}"#, 4, .unavailable),
        (404, "<html>", 1, .notFound), (400, #"{"errorCode":4000006}"#, 1, .rejected),
        (500, #"{"errorCode":5000001}"#, 4, .unavailable), (401, "", 1, .notPermitted),
        (403, "", 1, .notPermitted),
    ]

    @Test(arguments: verdicts)
    func `is asked again where that may help`(
        _ status: Int,
        _ body: String,
        _ asked: Int,
        _ code: StoreFault.Code
    ) async throws {
        let simulated = try Self.simulated()
        simulated.fail(with: Array(repeating: Self.response(body, status: status), count: 9))
        #expect(await Self.history(try Self.api(simulated)).fault == code)
        #expect(simulated.requests.count == asked)
    }

    // developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
    @Test func `is waited for as long as it says, in its own form`() async throws {
        let simulated = try Self.simulated()
        let later = Self.now.milliseconds + 3_000
        simulated.fail(
            with: [StoreResponse(status: 429, headers: ["retry-after": String(later)])]
        )
        #expect(await Self.history(try Self.api(simulated)).fault == nil)
        simulated.fail(
            with: [StoreResponse(status: 429, headers: ["retry-after": String(later + 3_600_000)])]
        )
        #expect(await Self.history(try Self.api(simulated)).fault == .rateLimited)
    }

    // It counts over an hour: a command waits for minutes, and asks with what it signed before.
    @Test func `knows who asks for as long as a question waits`() async throws {
        let time = Atomic<Int64>(Self.now.milliseconds)
        let clock: @Sendable () -> Instant = {
            Instant(milliseconds: time.load(ordering: .relaxed))
        }
        let simulated = try Self.simulated(clock: clock)
        simulated.fail(with: [StoreResponse(status: 429, headers: ["retry-after": "590"])])
        var policy = StoreCaller.Policy()
        policy.deadline = 600_000
        let api = AppStoreServerAPI(
            try simulated.access(),
            bundleIDs: ["com.example.app"],
            caller: StoreCaller(
                simulated.transport,
                policy: policy,
                clock: clock,
                sleep: { time.add($0, ordering: .relaxed) },
                random: { 0 }
            ),
            clock: clock
        )
        #expect(await Self.history(api).fault == nil)
        #expect(clock() == Self.now.advanced(byMilliseconds: 590_000), "the control: it waited")
    }

    @Test func `tells the notifications of a stretch of time`() async throws {
        let simulated = try Self.simulated(months: 45)
        let api = try Self.api(simulated)
        let start = AppStoreSample.start
        var found = 0
        var pages = api.notifications(
            in: start.advanced(
                byMilliseconds: 86_400_000
            )..<start.advanced(
                byMilliseconds: 41 * 86_400_000
            ),
            about: "com.example.app",
            in: .production
        )
        while let page = try await pages.next() {
            found += page["notificationHistory"]?.array?.count ?? 0
        }
        // The end is not asked for.
        #expect(found == 40)
        #expect(simulated.requests.allSatisfy { $0.method == .post })
    }

    @Test func `moves a renewal date`() async throws {
        let simulated = try Self.simulated()
        let api = try Self.api(simulated, apps: ["com.example.aaa", "com.example.app"])
        let end = try await api.extend(
            Self.id,
            byDays: 7,
            because: .outage,
            id: "r1",
            in: .production
        )
        #expect(end == AppStoreSample.start.advanced(byMilliseconds: 8 * 86_400_000))
        let asked = try #require(simulated.requests.last)
        #expect(asked.method == .put)
        #expect(
            try JSONValue(parsing: asked.body).description
                == #"{"extendByDays":7,"extendReasonCode":3,"requestIdentifier":"r1"}"#
        )
        let fault = await #expect(throws: StoreFault.self) {
            try await api.extend("2999", byDays: 7, because: .other, id: "r2", in: .production)
        }
        #expect(fault?.code == .notFound)
        simulated.fail(with: [Self.response(#"{"success":false}"#)])
        let unmoved = try await api.extend(
            Self.id,
            byDays: 7,
            because: .other,
            id: "r3",
            in: .production
        )
        #expect(unmoved == nil)
    }

    // developer.apple.com/documentation/appstoreserverapi/error-codes
    @Test(arguments: [4_030_004, 4_030_005, 4_030_007])
    func `says of a renewal date that it does not move it, and of a key that it may not ask`(
        _ code: Int
    ) async throws {
        let simulated = try Self.simulated()
        let api = try Self.api(simulated, apps: ["com.example.aaa", "com.example.app"])
        // Whose subscription it is knows best: nobody else is asked.
        for (status, asked, wanted): (Int, Int, StoreFault.Code) in [
            (403, 1, .rejected), (401, 2, .notPermitted),
        ] {
            let before = simulated.requests.count
            let response = Self.response(#"{"errorCode":\#(code)}"#, status: status)
            simulated.fail(with: [response, response])
            let fault = await #expect(throws: StoreFault.self) {
                try await api.extend(Self.id, byDays: 7, because: .other, id: "r", in: .production)
            }
            #expect(fault == StoreFault(wanted, status: status))
            #expect(simulated.requests.count == before + asked)
            simulated.fail(with: [])
        }
    }

    @Test func `sends a test notification, and says what came of it`() async throws {
        let simulated = try Self.simulated()
        // At an address that is named, the App Store sets no pace: time stands still here.
        let access = try simulated.access(apiURL: AppStoreServerAPI.productionURL)
        let api = try Self.api(simulated, access: access)
        let app = "com.example.app"
        let token = try await api.requestTest(about: app, in: .sandbox)
        #expect(try await api.attempts(ofTest: token, about: app, in: .sandbox) == ["SUCCESS"])
        // Of what it has not sent yet it knows nothing.
        #expect(try await api.attempts(ofTest: "other", about: app, in: .sandbox) == [])
        simulated.fail(with: [Self.response(#"{"testNotificationToken":null}"#)])
        let fault = await #expect(throws: StoreFault.self) {
            try await api.requestTest(about: app, in: .sandbox)
        }
        #expect(fault?.code == .malformed)
    }

    // developer.apple.com/documentation/appstoreserverapi/deliverystatus
    @Test(arguments: [
        (
            AppStoreConsumption(delivery: .delivered, isSampled: true, percentage: 40),
            #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true,"consumptionPercentage":40000}"#
        ),
        (
            AppStoreConsumption(
                delivery: .qualityIssue,
                isSampled: false,
                percentage: 40,
                preference: .grantFull
            ),
            #"{"customerConsented":true,"deliveryStatus":"UNDELIVERED_QUALITY_ISSUE","sampleContentProvided":false,"consumptionPercentage":0,"refundPreference":"GRANT_FULL"}"#
        ),
        (
            AppStoreConsumption(delivery: .delivered, isSampled: false, preference: .decline),
            #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"refundPreference":"DECLINE"}"#
        ),
    ])
    func `is told what was made of a purchase`(
        _ consumption: AppStoreConsumption,
        _ body: String
    ) async throws {
        let simulated = try Self.simulated()
        let api = try Self.api(simulated)
        try await api.send(consumption, of: Self.id, in: .production)
        let asked = try #require(simulated.requests.last)
        #expect(asked.url.hasSuffix("/inApps/v2/transactions/consumption/" + Self.id))
        #expect(String(decoding: asked.body, as: UTF8.self) == body)
    }
}
