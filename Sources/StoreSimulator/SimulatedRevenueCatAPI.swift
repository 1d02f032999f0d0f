package import Encodings
package import Entitlements
package import Stores
import Synchronization

/// Plays RevenueCat's REST API, both versions: answers what it was told to answer, in pages.
package final class SimulatedRevenueCatAPI: Sendable {
    private let key: String
    private let projectID: String
    private let pageSize: Int
    private let state = Mutex(State())

    private struct State {
        var subscribers: [String: JSONValue] = [:]
        var lists: [String: [JSONValue]] = [:]
        var products: [String: JSONValue] = [:]
        var faults: [StoreResponse?] = []
        var requests: [StoreRequest] = []
    }

    /// Answers whoever has the key, `pageSize` entries a page.
    package init(
        key: String = "sk_simulated_0123456789",
        projectID: String = "proj1",
        pageSize: Int = 20
    ) {
        self.key = key
        self.projectID = projectID
        self.pageSize = max(1, pageSize)
    }

    /// What version 1 says of a customer from now on: `{"request_date_ms":…,"subscriber":{…}}`.
    package func set(_ subscriber: JSONValue, ofSubscriber customer: CustomerID) {
        state.withLock { $0.subscribers[customer.text] = subscriber }
    }

    /// What version 2 says of a customer's subscriptions and purchases from now on.
    package func set(
        subscriptions: [JSONValue] = [],
        purchases: [JSONValue] = [],
        of customer: CustomerID
    ) {
        state.withLock { state in
            state.lists["customers/\(customer)/subscriptions"] = subscriptions
            state.lists["customers/\(customer)/purchases"] = purchases
        }
    }

    /// What version 2 says of a subscription's transactions from now on.
    package func set(transactions: [JSONValue], ofSubscription id: String) {
        state.withLock { $0.lists["subscriptions/\(id)/transactions"] = transactions }
    }

    /// What version 2 says of a product from now on.
    package func set(_ product: JSONValue, ofProduct id: String) {
        state.withLock { $0.products["products/\(id)"] = product }
    }

    /// Gives these in place of its next answers; nil: none at all.
    package func fail(with responses: [StoreResponse?]) {
        state.withLock { $0.faults += responses }
    }

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
            guard request.headers["Authorization"] == "Bearer " + key else {
                return StoreResponse(status: 401)
            }
            guard request.method == .get else { return StoreResponse(status: 400) }
            let subscriber = "/v1/subscribers/"
            if let start = request.url.firstRange(of: subscriber)?.upperBound {
                return self.subscriber(Self.decoded(request.url[start...]), &state)
            }
            let project = "/v2/projects/\(projectID)/"
            guard let start = request.url.firstRange(of: project)?.upperBound else {
                return StoreResponse(status: 403)
            }
            let parts = request.url[start...].split(separator: "?", maxSplits: 1)
            let path = Self.decoded(parts.first ?? "")
            if let product = state.products[path] { return Self.ok(product) }
            guard let items = state.lists[path] else { return StoreResponse(status: 404) }
            return page(of: items, project + path, after: parts.dropFirst().first)
        }
    }

    /// Version 1 makes a customer of whom it does not know.
    private func subscriber(_ name: String, _ state: inout State) -> StoreResponse {
        if let known = state.subscribers[name] { return Self.ok(known) }
        let new = JSONValue.members([
            "subscriber": .members([
                "original_app_user_id": .string(name), "subscriptions": .object([]),
                "non_subscriptions": .object([]),
            ])
        ])
        state.subscribers[name] = new
        return Self.ok(new, status: 201)
    }

    private func page(
        of items: [JSONValue],
        _ url: String,
        after query: Substring?
    ) -> StoreResponse {
        let last = query.flatMap { $0.split(separator: "=").last }.map(String.init)
        let start = last.flatMap { id in items.firstIndex { $0["id"]?.string == id } }
        let rest = items.dropFirst(start.map { $0 + 1 } ?? 0)
        let page = Array(rest.prefix(pageSize))
        var list = [
            JSONMember("object", "list"), JSONMember("items", .array(page)),
            JSONMember("url", .string(url)), JSONMember("next_page", .null),
        ]
        if rest.count > page.count, let id = page.last?["id"]?.string {
            list[3].value = .string("\(url)?starting_after=\(id)")
        }
        return Self.ok(.object(list))
    }

    private static func ok(_ json: JSONValue, status: Int = 200) -> StoreResponse {
        StoreResponse(status: status, body: Array(json.description.utf8))
    }

    /// The text of segments of a path (RFC 3986, section 2.1).
    private static func decoded(_ path: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(path.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
