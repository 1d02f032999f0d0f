import Encodings
package import Entitlements
import Synchronization

/// RevenueCat's REST API: what it knows of a customer's purchases
/// (revenuecat.com/docs/api-v2, and revenuecat.com/docs/api-v1 where no project is named).
package final class RevenueCatAPI: Sendable {
    private let authorization: String
    let projectID: String?
    private let caller: StoreCaller
    private let baseURL: String
    private let clock: @Sendable () -> Instant
    /// What was told of products, as it came.
    private let products = Mutex<[Name: [UInt8]]>([:])

    /// RevenueCat's own address.
    package static let revenueCatURL = "https://api.revenuecat.com"

    /// Pages of one list: twenty entries each, so more than twenty years of a weekly subscription.
    package static let pageLimit = 64
    /// Products that are remembered; nobody sells more.
    private static let productLimit = 10_000

    /// Asks with a secret key: of version 2 where there is a project, with the right to read customers
    /// and products, else of version 1, which tells less: of a subscription its latest period alone.
    ///
    /// `projectID`: nil: version 1 is asked. `baseURL`: nil: RevenueCat's.
    package init(
        key: [UInt8],
        projectID: String?,
        baseURL: String? = nil,
        caller: StoreCaller,
        clock: @escaping @Sendable () -> Instant
    ) {
        authorization = "Bearer " + String(decoding: key, as: UTF8.self)
        self.projectID = projectID
        self.baseURL = baseURL ?? Self.revenueCatURL
        self.caller = caller
        self.clock = clock
    }

    /// When it may be asked again; nil: now.
    package var heldUntil: Instant? { caller.heldUntil }

    /// What RevenueCat says of a customer: each element is an item that `import --format revenuecat`
    /// takes, with who was asked for and when.
    ///
    /// Cost: with a project two questions, one for each further page, one for each subscription of the App
    /// Store and Google Play, and one for each product not heard of yet; without one question.
    ///
    /// - Throws: `StoreFault`; `notFound` where RevenueCat does not know the customer. Version 1 makes
    ///   one of whom it does not know, and says so (201).
    package func answers(of customer: CustomerID) async throws(StoreFault) -> [[UInt8]] {
        let (answers, fault) = await told(of: customer)
        if let fault { throw fault }
        return answers
    }

    /// The same with what it told before a fault, which counts; nil: it told all.
    package func told(
        of customer: CustomerID
    ) async -> (answers: [[UInt8]], fault: StoreFault?) {
        var answers: [[UInt8]] = []
        do throws(StoreFault) {
            guard let projectID else { return ([try await subscriber(customer)], nil) }
            let project = "/v2/projects/\(projectID.pathSegment)/"
            for list in ["subscriptions", "purchases"] {
                let path = project + "customers/\(customer.text.pathSegment)/" + list
                for page in try await pages(path) {
                    let more = try await details(of: page, in: project)
                    // What is asked behind it may take minutes, and is newer than what it says (T2).
                    answers.append(answered(customer, page.body, more, at: page.answeredAt))
                }
            }
            return (answers, nil)
        } catch {
            return (answers, error)
        }
    }

    // MARK: Version 1

    private func subscriber(_ customer: CustomerID) async throws(StoreFault) -> [UInt8] {
        let response = try await get("/v1/subscribers/" + customer.text.pathSegment)
        guard response.status != 201 else { throw StoreFault(.notFound, status: 201) }
        guard try json(response)["subscriber"]?.members != nil else {
            throw StoreFault(.malformed, status: response.status)
        }
        return answered(customer, response.body, [], at: clock())
    }

    // MARK: Version 2

    struct Page {
        var body: [UInt8]
        var items: [JSONValue]
        var answeredAt: Instant
    }

    /// All pages of a list.
    func pages(_ path: String) async throws(StoreFault) -> [Page] {
        var pages: [Page] = []
        var asked: Set<Name> = []
        var next: String? = path
        while let path = next {
            // A page that comes again would come for ever.
            guard asked.insert(Name(path)).inserted, pages.count < Self.pageLimit else {
                throw StoreFault(.malformed)
            }
            let response = try await get(path)
            let json = try json(response)
            guard json["object"]?.string == "list", let items = json["items"]?.array else {
                throw StoreFault(.malformed, status: response.status)
            }
            pages.append(Page(body: response.body, items: items, answeredAt: clock()))
            next = try json.present("next_page").map { link throws(StoreFault) in
                try self.path(of: link, response)
            }
        }
        return pages
    }

    /// The path of the next page, which lies below the same address: nobody else is shown the key.
    private func path(
        of link: JSONValue,
        _ response: StoreResponse
    ) throws(StoreFault) -> String {
        let text = link.string ?? ""
        let path = text.hasPrefix(baseURL + "/") ? String(text.dropFirst(baseURL.count)) : text
        guard path.hasPrefix("/v2/projects/"),
            path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw StoreFault(.malformed, status: response.status) }
        return path
    }

    /// What a page's entries do not say themselves: all transactions of subscriptions, whose first one
    /// names the purchase, and what products are called in their stores.
    private func details(
        of page: Page,
        in project: String
    ) async throws(StoreFault) -> [(name: String, value: [UInt8])] {
        var transactions: [(name: String, value: [UInt8])] = []
        var products: [(name: String, value: [UInt8])] = []
        var asked: Set<Name> = []
        for item in page.items {
            if let id = item["id"]?.string, item["object"]?.string == "subscription",
                let store = item["store"]?.string, Self.tellingStores.contains(Name(store))
            {
                let lists = try await known { () throws(StoreFault) in
                    try await self.pages(project + "subscriptions/\(id.pathSegment)/transactions")
                }
                transactions.append((id, Self.array((lists ?? []).map(\.body))))
            }
            if let id = item["product_id"]?.string, asked.insert(Name(id)).inserted,
                let product = try await product(id, in: project)
            {
                products.append((id, product))
            }
        }
        return [
            ("transactions", Self.object(transactions)), ("products", Self.object(products)),
        ]
    }

    /// The stores of whose subscriptions all transactions can be had.
    private static let tellingStores: Set<Name> = ["app_store", "mac_app_store", "play_store"]

    private func product(
        _ id: String,
        in project: String
    ) async throws(StoreFault) -> [UInt8]? {
        if let known = products.withLock({ $0[Name(id)] }) { return known }
        let found = try await known { () throws(StoreFault) in
            let response = try await self.get(project + "products/" + id.pathSegment)
            _ = try self.json(response)
            return response.body
        }
        guard let found else { return nil }
        products.withLock { products in
            if products.count < Self.productLimit { products[Name(id)] = found }
        }
        return found
    }

    /// Nil for what RevenueCat no longer knows.
    private func known<Answer>(
        _ ask: () async throws(StoreFault) -> Answer
    ) async throws(StoreFault) -> Answer? {
        do throws(StoreFault) {
            return try await ask()
        } catch  where error.code == .notFound {
            return nil
        }
    }

    // MARK: Questions

    private func get(_ path: String) async throws(StoreFault) -> StoreResponse {
        try await caller.send(
            StoreRequest(.get, baseURL + path, headers: ["Authorization": authorization])
        )
    }

    private func json(_ response: StoreResponse) throws(StoreFault) -> JSONValue {
        guard let json = try? JSONValue(parsingStoreText: response.body), json.members != nil else {
            throw StoreFault(.malformed, status: response.status)
        }
        return json
    }

    /// An answer with what was asked, each as it came.
    private func answered(
        _ customer: CustomerID,
        _ answer: [UInt8],
        _ more: [(name: String, value: [UInt8])],
        at instant: Instant
    ) -> [UInt8] {
        let asked = JSONValue.members([
            "appUserId": .string(customer.text), "observedAt": .string(instant.description),
        ])
        var body = Array(asked.description.utf8.dropLast())
        for (name, value) in more + [("answer", answer)] {
            body += Array(#","\#(name)":"#.utf8) + value
        }
        return body + [UInt8(ascii: "}")]
    }

    private static func array(_ values: [[UInt8]]) -> [UInt8] {
        [UInt8(ascii: "[")] + values.joined(separator: [UInt8(ascii: ",")])
            + [UInt8(ascii: "]")]
    }

    private static func object(_ members: [(name: String, value: [UInt8])]) -> [UInt8] {
        let parts = members.map {
            Array(JSONValue.string($0.name).description.utf8) + [UInt8(ascii: ":")] + $0.value
        }
        return [UInt8(ascii: "{")] + parts.joined(separator: [UInt8(ascii: ",")])
            + [UInt8(ascii: "}")]
    }
}
