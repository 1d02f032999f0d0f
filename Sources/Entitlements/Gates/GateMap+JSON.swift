public import Encodings

extension GateMap {
    /// `{"tiers", "features": {ID: {"level", "products"}}, "products": {ID: {"kind", "tier",
    /// "features", "stores": {STORE: IDS}}}, "validUntil"}`, members ordered by id.
    package var json: JSONValue {
        .members([
            "tiers": .strings(tiers),
            "features": .object(
                features.sorted { $0.key < $1.key }.map { id, feature in
                    JSONMember(
                        id.text,
                        .members([
                            "level": .string(feature.level),
                            "products": .strings(feature.products),
                        ])
                    )
                }
            ),
            "products": .object(
                products.sorted { $0.key < $1.key }.map { id, product in
                    JSONMember(
                        id.text,
                        .members([
                            "kind": .string(product.kind.name), "tier": .optional(product.tier),
                            "features": .strings(product.features),
                            "stores": .object(
                                product.stores.sorted { $0.key < $1.key }.map {
                                    JSONMember($0.key.text, .strings($0.value))
                                }
                            ),
                        ])
                    )
                }
            ),
            "validUntil": .instant(validUntil),
        ])
    }

    /// Reads a map as `json` gives it: one that was fetched, or the one built into an app, which
    /// answers until then (row B6).
    ///
    /// - Throws: `InputFault` with the path of what does not fit, or stands on one side only. Cost:
    ///   features times products.
    public init(json: JSONValue) throws(InputFault) {
        let map = ObjectReader(json)
        tiers = try map.required("tiers", Self.expectedTexts, Self.texts)
        guard let first = tiers.first, first == Catalog.freeTier else {
            throw map.fault("tiers", "the first tier is \"free\"")
        }
        let tiers = tiers
        func tier(_ json: JSONValue) -> String? {
            json.string.flatMap { tiers.holds($0) ? $0 : nil }
        }
        var features: [Name: Feature] = [:]
        for member in try map.required("features", "expected an object", \.members) {
            let reader = ObjectReader(member.value, at: "features." + member.name)
            features[member.name] = Feature(
                level: try reader.required("level", Self.expectedTier, tier),
                products: try reader.required("products", Self.expectedTexts, Self.texts)
            )
        }
        var products: [Name: Product] = [:]
        for member in try map.required("products", "expected an object", \.members) {
            let reader = ObjectReader(member.value, at: "products." + member.name)
            products[member.name] = Product(
                kind: try reader.required("kind", "not a kind of product") { json in
                    json.string.flatMap(ProductKind.init(name:))
                },
                tier: try reader.optional("tier", Self.expectedTier, tier),
                features: try reader.required("features", Self.expectedTexts, Self.texts),
                stores: try Self.stores(reader)
            )
        }
        self.features = features
        self.products = products
        // Maps of servers before 0.6 do not say it.
        validUntil = try map.optional("validUntil", "expected an instant") { json in
            json.string.flatMap { Instant(rfc3339: $0) }
        }
        try requireClosed()
    }

    /// Every name stands for something in the map, and both sides say the same.
    private func requireClosed() throws(InputFault) {
        for (id, feature) in features {
            for product in feature.products where products[product]?.features.holds(id.text) != true
            {
                throw InputFault(
                    .invalidValue,
                    "features.\(id).products",
                    "a product that does not open it"
                )
            }
        }
        for (id, product) in products {
            for feature in product.features
            where features[feature]?.products.holds(id.text) != true {
                throw InputFault(
                    .invalidValue,
                    "products.\(id).features",
                    "a feature that does not name it"
                )
            }
        }
    }

    /// Maps of servers before 0.6 do not say them.
    private static func stores(_ product: ObjectReader) throws(InputFault) -> [Name: [String]] {
        let members = try product.optional("stores", "expected an object", \.members) ?? []
        var stores: [Name: [String]] = [:]
        for member in members {
            guard let ids = texts(member.value) else {
                throw product.fault("stores." + member.name, expectedTexts)
            }
            stores[member.name] = ids
        }
        return stores
    }

    private static let expectedTexts = "expected an array of texts"
    private static let expectedTier = "not among the tiers"

    private static func texts(_ json: JSONValue) -> [String]? {
        guard let array = json.array else { return nil }
        let texts = array.compactMap(\.string)
        return texts.count == array.count ? texts : nil
    }
}
