import Encodings
package import Entitlements
package import Stores
import Synchronization

/// Plays what a device's own App Store does: it sells, signs, and remembers what was not finished.
///
/// What stands before a sheet is said with the purchase: `buy`, `cancel`, `ask` (somebody else has to
/// agree) or `fail`. An app's library asks it over HTTP, where there is no StoreKit (row Z7).
package final class SimulatedDeviceAPI: Sendable {
    private let store: SimulatedAppStore
    private let products: [SimulatedProduct]
    private let clock: @Sendable () -> Instant
    private let changed: @Sendable ([SimulatedAppleAccount]) -> Void
    private let state = Mutex(State())

    private struct State {
        /// In the order in which they were first heard of.
        var accounts: [Account] = []
        /// The places of accounts, by what devices call them.
        var places: [Name: Int] = [:]
    }

    private struct Account {
        let name: String
        var purchases: SimulatedAppleAccount
        /// Ids of transactions that were not finished.
        var unfinished = Set<Name>()
        /// How often each was finished.
        var finished: [Name: Int64] = [:]
        /// What waits for somebody to agree: product, and the customer's token.
        var asked: [(product: SimulatedProduct, token: String?)] = []
    }

    /// Accounts that are remembered.
    private static let accountLimit = 10_000
    /// Their numbers begin behind those of made-up years and scenarios.
    private static let firstNumber = 100_000

    /// Sells for the app of a store.
    ///
    /// `known`: who has bought something before, by what devices call them; `changed`: told what the accounts
    /// have bought by then, of one change after the other, and asks nothing here.
    package init(
        _ store: SimulatedAppStore,
        products: [SimulatedProduct],
        known: [(name: String, account: SimulatedAppleAccount)] = [],
        clock: @escaping @Sendable () -> Instant,
        changed: @escaping @Sendable ([SimulatedAppleAccount]) -> Void = { _ in }
    ) {
        self.store = store
        self.products = products
        self.clock = clock
        self.changed = changed
        state.withLock { state in
            for (name, account) in known.prefix(Self.accountLimit) {
                state.places[Name(name)] = state.accounts.count
                state.accounts.append(Account(name: name, purchases: account))
            }
        }
    }

    /// Whoever is known, in the order in which they were first heard of.
    package var accounts: [(name: String, purchases: SimulatedAppleAccount)] {
        state.withLock { state in state.accounts.map { ($0.name, $0.purchases) } }
    }

    /// Changes what somebody has bought, who may be new.
    ///
    /// - Returns: what the App Store tells of it; nil: too many are known.
    package func change(
        _ name: String,
        _ body: (inout SimulatedAppleAccount) -> Void
    ) -> [SimulatedAppleAccount.Notification]? {
        state.withLock { state -> [SimulatedAppleAccount.Notification]? in
            guard let place = place(of: name, in: &state) else { return nil }
            let count = state.accounts[place].purchases.notifications.count
            body(&state.accounts[place].purchases)
            changed(state.accounts.map(\.purchases))
            return Array(state.accounts[place].purchases.notifications.dropFirst(count))
        }
    }

    /// Carries questions to it.
    package var transport: StoreTransport {
        { self.response(to: $0) }
    }

    private func response(to request: StoreRequest) -> StoreResponse {
        guard let path = request.url.firstRange(of: SimulatedStores.devicePath + "/")?.upperBound
        else { return StoreResponse(status: 404) }
        let words = request.url[path...].prefix { $0 != "?" }.split(separator: "/")
            .map(String.init)
        if request.method == .get, words == ["products"] {
            return Self.ok(["products": .array(products.map(Self.json))])
        }
        guard words.count == 3, words[0] == "accounts", Identifier.isValid(words[1]) else {
            return StoreResponse(status: 404)
        }
        // What is no JSON lacks every member.
        let body = (try? JSONValue(parsing: request.body)) ?? .null
        let found = state.withLock { state -> StoreResponse? in
            // A simulator that cannot sign has no answer.
            let found = try? self.answer(words[2], request.method, body, of: words[1], &state)
            // Within the lock: of two changes the later one is told last.
            if request.method == .post { changed(state.accounts.map(\.purchases)) }
            return found
        }
        return found ?? StoreResponse(status: 500)
    }

    private func answer(
        _ word: String,
        _ method: StoreRequest.Method,
        _ body: JSONValue,
        of name: String,
        _ state: inout State
    ) throws -> StoreResponse {
        guard let place = place(of: name, in: &state) else { return StoreResponse(status: 503) }
        switch (method, word) {
        case (.get, "transactions"): return try transactions(of: state.accounts[place])
        case (.post, "purchases"): return try purchase(body, by: &state.accounts[place])
        case (.post, "approve"): return try approve(&state.accounts[place])
        case (.post, "finish"): return finish(body, in: &state.accounts[place])
        case (.post, "refund"): return try refund(body, in: &state.accounts[place])
        default: return StoreResponse(status: 404)
        }
    }

    private func place(of name: String, in state: inout State) -> Int? {
        if let place = state.places[Name(name)] { return place }
        guard state.accounts.count < Self.accountLimit else { return nil }
        // Fits: below the limit.
        let number = Self.firstNumber + state.accounts.count
        state.places[Name(name)] = state.accounts.count
        state.accounts.append(
            Account(
                name: name,
                purchases: SimulatedAppleAccount(number, token: nil, of: store)
            )
        )
        return state.accounts.count - 1
    }
}

