import Crypto
import Encodings
package import Entitlements
package import Stores
import Synchronization

/// Plays the App Store Server API over accounts, and signs each answer anew.
package final class SimulatedAppStoreAPI: Sendable {
    private let store: SimulatedAppStore
    private let key: P256.Signing.PrivateKey
    private let clock: @Sendable () -> Instant
    private let signedAt: @Sendable () -> Instant
    private let state = Mutex(State())

    private struct State {
        var known = KnownAppleAccounts()
        var faults: [StoreResponse?] = []
        /// Answers before the faults.
        var untilFault = 0
        var requests: [StoreRequest] = []
        var unreleased: Set<Name> = []
    }

    /// What a page holds (developer.apple.com/documentation/appstoreserverapi).
    private static let pageSize = 20

    /// Answers for the app of a store; `clock`: when answers are signed.
    package init(_ store: SimulatedAppStore, clock: @escaping @Sendable () -> Instant) {
        self.store = store
        self.clock = clock
        signedAt = clock
        key = P256.Signing.PrivateKey()
    }

    /// Answers whoever signs in by a key, in PEM; `clock`: by which tokens are good; `signedAt`: when
    /// answers are signed, where that is a virtual time.
    ///
    /// - Throws: what is wrong with the key.
    package init(
        _ store: SimulatedAppStore,
        keyPEM: String,
        clock: @escaping @Sendable () -> Instant,
        signedAt: @escaping @Sendable () -> Instant
    ) throws {
        self.store = store
        self.clock = clock
        self.signedAt = signedAt
        key = try P256.Signing.PrivateKey(pemRepresentation: keyPEM)
    }

    /// Who may ask.
    package func access(apiURL: String? = nil) throws -> AppStoreAccess {
        try AppStoreAccess(
            issuerID: Self.issuerID,
            keyID: Self.keyID,
            pem: key.pemRepresentation,
            apiURL: apiURL
        )
    }

    package static let issuerID = "57246542-96fe-1a63-e053-0824d011072a"
    package static let keyID = "SIMULATED1"

    /// What its accounts have bought from now on; those of another environment it does not know.
    package func set(_ accounts: [SimulatedAppleAccount]) {
        let own = accounts.filter { $0.store.environment == store.environment }
        state.withLock { $0.known.set(own) }
    }

    /// Gives these in place of its next answers, or of those behind the next few; nil: none at all.
    package func fail(after count: Int = 0, with responses: [StoreResponse?]) {
        state.withLock { state in
            state.untilFault = count
            state.faults = responses
        }
    }

    /// Lets nobody ask about an app from now on, as of one that was never released.
    package func withhold(_ bundleID: String) {
        state.withLock { _ = $0.unreleased.insert(Name(bundleID)) }
    }

    /// What it was asked.
    package var requests: [StoreRequest] { state.withLock(\.requests) }

    /// Carries questions to it.
    package var transport: StoreTransport {
        { self.response(to: $0) }
    }

    private func response(to request: StoreRequest) -> StoreResponse? {
        let (fault, known) = state.withLock { state -> (Fault?, KnownAppleAccounts) in
            state.requests.append(request)
            guard state.untilFault == 0, !state.faults.isEmpty else {
                state.untilFault = max(0, state.untilFault - 1)
                return (nil, state.known)
            }
            return (Fault(response: state.faults.removeFirst()), state.known)
        }
        if let fault { return fault.response }
        guard let bundleID = app(askedAboutIn: request) else { return StoreResponse(status: 401) }
        let isReleased = state.withLock { !$0.unreleased.contains(bundleID) }
        guard isReleased else { return StoreResponse(status: 401) }
        guard bundleID == store.bundleID else { return Self.notFound }
        guard let path = request.url.firstRange(of: "/inApps/")?.upperBound else {
            return StoreResponse(status: 404)
        }
        let parts = request.url[path...].split(separator: "?", maxSplits: 1).map(String.init)
        let query = Self.query(parts.dropFirst().first ?? "")
        let words = (parts.first ?? "").split(separator: "/").map(String.init)
        // A simulator that cannot sign has no answer.
        guard let answer = try? answer(words, query, request.body, known) else {
            return StoreResponse(status: 500)
        }
        return answer
    }

    private struct Fault {
        var response: StoreResponse?
    }

    private func answer(
        _ words: [String],
        _ query: [Name: String],
        _ body: [UInt8],
        _ known: KnownAppleAccounts
    ) throws -> StoreResponse {
        if words == ["v1", "notifications", "history"] {
            return try notificationHistory(query, JSONValue(parsing: body), known.all)
        }
        if words.prefix(3) == ["v1", "notifications", "test"] { return test(words.dropFirst(3)) }
        let isRefunds = words.dropLast() == ["v2", "refund", "lookup"]
        if words.count == 4, !isRefunds { return change(words, body, known) }
        guard words.count == 3 || isRefunds, let id = words.last else {
            return StoreResponse(status: 404)
        }
        guard let account = known.account(of: id) else { return Self.notFound }
        switch (words[0], words[1]) {
        case ("v2", "history"):
            return try page(of: account.transactions, known, from: query["revision"])
        case ("v2", "refund"):
            let refunded = account.transactions.filter { $0["revocationDate"]?.integer != nil }
            return try page(of: refunded, known, from: query["revision"], naming: [])
        case ("v1", "subscriptions"): return try statuses(of: account)
        case ("v1", "transactions"): return try transaction(words[2], of: account)
        default: return StoreResponse(status: 404)
        }
    }

    /// A test notification, which is said to be taken at once.
    private func test(_ token: ArraySlice<String>) -> StoreResponse {
        guard let token = token.first else { return ok(["testNotificationToken": "test-1"]) }
        guard token == "test-1" else { return Self.notFound }
        return ok([
            "sendAttempts": .array([
                .members(["attemptDate": .milliseconds(clock()), "sendAttemptResult": "SUCCESS"])
            ])
        ])
    }

    /// No such transaction (developer.apple.com/documentation/appstoreserverapi/error-codes).
    private static let notFound = StoreResponse(
        status: 404,
        body: Array(
            #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#.utf8
        )
    )

    /// `app`: the members of an answer that say of which app it is.
    private func page(
        of transactions: [JSONValue],
        _ known: KnownAppleAccounts,
        from revision: String?,
        naming app: [JSONMember]? = nil
    ) throws -> StoreResponse {
        // What it gave itself is a number.
        let start = revision.flatMap { Int($0) } ?? 0
        let changes = known.changes(of: transactions, behind: start)
        let page = changes.prefix(Self.pageSize)
        return ok(
            [
                "revision": .string(String(page.last?.revision ?? start)),
                "hasMore": .bool(page.count < changes.count),
                "signedTransactions": .array(try page.map { try signed($0.payload) }),
            ],
            naming: app
        )
    }

    private func statuses(of account: SimulatedAppleAccount) throws -> StoreResponse {
        let last = try account.statuses.map { transaction, renewalInfo in
            JSONValue.members([
                "originalTransactionId": transaction["originalTransactionId"] ?? .null,
                "status": .integer(1), "signedTransactionInfo": try signed(transaction),
                "signedRenewalInfo": try signed(renewalInfo),
            ])
        }
        let group = JSONValue.members([
            "subscriptionGroupIdentifier": "21000001", "lastTransactions": .array(last),
        ])
        return ok(["data": .array(last.isEmpty ? [] : [group])])
    }

    private func transaction(
        _ id: String,
        of account: SimulatedAppleAccount
    ) throws
        -> StoreResponse
    {
        let found = account.transactions.first { $0["transactionId"]?.string == id }
        return ok(["signedTransactionInfo": try signed(found ?? .null)])
    }

    private func notificationHistory(
        _ query: [Name: String],
        _ asked: JSONValue,
        _ accounts: [SimulatedAppleAccount]
    ) throws -> StoreResponse {
        let first = asked["startDate"]?.integer ?? .min
        let last = asked["endDate"]?.integer ?? .max
        let found = accounts.flatMap(\.notifications)
            .filter { (first...max(first, last)).contains($0.time.milliseconds) }
            .sorted { $0.time < $1.time }
        // What it gave itself is a number, and not below 0.
        let start = max(0, query["paginationToken"].flatMap { Int($0) } ?? 0)
        let page = found.dropFirst(start).prefix(Self.pageSize)
        // Fits: no more than there are.
        let end = start + page.count
        let items = try page.map { notification in
            JSONValue.members([
                "signedPayload": .string(
                    String(decoding: try store.signed(notification), as: UTF8.self)
                ),
                "sendAttempts": .array([]),
            ])
        }
        return ok([
            "notificationHistory": .array(items), "hasMore": .bool(end < found.count),
            "paginationToken": end < found.count ? .string(String(end)) : .null,
        ])
    }

    /// Extends a subscription, or takes what is said of a consumption.
    private func change(
        _ words: [String],
        _ body: [UInt8],
        _ known: KnownAppleAccounts
    ) -> StoreResponse {
        guard known.account(of: words[3]) != nil,
            // What is not JSON lacks every member.
            let asked = try? JSONValue(parsing: body)
        else { return Self.notFound }
        switch words[0...2].joined(separator: "/") {
        case "v2/transactions/consumption":
            let isTaken =
                asked["customerConsented"]?.bool == true && asked["deliveryStatus"]?.string != nil
            return StoreResponse(status: isTaken ? 202 : 400)
        case "v1/subscriptions/extend":
            guard let days = asked["extendByDays"]?.integer, (1...90).contains(days) else {
                return StoreResponse(status: 400)
            }
            let now = signedAt()
            // Found and moved at once: what accounts have bought may be set meanwhile.
            let later = state.withLock { $0.known.extend(words[3], byDays: days, at: now) }
            guard let later else { return StoreResponse(status: 400) }
            return ok([
                "success": .bool(true), "effectiveDate": .integer(later.milliseconds),
                "originalTransactionId": .string(words[3]),
            ])
        default: return StoreResponse(status: 404)
        }
    }

    /// A payload as it is signed now.
    private func signed(_ payload: JSONValue) throws -> JSONValue {
        let signedAt = JSONValue.members(["signedDate": .milliseconds(self.signedAt())])
        let jws = try store.authority.sign(payload.changed(by: signedAt))
        return .string(String(decoding: jws, as: UTF8.self))
    }

    /// `app`: the members that say of which app it is; nil: all of them.
    private func ok(
        _ members: KeyValuePairs<String, JSONValue>,
        naming app: [JSONMember]? = nil
    ) -> StoreResponse {
        let all = [
            JSONMember("bundleId", .string(store.bundleID)),
            JSONMember("appAppleId", .integer(store.appAppleID)),
            JSONMember("environment", .string(store.environment)),
        ]
        let answer = JSONValue.object(app ?? all).changed(by: .members(members))
        return StoreResponse(status: 200, body: Array(answer.description.utf8))
    }

    private static func query(_ text: String) -> [Name: String] {
        var query: [Name: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2 { query[Name(parts[0])] = parts[1] }
        }
        return query
    }

    /// The app that is asked about, by a token as the App Store wants it, of our key; nil: it is none.
    private func app(askedAboutIn request: StoreRequest) -> String? {
        let token = request.headers["Authorization"]?.dropFirst("Bearer ".count) ?? ""
        let parts = token.split(separator: ".").map(String.init)
        guard parts.count == 3, let claims = Base64.decode(parts[1], .url),
            let signature = Base64.decode(parts[2], .url),
            // What is no signature is not ours.
            let signed = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.publicKey.isValidSignature(signed, for: Array("\(parts[0]).\(parts[1])".utf8)),
            let json = try? JSONValue(parsing: claims)
        else { return nil }
        let now = clock().milliseconds / 1000
        guard json["aud"]?.string == "appstoreconnect-v1", json["iss"]?.string == Self.issuerID,
            (json["exp"]?.integer ?? 0) > now, (json["iat"]?.integer ?? .max) <= now
        else { return nil }
        return json["bid"]?.string
    }
}
