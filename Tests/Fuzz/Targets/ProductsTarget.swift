import Crypto
import Encodings
import Entitlements
import LedgerAPI
import LedgerOperations
import ModelSupport
import StoreSimulator
import Stores
import Synchronization

/// What the stores say of what they sell: an input is a StoreKit configuration of Xcode, and the answer to
/// whatever App Store Connect, Google Play and RevenueCat are asked for.
struct ProductsTarget: MutatingFuzzTarget {
    private let answer = GivenAnswer()
    private let appStoreConnect: AppStoreConnectAPI
    private let playStore: PlayDeveloperAPI
    private let revenueCat: RevenueCatAPI
    private let samples: [JSONValue]
    let mutation: JSONMutation

    private static let now = Instant(milliseconds: 1_769_904_000_000)

    /// What is answered now.
    private final class GivenAnswer: Sendable {
        private let body = Mutex<[UInt8]>([])

        func set(_ bytes: [UInt8]) { body.withLock { $0 = bytes } }

        func response(to request: StoreRequest) -> StoreResponse {
            let body =
                request.url.hasPrefix(ServiceAccount.googleTokenURL)
                ? Array(#"{"access_token":"t","expires_in":31536000}"#.utf8)
                : body.withLock(\.self)
            return StoreResponse(status: 200, body: body)
        }
    }

    init() throws {
        let answer = answer
        let caller = StoreCaller(
            { answer.response(to: $0) },
            clock: { Self.now },
            sleep: { _ in },
            random: { 0 }
        )
        appStoreConnect = AppStoreConnectAPI(
            try AppStoreConnectAccess(
                issuerID: "57246542-96fe-1a63-e053-0824d011072a",
                keyID: "FUZZED",
                appID: 1,
                pem: P256.Signing.PrivateKey().pemRepresentation
            ),
            caller: caller,
            clock: { Self.now }
        )
        guard
            let account = ServiceAccount(
                json: try SimulatedPlayAPI().serviceAccount,
                tokenURL: ServiceAccount.googleTokenURL
            )
        else { fatalError("the simulated account is none") }
        playStore = PlayDeveloperAPI(account, caller: caller, clock: { Self.now })
        revenueCat = RevenueCatAPI(
            key: Array("key".utf8),
            projectID: "p1",
            caller: caller,
            clock: { Self.now }
        )
        samples = [Self.storeKitFile, Self.connectPage, Self.playPage, Self.revenueCatPage]
        mutation = JSONMutation(
            wordsOf: samples,
            and: .members([
                "type": .strings(["Consumable", "NonConsumable", "consumable", "one_time"]),
                "paymentMode": .strings(["payAsYouGo", "payUpFront"]),
                "offerMode": .strings(["PAY_AS_YOU_GO", "PAY_UP_FRONT"]),
                "state": .strings(["INACTIVE", "DEVELOPER_ACTION_NEEDED"]),
                "prepaidBasePlanType": .members(["billingPeriodDuration": "P3M"]),
                "_storefront": .strings(["DEU", "ZZZ"]), "free": .object([]),
            ])
        )
    }

    func seeds() -> [[UInt8]] { samples.map { Array($0.description.utf8) } }

    func run(_ input: [UInt8]) {
        // What is no such file is refused.
        if let read = try? StoreKitFile.products(in: input) { demandLaws(read, .appStore) }
        answer.set(input)
        Blocking.wait {
            // Why one does not tell makes no difference here.
            if let read = try? await appStoreConnect.products() { demandLaws(read, .appStore) }
            if let read = try? await playStore.products(of: "com.example.app") {
                demandLaws(read, .playStore)
            }
            if let told = try? await revenueCat.products() {
                demandLaws(told.read, .revenueCat, told.offerings)
            }
        }
    }

    /// What is kept of products is read back as itself.
    private func demandLaws(
        _ read: ReadProducts,
        _ source: ProductSource,
        _ offerings: [StoreOffering] = []
    ) {
        for product in read.products {
            demand(Identifier.isValid(product.id), "an id is one")
            let prices = product.prices + product.offers.flatMap(\.prices)
            demand(prices.allSatisfy { $0.micros >= 0 }, "no price is negative (rule 8)")
            demand(product.offers.allSatisfy { $0.count > 0 }, "an offer is for some periods")
            PlantedFault.strike(product.offers.contains { $0.mode == .payUpFront && $0.count > 1 })
        }
        let document = ProductDocument(
            source: source,
            origin: .api,
            loadedAt: Self.now,
            passedOver: read.passedOver,
            products: read.products,
            offerings: offerings
        )
        guard let json = try? JSONValue(parsing: AnswerText(document).bytes),
            let again = try? ProductDocument.fields.read(json)
        else { fatalError("does not hold: what is kept can be read") }
        demand(again.products == document.products, "products are read back as themselves")
        demand(again.offerings == document.offerings, "offerings are read back as themselves")
    }
}

/// Samples, each with all that its reader knows.
extension ProductsTarget {
    private static let storeKitFile: JSONValue = .members([
        "settings": .members(["_storefront": "USA"]),
        "products": .array([
            .members([
                "productID": "life", "type": "NonConsumable", "displayPrice": "49.99",
                "localizations": .array([
                    .members(["locale": "en_US", "displayName": "Life", "description": "All"])
                ]),
            ])
        ]),
        "nonRenewingSubscriptions": .array([
            .members(["productID": "season", "displayPrice": "9.99"])
        ]),
        "subscriptionGroups": .array([
            .members([
                "id": "21400001",
                "subscriptions": .array([
                    .members([
                        "productID": "pro.month", "type": "RecurringSubscription",
                        "recurringSubscriptionPeriod": "P1M", "displayPrice": "4.99",
                        "introductoryOffer": .members([
                            "paymentMode": "free", "subscriptionPeriod": "P1W",
                            "numberOfPeriods": .integer(1),
                        ]),
                        "adHocOffers": .array([
                            .members([
                                "offerID": "back", "paymentMode": "payAsYouGo",
                                "subscriptionPeriod": "P1M", "displayPrice": "1.99",
                                "numberOfPeriods": .integer(3),
                            ])
                        ]),
                    ])
                ]),
            ])
        ]),
    ])

