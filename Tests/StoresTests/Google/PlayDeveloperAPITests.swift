import Encodings
import Entitlements
import StoreSimulator
import Testing

@testable import Stores

struct `The Play Developer API` {
    private static func api(
        _ simulated: SimulatedPlayAPI,
        at now: Instant = PlaySample.told
    ) throws -> PlayDeveloperAPI {
        PlayDeveloperAPI(
            try #require(ServiceAccount(json: simulated.serviceAccount)),
            caller: StoreCaller(
                simulated.transport,
                clock: { now },
                sleep: { _ in },
                random: { 0 }
            ),
            baseURL: "https://play.example.com",
            clock: { now }
        )
    }

    private static func push(type: Int = 4) throws -> (VerifiedPlayPush, [UInt8]) {
        let store = try PlaySample.store.get()
        let body = store.push(subscription: type, token: "t1", id: "m1", at: PlaySample.told)
        let push = try UnverifiedPlayPush.reading(
            body,
            packageNames: [Name(store.packageName)],
            now: PlaySample.told
        ).get()
        return (push.trusting(.authenticatedRequest), Array(body.description.utf8))
    }

    private static func subscription() throws -> JSONValue {
        try PlaySample.store.get()
            .subscription(order: "GPA.1", start: PlaySample.start, end: PlaySample.end)
    }

    private static func fault(
        _ body: () async throws(StoreFault) -> [UInt8]?
    ) async -> StoreFault.Code? {
        do throws(StoreFault) {
            _ = try await body()
            return nil
        } catch { return error.code }
    }

    // row 8.3
    @Test func `says what a push hinted at, and an import takes what it says`() async throws {
        let simulated = try SimulatedPlayAPI()
        simulated.set(try Self.subscription(), ofSubscription: "t1")
        let api = try Self.api(simulated)
        let (push, body) = try Self.push()
        let answer = try #require(try await api.answer(to: push, body: body))
        let submission = try PlaySample.submission(JSONValue(parsing: answer))
        #expect(submission.id == "answer/m1")
        #expect(submission.events.first?.kind == .purchaseCompleted)
        // One token for both, and for what follows in its hour.
        _ = try await api.answer(to: push, body: body)
        #expect(simulated.requests.map(\.method) == [.post, .get, .get])
    }

    @Test func `is asked for what there is to be asked, alone`() async throws {
        let simulated = try SimulatedPlayAPI()
        let api = try Self.api(simulated)
        let store = try PlaySample.store.get()
        for content in [
            #"{"testNotification":{}}"#, "{}",
            #"{"voidedPurchaseNotification":{"purchaseToken":"t1","orderId":"GPA.1","refundType":1}}"#,
        ] {
            let body = store.push(try PlaySample.json(content), id: "m", at: PlaySample.told)
            let push = try UnverifiedPlayPush.reading(
                body,
                packageNames: [Name(store.packageName)],
                now: PlaySample.told
            ).get()
            #expect(try await api.answer(to: push.trusting(.operatorImport), body: []) == nil)
        }
        #expect(simulated.requests.isEmpty)
    }

    @Test func `signs in again where its token was taken back`() async throws {
        let simulated = try SimulatedPlayAPI()
        simulated.set(try Self.subscription(), ofSubscription: "t1")
        let api = try Self.api(simulated)
        _ = try await api.answer(of: "t1", packageName: "com.example.app")
        simulated.revokeAccess()
        _ = try await api.answer(of: "t1", packageName: "com.example.app")
        #expect(simulated.requests.map(\.method) == [.post, .get, .get, .post, .get])
    }

    @Test func `is asked for a product where a token is of no subscription`() async throws {
        let simulated = try SimulatedPlayAPI()
        simulated.set(
            try PlaySample.json(
                #"{"purchaseStateContext":{"purchaseState":"PENDING"},"productLineItem":[{"productId":"life"}]}"#
            ),
            ofProduct: "t2"
        )
        let api = try Self.api(simulated)
        let answer = try await api.answer(of: "t2", packageName: "com.example.app")
        let submission = try PlaySample.submission(JSONValue(parsing: answer))
        #expect(submission.events.map(\.kind) == [.purchasePending])
        let fault = await Self.fault { () throws(StoreFault) in
            try await api.answer(of: "t3", packageName: "com.example.app")
        }
        #expect(fault == .notFound)
    }

    static let bodies = ["", "<html>Service Unavailable</html>", "[]", "{", #"{"a":"#]

    @Test(arguments: bodies)
    func `that answers with something else is at fault`(_ text: String) async throws {
        let simulated = try SimulatedPlayAPI()
        let api = try Self.api(simulated)
        simulated.set(try Self.subscription(), ofSubscription: "t1")
        _ = try await api.answer(of: "t1", packageName: "com.example.app")
        simulated.fail(with: [StoreResponse(status: 200, body: Array(text.utf8))])
        let fault = await Self.fault { () throws(StoreFault) in
            try await api.answer(of: "t1", packageName: "com.example.app")
        }
        #expect(fault == .malformed)
    }

    @Test(arguments: [400, 401, 403, 404, 410])
    func `that lets nobody sign in may be asked later`(_ status: Int) async throws {
        let simulated = try SimulatedPlayAPI()
        let api = try Self.api(simulated)
        // At the address for access tokens.
        simulated.fail(with: Array(repeating: StoreResponse(status: status), count: 2))
        let fault = await Self.fault { () throws(StoreFault) in
            try await api.answer(of: "t1", packageName: "com.example.app")
        }
        #expect(fault == .notPermitted)
    }

    @Test(arguments: bodies)
    func `that gives no access token may be asked later`(_ text: String) async throws {
        let simulated = try SimulatedPlayAPI()
        let api = try Self.api(simulated)
        simulated.fail(with: [StoreResponse(status: 200, body: Array(text.utf8))])
        let fault = await Self.fault { () throws(StoreFault) in
            try await api.answer(of: "t1", packageName: "com.example.app")
        }
        #expect(fault == .unavailable)
    }

    @Test(arguments: ["../x", "..", ".", "a/b", "a?b", "a#b", "ä", "%2e", " "])
    func `is asked for a token as it is, whatever it holds`(_ token: String) async throws {
        let simulated = try SimulatedPlayAPI()
        let api = try Self.api(simulated)
        let fault = await Self.fault { () throws(StoreFault) in
            try await api.answer(of: token, packageName: "com.example.app")
        }
        #expect(fault == .notFound)
        let asked = simulated.requests.filter { $0.method == .get }
        #expect(!asked.isEmpty)
        for request in asked {
            let last = request.url.split(separator: "/").last ?? ""
            #expect(last.utf8.allSatisfy { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
            #expect(last != ".." && last != "." && request.url.contains("/tokens/" + last))
        }
    }

    @Test(arguments: [
        "", "{}", #"{"type":"service_account"}"#,
        #"{"type":"authorized_user","client_email":"a","private_key":"b"}"#,
        #"{"type":"service_account","client_email":"a","private_key":"b"}"#,
    ])
    func `takes no account that is none`(_ text: String) {
        #expect(ServiceAccount(json: Array(text.utf8)) == nil)
    }
}
