import Crypto
import CryptoExtras
package import Encodings
import FoundationEssentials
package import Stores
import Synchronization

/// Plays the Play Developer API: signs service accounts in, and answers what it was told to answer.
package final class SimulatedPlayAPI: Sendable {
    private let accountKey: _RSA.Signing.PrivateKey
    private let packageName: String
    private let state = Mutex(State())

    private struct State {
        var subscriptions: [String: JSONValue] = [:]
        var products: [String: JSONValue] = [:]
        /// Tokens by the orders of their purchases.
        var orders: [String: String] = [:]
        var voided: [JSONValue] = []
        var accessToken = "access-1"
        var faults: [StoreResponse?] = []
        var requests: [StoreRequest] = []
    }

    /// Answers for one app whoever signs in by a new key.
    package init(packageName: String = "com.example.app") throws {
        accountKey = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        self.packageName = packageName
    }

    /// Answers for one app whoever signs in by a key, in PEM.
    ///
    /// - Throws: what is wrong with the key.
    package init(packageName: String, keyPEM: String) throws {
        accountKey = try _RSA.Signing.PrivateKey(pemRepresentation: keyPEM)
        self.packageName = packageName
    }

    private static let tokenURL = "https://oauth2.example.com/token"
    /// Where it signs in, whatever its address.
    package static let tokenPath = "/token"

    /// A service account's key as Google Cloud gives it.
    package var serviceAccount: [UInt8] {
        let json = JSONValue.members([
            "type": "service_account", "client_email": "api@example.iam.gserviceaccount.com",
            "private_key": .string(accountKey.pkcs8PEMRepresentation),
            "token_uri": .string(Self.tokenURL),
        ])
        return Array(json.description.utf8)
    }

    /// What it says of a subscription from now on.
    package func set(_ answer: JSONValue, ofSubscription token: String) {
        state.withLock { $0.subscriptions[token] = answer }
    }

    /// What it says of a one-time product from now on.
    package func set(_ answer: JSONValue, ofProduct token: String) {
        state.withLock { $0.products[token] = answer }
    }

    /// Which purchase an order belongs to from now on.
    package func set(_ token: String, ofOrder order: String) {
        state.withLock { $0.orders[order] = token }
    }

    /// The orders that were given back, from now on: entries of `purchases.voidedpurchases`.
    package func setVoided(_ entries: [JSONValue]) { state.withLock { $0.voided = entries } }

    /// Answers as the API does of what accounts have bought, from now on.
    package func set(_ accounts: [SimulatedPlayAccount]) {
        let answers = accounts.flatMap(\.answers)
        let orders = accounts.flatMap(\.tokensOfOrders)
        let voided = accounts.flatMap(\.voided)
        state.withLock { state in
            for (token, isSubscription, answer) in answers {
                if isSubscription {
                    state.subscriptions[token] = answer
                } else {
                    state.products[token] = answer
                }
            }
            for (order, token) in orders { state.orders[order] = token }
            state.voided = voided
        }
    }

    /// Gives these in place of its next answers, access tokens included; nil: none at all.
    package func fail(with responses: [StoreResponse?]) {
        state.withLock { $0.faults += responses }
    }

    /// Takes back the access tokens that it gave.
    package func revokeAccess() { state.withLock { $0.accessToken += "1" } }

    /// What it was asked.
    package var requests: [StoreRequest] { state.withLock(\.requests) }

    /// Carries questions to it.
    package var transport: StoreTransport {
        { self.response(to: $0) }
    }

    private func response(to request: StoreRequest) -> StoreResponse? {
        state.withLock { state in
            state.requests.append(request)
            if !state.faults.isEmpty { return state.faults.removeFirst() }
            if request.method == .post, request.url.hasSuffix(Self.tokenPath) {
                return signIn(request, state.accessToken)
            }
            guard request.headers["Authorization"] == "Bearer " + state.accessToken else {
                return StoreResponse(status: 401)
            }
            let path = "/androidpublisher/v3/applications/\(packageName)/"
            guard let start = request.url.firstRange(of: path)?.upperBound else {
                return StoreResponse(status: 403)
            }
            let words = request.url[start...].split(separator: "/").map(String.init)
            if words.first == "orders" { return order(words.last ?? "", state) }
            let parts = Array(words.dropFirst())
            if let query = parts.first, query.hasPrefix("voidedpurchases?") {
                return voidedPurchases(query, state)
            }
            if request.method == .post {
                let isKnown = parts.count == 4 && parts[3].hasSuffix(":acknowledge")
                return StoreResponse(status: isKnown ? 200 : 404)
            }
            guard parts.count == 3, parts[1] == "tokens" else { return StoreResponse(status: 400) }
            let answers =
                parts[0] == "subscriptionsv2" ? state.subscriptions : state.products
            guard let answer = answers[parts[2]] else { return StoreResponse(status: 404) }
            return StoreResponse(status: 200, body: Array(answer.description.utf8))
        }
    }

    private func order(_ id: String, _ state: State) -> StoreResponse {
        guard let token = state.orders[id] else { return StoreResponse(status: 404) }
        let answer = JSONValue.members(["orderId": .string(id), "purchaseToken": .string(token)])
        return StoreResponse(status: 200, body: Array(answer.description.utf8))
    }

    /// Two entries a page.
    private func voidedPurchases(_ query: String, _ state: State) -> StoreResponse {
        func number(_ name: String) -> Int64? {
            query.split(separator: "&").first { $0.hasPrefix(name + "=") }
                .flatMap { Int64($0.dropFirst(name.utf8.count + 1)) }
        }
        let first = number("startTime") ?? .min
        let times = first...max(first, number("endTime") ?? .max)
        let found = state.voided.filter { entry in
            let time = entry["voidedTimeMillis"]?.string.flatMap { Int64($0) }
            return time.map { times.contains($0) } ?? false
        }
        // What it gave itself is a small number, and not below 0.
        let start = max(0, Int(number("token") ?? 0))
        let page = found.dropFirst(start).prefix(2)
        // Fits: no more than there are.
        let end = start + page.count
        let next = end < found.count ? JSONValue.string(String(end)) : .null
        let tokens = JSONValue.members(["nextPageToken": next])
        // An empty list is left out, as Google does.
        let answer =
            page.isEmpty
            ? JSONValue.object([])
            : .members(["voidedPurchases": .array(Array(page)), "tokenPagination": tokens])
        return StoreResponse(status: 200, body: Array(answer.description.utf8))
    }

    /// An access token for whoever signs in by the account's key (RFC 7523).
    private func signIn(_ request: StoreRequest, _ token: String) -> StoreResponse {
        let body = String(decoding: request.body, as: UTF8.self)
        let parts = (body.split(separator: "=").last ?? "").split(separator: ".")
        guard parts.count == 3, let signature = Base64.decode(String(parts[2]), .url) else {
            return StoreResponse(status: 400)
        }
        let isOurs = accountKey.publicKey.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature),
            for: SHA256.hash(data: Array("\(parts[0]).\(parts[1])".utf8)),
            padding: .insecurePKCS1v1_5
        )
        guard isOurs else { return StoreResponse(status: 401) }
        let answer = JSONValue.members([
            "access_token": .string(token), "expires_in": .integer(3600), "token_type": "Bearer",
        ])
        return StoreResponse(status: 200, body: Array(answer.description.utf8))
    }
}
