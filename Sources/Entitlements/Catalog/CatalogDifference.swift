public import Encodings

/// What differs between two catalog documents, texts and prices included.
public struct CatalogDifference: Sendable, Hashable {
    /// Ordered names.
    public var tiers: ValueChange?
    /// By feature id.
    public var features: [NamedChange]
    /// By product id.
    public var products: [NamedChange]
    /// By trial id.
    public var trials: [NamedChange]
    /// By experiment id.
    public var experiments: [NamedChange]
    /// All of them: their order counts.
    public var offerings: ValueChange?
    /// Rules of the whole catalog.
    public var policy: ValueChange?
    /// Whether zones were resolved otherwise.
    public var hasOtherTimeZones: Bool

    /// Compares two documents that passed K10; nil: there is none yet.
    public init(from before: JSONValue?, to after: JSONValue?) {
        func value(_ name: String) -> ValueChange? {
            ValueChange(before?[name] ?? .null, after?[name] ?? .null)
        }
        func things(_ name: String) -> [NamedChange] {
            [NamedChange](from: Self.named(before?[name]), to: Self.named(after?[name]))
        }
        tiers = value("tiers")
        features = things("features")
        products = things("products")
        trials = things("trials")
        experiments = things("experiments")
        offerings = value("offerings")
        policy = value("policy")
        hasOtherTimeZones = value("timeZones") != nil
    }

    private static func named(_ list: JSONValue?) -> [JSONMember] {
        (list?.array ?? []).map { JSONMember($0["id"]?.string ?? "", $0) }
    }

    /// Whether the documents say the same, up to the order of things that have ids.
    public var isEmpty: Bool {
        tiers == nil && features.isEmpty && products.isEmpty && trials.isEmpty
            && experiments.isEmpty && offerings == nil && policy == nil && !hasOtherTimeZones
    }

    /// The members of the `catalog-diff` shape, `affected` apart.
    public var members: [JSONMember] {
        func list(_ changes: [NamedChange]) -> JSONValue {
            .array(changes.map { $0.json(key: "id") })
        }
        return [
            JSONMember("tiers", tiers?.json ?? .null), JSONMember("features", list(features)),
            JSONMember("products", list(products)), JSONMember("trials", list(trials)),
            JSONMember("experiments", list(experiments)),
            JSONMember("offerings", offerings?.json ?? .null),
            JSONMember("policy", policy?.json ?? .null),
            JSONMember("timeZones", .bool(hasOtherTimeZones)),
        ]
    }
}
