import Encodings
package import Entitlements

/// App Store Connect's API: what the App Store sells of an app
/// (developer.apple.com/documentation/appstoreconnectapi).
package final class AppStoreConnectAPI: Sendable {
    private let access: AppStoreConnectAccess
    private let caller: StoreCaller
    private let baseURL: String
    private let clock: @Sendable () -> Instant

    /// App Store Connect's own address.
    package static let appleURL = "https://api.appstoreconnect.apple.com"

    /// Asks by a key; `baseURL`: nil: Apple's.
    package init(
        _ access: AppStoreConnectAccess,
        caller: StoreCaller,
        baseURL: String? = nil,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.access = access
        self.caller = caller
        self.baseURL = baseURL ?? Self.appleURL
        self.clock = clock
    }

    /// When it may be asked again; nil: now.
    package var heldUntil: Instant? { caller.heldUntil }

    /// What the App Store sells of the app (row 1.1): in-app purchases and subscriptions that are
    /// approved, with names by language, prices of today by territory, and introductory offers.
    ///
    /// Cost: three questions for each purchase and two for each subscription, beside the lists of both.
    ///
    /// - Throws: `StoreFault`; nothing is told by halves.
    package func products() async throws(StoreFault) -> ReadProducts {
        var products = AppStoreConnectProducts(today: String(clock().description.prefix(10)))
        let app = "/v1/apps/\(access.appID)/"
        let purchases = app + "inAppPurchasesV2" + Self.listed("inAppPurchaseLocalizations")
        for page in try await all(purchases) {
            for sold in products.purchases(of: page) {
                // A purchase's schedule of prices has the purchase's id.
                let schedule = "/v1/inAppPurchasePriceSchedules/\(sold.id.pathSegment)/"
                // What was set by hand goes before what Apple makes of the base country's price.
                let manual = try await all(schedule + "manualPrices" + Self.purchasePrices)
                let automatic = try await all(schedule + "automaticPrices" + Self.purchasePrices)
                let point = "inAppPurchasePricePoint"
                let own = products.prices(of: manual, points: point)
                let set = Set(texts: own.map(\.storefront))
                let others = products.prices(of: automatic, points: point)
                    .filter { !set.contains($0.storefront) }
                products.add(sold, prices: own + others)
            }
        }
        for groups in try await all(app + "subscriptionGroups?limit=\(Self.pageSize)") {
            for group in PayloadObject(json: groups).objects("data") {
                guard let id = group.identifier("id") else { continue }
                try await add(subscriptionsOf: id, to: &products)
            }
        }
        return products.read
    }

    /// Entries of a page with what they name: a purchase has up to fifty languages.
    private static let listedSize = 10
    private static let languageLimit = 50
    /// Entries of a page of prices, the most that are given.
    private static let pageSize = 200

    private static func listed(_ texts: String) -> String {
        "?limit=\(listedSize)&include=\(texts)&limit%5B\(texts)%5D=\(languageLimit)"
    }

    private static let purchasePrices =
        "?limit=\(pageSize)&include=inAppPurchasePricePoint,territory"
    private static let subscriptionPrices =
        "?limit=\(pageSize)&include=subscriptionPricePoint,territory"

    private func add(
        subscriptionsOf group: String,
        to products: inout AppStoreConnectProducts
    ) async throws(StoreFault) {
        let list =
            "/v1/subscriptionGroups/\(group.pathSegment)/subscriptions"
            + Self.listed("subscriptionLocalizations")
        for page in try await all(list) {
            for sold in products.subscriptions(of: page, group: group) {
                let place = "/v1/subscriptions/\(sold.id.pathSegment)/"
                let prices = try await all(place + "prices" + Self.subscriptionPrices)
                let offers = try await all(place + "introductoryOffers" + Self.subscriptionPrices)
                products.add(
                    sold,
                    prices: products.prices(of: prices, points: "subscriptionPricePoint"),
                    offers: products.offers(of: offers)
                )
            }
        }
    }

    // MARK: Questions

    /// All pages of a list.
    private func all(_ path: String) async throws(StoreFault) -> [JSONValue] {
        var list = StorePages(continuedAt: place) { [self] last in
            do throws(StoreFault) {
                guard let last, case .at(let next) = place(last) else {
                    return .success(try await get(path))
                }
                return .success(try await get(next))
            } catch {
                return .failure(error)
            }
        }
        var pages: [JSONValue] = []
        while let page = try await list.next() { pages.append(page) }
        return pages
    }

    /// The path of the next page, which lies below the same address: nobody else is shown a token.
    private func place(_ page: JSONValue) -> StorePages.Place {
        guard let next = page["links"]?.present("next") else { return .over }
        let text = next.string ?? ""
        guard text.hasPrefix(baseURL + "/v"), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return .unsaid }
        return .at(String(text.dropFirst(baseURL.count)))
    }

    private func get(_ path: String) async throws(StoreFault) -> JSONValue {
        guard let token = try? access.token(at: clock()) else { throw StoreFault(.notPermitted) }
        let response = try await caller.send(
            StoreRequest(.get, baseURL + path, headers: ["Authorization": "Bearer " + token])
        )
        guard let json = try? JSONValue(parsingStoreText: response.body),
            json["data"]?.array != nil
        else { throw StoreFault(.malformed, status: response.status) }
        return json
    }
}
