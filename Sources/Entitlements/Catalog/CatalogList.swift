/// The lists of a catalog document that may grow, and how many things each may have (K10).
///
/// What is read again and again, with every question, costs the products of some of these.
enum CatalogList {
    case tiers
    case features
    case products
    case trials
    case offerings
    case experiments
    /// Variants of an experiment.
    case variants
    /// Features, or products, that one thing names.
    case named
    /// Stores in which one product has ids of its own.
    case stores
    /// Ids of one product in one store.
    case storeIDs
    /// Time zones.
    case zones
    /// Changes of the offset of one time zone.
    case transitions

    /// How many.
    var limit: Int {
        switch self {
        case .tiers: 100
        case .features: 1000
        case .products: 5000
        case .trials: 1000
        case .offerings: 1000
        case .experiments: 100
        case .variants: 100
        case .named: 5000
        case .stores: 20
        case .storeIDs: 100
        case .zones: 1000
        case .transitions: 2000
        }
    }

    /// Stores that a whole catalog names: all products are compared in each.
    static let storeLimit = 20
}
