public import Encodings

/// Why a document is no gate map.
public struct GateMapFault: Error, Hashable, Sendable {
    /// Where, such as `features.chat.level`.
    public var path: String
    /// A sentence.
    public var detail: String
}

extension GateMap {
    /// `{"tiers", "features": {ID: {"level", "products"}}, "products": {ID: {"kind", "tier",
    /// "features"}}}`, members ordered by id.
    public var json: JSONValue {
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
                        ])
                    )
                }
            ),
        ])
    }

    /// Reads a map as `json` gives it: one that was fetched, or the one built into an app, which
    /// answers until then (row B6).
    public init(json: JSONValue) throws(GateMapFault) {
        tiers = try Self.texts(json["tiers"], "tiers")
        guard tiers.first == Catalog.freeTier else {
            throw GateMapFault(path: "tiers", detail: "the first tier is \"free\"")
        }
        var features: [Name: Feature] = [:]
        for member in try Self.members(json["features"], "features") {
            let path = "features." + member.name
            features[member.name] = Feature(
                level: try Self.tier(member.value["level"], path + ".level", of: tiers),
                products: try Self.texts(member.value["products"], path + ".products")
            )
        }
        var products: [Name: Product] = [:]
        for member in try Self.members(json["products"], "products") {
            let path = "products." + member.name
            guard let kind = member.value["kind"]?.string.flatMap(ProductKind.init(name:)) else {
                throw GateMapFault(path: path + ".kind", detail: "not a kind of product")
            }
            let tier = member.value["tier"] ?? .null
            products[member.name] = Product(
                kind: kind,
                tier: tier.isNull ? nil : try Self.tier(tier, path + ".tier", of: tiers),
                features: try Self.texts(member.value["features"], path + ".features")
            )
        }
        self.features = features
        self.products = products
        try requireClosed()
    }

    /// Every name stands for something in the map, and both sides say the same.
    private func requireClosed() throws(GateMapFault) {
        for (id, feature) in features {
            for product in feature.products where products[product]?.features.holds(id.text) != true
            {
                throw GateMapFault(
                    path: "features.\(id).products",
                    detail: "a product that does not open it"
                )
            }
        }
        for (id, product) in products {
            for feature in product.features
            where features[feature]?.products.holds(id.text) != true {
                throw GateMapFault(
                    path: "products.\(id).features",
                    detail: "a feature that does not name it"
                )
            }
        }
    }

    private static func members(
        _ json: JSONValue?,
        _ path: String
    ) throws(GateMapFault) -> [JSONMember] {
        guard let members = json?.members else {
            throw GateMapFault(path: path, detail: "expected an object")
        }
        return members
    }

    private static func texts(
        _ json: JSONValue?,
        _ path: String
    ) throws(GateMapFault) -> [String] {
        guard let array = json?.array else {
            throw GateMapFault(path: path, detail: "expected an array of texts")
        }
        let texts = array.compactMap(\.string)
        guard texts.count == array.count else {
            throw GateMapFault(path: path, detail: "expected an array of texts")
        }
        return texts
    }

    private static func tier(
        _ json: JSONValue?,
        _ path: String,
        of tiers: [String]
    ) throws(GateMapFault) -> String {
        guard let name = json?.string, tiers.holds(name) else {
            throw GateMapFault(path: path, detail: "not among the tiers")
        }
        return name
    }
}
