import Encodings
package import Entitlements

/// A StoreKit configuration of Xcode (`.storekit`), made there or synced from App Store Connect: the
/// products of an app, with prices in one country
/// (developer.apple.com/documentation/xcode/setting-up-storekit-testing-in-xcode).
package enum StoreKitFile {
    /// Bytes of a file: Xcode writes less than two thousand for a product.
    package static let byteLimit = 8 << 20

    /// Reads the products of a file (row 1.1).
    ///
    /// Words that are not known are passed over: a price or an offer is left out, a kind is nil.
    ///
    /// - Throws: `InputFault` for what is no such file.
    package static func products(in bytes: [UInt8]) throws(InputFault) -> ReadProducts {
        let json: JSONValue
        do throws(JSONFault) {
            json = try JSONValue(parsing: bytes)
        } catch {
            throw InputFault(.malformed, "", "\(error.message) at byte \(error.offset)")
        }
        let sections = ["products", "nonRenewingSubscriptions", "subscriptionGroups"]
        guard sections.contains(where: { json[$0]?.array != nil }) else {
            throw InputFault(
                .malformed,
                "",
                "expected a StoreKit configuration of Xcode: " + sections.joined(separator: ", ")
            )
        }
        return products(of: PayloadObject(json: json))
    }

    /// Where Xcode sells unless it is told otherwise.
    private static let standardStorefront = "USA"

    private static func products(of file: PayloadObject) -> ReadProducts {
        let storefront = file.object("settings")?.text("_storefront") ?? standardStorefront
        var read = ReadProducts()
        for entry in file.objects("products") {
            read.add(StoreProduct(entry, kind: nil, in: storefront))
        }
        for entry in file.objects("nonRenewingSubscriptions") {
            read.add(StoreProduct(entry, kind: .nonRenewing, in: storefront))
        }
        for group in file.objects("subscriptionGroups") {
            for entry in group.objects("subscriptions") {
                var product = StoreProduct(entry, kind: .autoRenewable, in: storefront)
                product?.group = group.identifier("id")
                read.add(product)
            }
        }
        return read
    }
}

extension StoreProduct {
    /// An entry of a file; nil: it has no id.
    fileprivate init?(_ entry: PayloadObject, kind: ProductKind?, in storefront: String) {
        guard let id = entry.name("productID") else { return nil }
        let texts = entry.objects("localizations").compactMap {
            Text($0.text("locale"), $0.text("displayName"), $0.text("description"))
        }
        let price = Price(entry["displayPrice"], in: storefront)
        self.init(
            store: Source.appStore,
            id: id,
            kind: entry.text("type").flatMap { Self.kinds[$0] } ?? kind,
            period: SubscriptionPeriod.of(entry.text("recurringSubscriptionPeriod")),
            texts: texts.oneForEachLanguage,
            prices: [price].compactMap(\.self),
            offers: Self.offers(of: entry, in: storefront)
        )
    }

    private static let kinds: [Name: ProductKind] = [
        "Consumable": .consumable, "NonConsumable": .nonConsumable,
        "NonRenewingSubscription": .nonRenewing, "RecurringSubscription": .autoRenewable,
    ]

    private static func offers(of entry: PayloadObject, in storefront: String) -> [Offer] {
        // One, or in newer files a list.
        let introductory =
            (entry.object("introductoryOffer").map { [$0] } ?? [])
            + entry.objects("introductoryOffers")
        let lists: [(OfferKind, [PayloadObject])] = [
            (.introductory, introductory), (.promotional, entry.objects("adHocOffers")),
            (.code, entry.objects("codeOffers")), (.winBack, entry.objects("winbackOffers")),
        ]
        return lists.flatMap { kind, offers in
            offers.compactMap { Offer($0, kind: kind, in: storefront) }
        }
    }
}

extension StoreProduct.Offer {
    /// Nil: how it is paid is not known.
    fileprivate init?(
        _ offer: PayloadObject,
        kind: StoreProduct.OfferKind,
        in storefront: String
    ) {
        guard let mode = offer.text("paymentMode").flatMap({ Self.modes[$0] }) else {
            return nil
        }
        let count = offer["numberOfPeriods"] == nil ? 1 : offer.integer("numberOfPeriods")
        guard let count, count > 0 else { return nil }
        let price = StoreProduct.Price(offer["displayPrice"], in: storefront)
        self.init(
            id: offer.identifier("offerID"),
            kind: kind,
            mode: mode,
            period: SubscriptionPeriod.of(offer.text("subscriptionPeriod")),
            count: count,
            prices: mode == .free ? [] : [price].compactMap(\.self)
        )
    }

    private static let modes: [Name: StoreProduct.PaymentMode] = [
        "free": .free, "payAsYouGo": .payAsYouGo, "payUpFront": .payUpFront,
    ]
}

extension StoreProduct.Price {
    /// An amount of the file, a decimal as text, in the currency that the App Store takes there.
    fileprivate init?(_ amount: JSONValue?, in storefront: String) {
        guard let country = Storefront(storefront) else { return nil }
        self.init(
            storefront,
            micros: Self.micros(amount),
            AppStoreCurrency.code(in: country)
        )
    }

    private static func micros(_ amount: JSONValue?) -> Int64? {
        switch amount {
        case .number(let digits): return ExactDecimal(jsonNumber: digits).micros
        case .string(let text): return ExactDecimal(text: text)?.micros
        default: return nil
        }
    }
}