/// What a device asks for.
extension SimulatedDeviceAPI {
    private func purchase(
        _ body: JSONValue,
        by account: inout Account
    ) throws -> StoreResponse {
        let id = body["productId"]?.string
        guard let product = products.first(where: { $0.id.isSame(as: id) }) else {
            return Self.ok(["result": "failed", "code": "PRODUCT_UNAVAILABLE"])
        }
        let token = body["appAccountToken"]?.string
        switch body["answer"]?.string ?? "buy" {
        case "buy": return try buy(product, token, by: &account)
        case "cancel": return Self.ok(["result": "user_cancelled"])
        case "ask":
            account.asked.append((product, token))
            return Self.ok(["result": "pending"])
        case "fail": return Self.ok(["result": "failed", "code": "STORE_PROBLEM_ERROR"])
        default: return StoreResponse(status: 400)
        }
    }

    /// Buys what waits for somebody to agree: the device hears of it by its transactions.
    private func approve(_ account: inout Account) throws -> StoreResponse {
        let asked = account.asked
        account.asked = []
        for (product, token) in asked { _ = try buy(product, token, by: &account) }
        return Self.ok(["approved": .integer(Int64(asked.count))])
    }

    private func buy(
        _ product: SimulatedProduct,
        _ token: String?,
        by account: inout Account
    ) throws -> StoreResponse {
        let owned = held(by: account).first { product.id.isSame(as: $0["productId"]?.string) }
        // As of the App Store: what is owned is not sold twice.
        if let owned {
            return Self.ok(["result": "success", "transaction": try signed(owned)])
        }
        account.purchases.buy(
            product,
            at: clock(),
            token.map { .members(["appAccountToken": .string($0)]) } ?? .object([])
        )
        guard let payload = account.purchases.transactions.last,
            let id = payload["transactionId"]?.string
        else { return StoreResponse(status: 500) }
        account.unfinished.insert(Name(id))
        return Self.ok(["result": "success", "transaction": try signed(payload)])
    }

    /// Payloads of what an account owns now; what is used up is not owned.
    private func held(by account: Account) -> [JSONValue] {
        let now = clock().milliseconds
        return account.purchases.transactions.filter { payload in
            payload["revocationDate"]?.integer == nil && payload["type"]?.string != "Consumable"
                && payload["expiresDate"]?.integer.map { $0 > now } ?? true
        }
    }

    /// What the account holds now, and what was never finished; both signed anew.
    private func transactions(of account: Account) throws -> StoreResponse {
        let unfinished = account.purchases.transactions.filter { payload in
            payload["transactionId"]?.string.map { account.unfinished.contains($0) } ?? false
        }
        return Self.ok([
            "held": .array(try held(by: account).map(signed)),
            "unfinished": .array(try unfinished.map(signed)),
            "finished": .object(
                account.finished.sorted { $0.key < $1.key }
                    .map { JSONMember($0.key.text, .integer($0.value)) }
            ),
        ])
    }

    private func finish(_ body: JSONValue, in account: inout Account) -> StoreResponse {
        guard let id = body["transactionId"]?.string,
            account.purchases.transactions.contains(where: {
                id.isSame(as: $0["transactionId"]?.string)
            })
        else { return StoreResponse(status: 404) }
        account.unfinished.remove(Name(id))
        // The App Store takes a second one without a word; here each is counted, so that it is seen.
        account.finished[Name(id), default: 0] += 1
        return Self.ok([:])
    }

    /// Gives the price back, and returns what the App Store tells the server of it.
    private func refund(_ body: JSONValue, in account: inout Account) throws -> StoreResponse {
        let id = body["transactionId"]?.string
        let place = account.purchases.originals.firstIndex {
            id?.isSame(as: $0["transactionId"]?.string) ?? false
        }
        guard let place else { return StoreResponse(status: 404) }
        account.purchases.refund(place, at: clock())
        guard let told = account.purchases.notifications.last else {
            return StoreResponse(status: 500)
        }
        return Self.ok([
            "signedPayload": .string(String(decoding: try store.signed(told), as: UTF8.self))
        ])
    }

    /// A transaction as an app sees it: in clear, and signed.
    private func signed(_ payload: JSONValue) throws -> JSONValue {
        let now = JSONValue.members(["signedDate": .milliseconds(clock())])
        let jws = try store.authority.sign(payload.changed(by: now))
        let end = payload["revocationDate"]?.integer ?? payload["expiresDate"]?.integer
        return .members([
            "id": payload["transactionId"] ?? .null,
            "originalId": payload["originalTransactionId"] ?? .null,
            "productId": payload["productId"] ?? .null,
            "expiresAt": .instant(end.map { Instant(milliseconds: $0) }),
            "signed": .string(String(decoding: jws, as: UTF8.self)),
            "appAccountToken": payload["appAccountToken"] ?? .null,
        ])
    }

    private static func json(_ product: SimulatedProduct) -> JSONValue {
        let cents = product.price / 10
        let rest = String(cents % 100)
        let price = "$\(cents / 100)." + (rest.count < 2 ? "0" : "") + rest
        return .members([
            "id": .string(product.id), "name": .string(product.id), "price": .string(price),
        ])
    }

    private static func ok(_ members: KeyValuePairs<String, JSONValue>) -> StoreResponse {
        StoreResponse(status: 200, body: Array(JSONValue.members(members).description.utf8))
    }
}