    /// An answer to every question: a subscription, its prices and an offer.
    private static let connectPage: JSONValue = .members([
        "data": .array([
            .members([
                "type": "subscriptions", "id": "1",
                "attributes": .members([
                    "state": "APPROVED", "productId": "pro.month",
                    "inAppPurchaseType": "NON_RENEWING_SUBSCRIPTION",
                    "subscriptionPeriod": "ONE_MONTH", "startDate": "2026-01-01",
                    "endDate": .null, "preserved": .bool(false), "offerMode": "FREE_TRIAL",
                    "duration": "ONE_WEEK", "numberOfPeriods": .integer(1),
                ]),
                "relationships": .members([
                    "subscriptionLocalizations": .members([
                        "data": .array([.members(["type": "texts", "id": "t"])])
                    ]),
                    "inAppPurchaseLocalizations": .members([
                        "data": .array([.members(["type": "texts", "id": "t"])])
                    ]),
                    "subscriptionPricePoint": .members([
                        "data": .members(["type": "points", "id": "p"])
                    ]),
                    "inAppPurchasePricePoint": .members([
                        "data": .members(["type": "points", "id": "p"])
                    ]),
                    "territory": .members(["data": .members(["type": "territories", "id": "USA"])]),
                ]),
            ])
        ]),
        "included": .array([
            .members([
                "type": "texts", "id": "t",
                "attributes": .members(["locale": "en-US", "name": "Pro", "description": "All"]),
            ]),
            .members([
                "type": "points", "id": "p",
                "attributes": .members(["customerPrice": "4.99"]),
            ]),
            .members([
                "type": "territories", "id": "USA",
                "attributes": .members(["currency": "USD"]),
            ]),
        ]),
        "links": .members(["next": .null]),
    ])

    private static let playRegion: JSONValue = .members([
        "regionCode": "US", "newSubscriberAvailability": .bool(true), "availability": "AVAILABLE",
        "price": .members([
            "currencyCode": "USD", "units": "4", "nanos": .integer(990_000_000),
        ]),
    ])

    private static let playPage: JSONValue = .members([
        "subscriptions": .array([
            .members([
                "productId": "pro",
                "listings": .array([
                    .members(["languageCode": "en-US", "title": "Pro", "description": "All"])
                ]),
                "basePlans": .array([
                    .members([
                        "basePlanId": "monthly", "state": "ACTIVE",
                        "autoRenewingBasePlanType": .members(["billingPeriodDuration": "P1M"]),
                        "regionalConfigs": .array([playRegion]),
                    ])
                ]),
            ])
        ]),
        "oneTimeProducts": .array([
            .members([
                "productId": "coins",
                "purchaseOptions": .array([
                    .members([
                        "purchaseOptionId": "rent", "state": "ACTIVE",
                        "rentOption": .members(["rentalPeriod": "P2D"]),
                        "regionalPricingAndAvailabilityConfigs": .array([playRegion]),
                    ])
                ]),
            ])
        ]),
        "subscriptionOffers": .array([
            .members([
                "productId": "pro", "basePlanId": "monthly", "offerId": "intro", "state": "ACTIVE",
                "targeting": .members(["acquisitionRule": .object([])]),
                "phases": .array([
                    .members([
                        "duration": "P1M", "recurrenceCount": .integer(3),
                        "regionalConfigs": .array([playRegion]),
                    ])
                ]),
            ])
        ]),
    ])

    /// Products and offerings at once.
    private static let revenueCatPage: JSONValue = .members([
        "object": "list", "next_page": .null,
        "items": .array([
            .members([
                "object": "product", "id": "prod1", "store_identifier": "pro",
                "display_name": "Pro", "type": "subscription",
                "app": .members(["id": "app1", "type": "play_store"]),
                "subscription": .members(["duration": "P1M", "trial_duration": "P3D"]),
                "one_time": .members(["is_consumable": .bool(true)]),
            ]),
            .members([
                "object": "offering", "id": "o1", "lookup_key": "main", "display_name": "Main",
                "is_current": .bool(true),
                "packages": .members([
                    "items": .array([
                        .members([
                            "id": "k1", "lookup_key": "$rc_monthly", "display_name": "Monthly",
                            "products": .members([
                                "items": .array([
                                    .members(["product": .members(["id": "prod1"])])
                                ])
                            ]),
                        ])
                    ])
                ]),
            ]),
        ]),
    ])
}
