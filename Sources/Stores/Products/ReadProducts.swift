import Encodings
package import Entitlements

/// What was read of the products of a store's answer, and how much of it was passed over.
package struct ReadProducts: Hashable, Sendable {
    /// In the store's order, none of them twice.
    package private(set) var products: [StoreProduct] = []
    /// Entries that are no product which is for sale: without an id, given twice, a draft, too many.
    package private(set) var passedOver = 0
    private var places: [Name: Int] = [:]

    /// Products of one source: a store has fewer.
    package static let productLimit = 10_000

    /// Begins with none.
    package init() {}

    /// Adds a product; nil: an entry that is none.
    mutating func add(_ product: StoreProduct?) {
        guard let product, products.count < Self.productLimit,
            places[Self.key(of: product)] == nil
        else {
            passedOver += 1
            return
        }
        places[Self.key(of: product)] = products.count
        products.append(product)
    }

    /// Adds what another answer told.
    package mutating func add(_ other: ReadProducts) {
        for product in other.products { add(product) }
        passedOver += other.passedOver
    }

    /// Adds offers to a product; an offer of one that is not for sale is none.
    mutating func add(_ offers: [StoreProduct.Offer], to id: String, plan: String?) {
        guard let place = places[Self.key(of: id, plan, in: Source.playStore)] else { return }
        products[place].offers += offers
    }

    private static func key(of product: StoreProduct) -> Name {
        key(of: product.id, product.plan, in: product.store)
    }

    private static func key(of id: String, _ plan: String?, in store: String) -> Name {
        // No id holds a line's end.
        Name(store + "\n" + id + "\n" + (plan ?? ""))
    }
}

extension StoreProduct.Text {
    /// A text that can be shown; nil: its language is none, or its name is no line.
    init?(_ locale: String?, _ name: String?, _ description: String?) {
        // Xcode writes `en_US`.
        let tag = locale.map { String($0.map { $0 == "_" ? "-" : $0 }) }
        guard let tag, LanguageTag(tag) != nil, let name, Identifier.isValid(name) else {
            return nil
        }
        self.init(locale: tag, name: name, description: description.flatMap(Self.shown))
    }

    private static func shown(_ description: String) -> String? {
        description.isEmpty || description.utf8.count > FieldShape.textByteLimit
            ? nil : description
    }
}

extension [StoreProduct.Text] {
    /// The first text of each language.
    var oneForEachLanguage: Self {
        var seen: Set<Name> = []
        return filter { seen.insert(Name($0.locale.lowercased())).inserted }
    }
}

extension StoreProduct.Price {
    /// A price; nil: it is negative, beyond all prices, or of no country or currency.
    init?(_ storefront: String?, micros: Int64?, _ currency: String?) {
        guard let storefront = storefront.flatMap(Storefront.init),
            let micros, (0...FieldShape.largestPrice).contains(micros),
            let currency = CurrencyCode.of(currency)
        else { return nil }
        self.init(storefront: storefront.code, micros: micros, currency: currency)
    }
}

extension ExactDecimal {
    /// A decimal as JSON writes it, in a text, as Apple writes amounts; nil for any other, such as `1,99`.
    init?(text: String) {
        // What JSON does not read is none.
        guard case .number(let digits)? = try? JSONValue(parsing: Array(text.utf8)) else {
            return nil
        }
        self.init(jsonNumber: digits)
    }
}

/// How long a period of a subscription lasts: ISO 8601 without times of day, as all stores write it.
enum SubscriptionPeriod {
    private static let byteLimit = 24
    private static let units = Array("YMWD".utf8)

    /// The text of one such as `P1M` or `P4W2D`; nil for any other.
    static func of(_ text: String?) -> String? {
        guard let text, text.utf8.count <= byteLimit, text.utf8.first == UInt8(ascii: "P") else {
            return nil
        }
        var rest = units[...]
        var (digits, isSomething) = (0, false)
        for byte in text.utf8.dropFirst() {
            if (0x30...0x39).contains(byte) {
                digits += 1
                isSomething = isSomething || byte != 0x30
            } else {
                guard digits > 0, let unit = rest.firstIndex(of: byte) else { return nil }
                rest = rest[(unit + 1)...]
                digits = 0
            }
        }
        return digits == 0 && isSomething && rest.count < units.count ? text : nil
    }
}
