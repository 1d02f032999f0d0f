import Encodings
import Entitlements

/// The ids that a signal gives to one customer of RevenueCat's.
struct RevenueCatCustomers: Hashable, Sendable {
    /// Who keeps their name; nil if no usable id stands in its place.
    let principal: CustomerID?
    /// The other names, each once, in their order, without the principal.
    let others: [CustomerID]
    /// How many ids were passed over: not valid, or beyond the limit.
    let passedOver: Int

    /// Other names that one signal may bring.
    static let otherLimit = 100
    /// What RevenueCat's own ids begin with (revenuecat.com/docs/customers/user-ids).
    private static let anonymousPrefix = "$RCAnonymousID:"

    /// The common fields: `app_user_id` with `original_app_user_id` and `aliases`.
    init(commonFieldsOf event: RevenueCatEvent) {
        let ids = UsableIDs([event["app_user_id"]])
        let others = UsableIDs(
            [event["original_app_user_id"]] + (event["aliases"]?.array ?? [])
        )
        self.init(ids.ids.first, others, passedOver: ids.passedOver)
    }

    /// A list of one customer's ids; the first that is not anonymous keeps its name.
    init(listedAs name: String, in event: RevenueCatEvent) {
        let ids = UsableIDs(event[name]?.array ?? [])
        let named = ids.ids.first { !$0.text.utf8.starts(with: Self.anonymousPrefix.utf8) }
        self.init(named ?? ids.ids.first, ids, passedOver: 0)
    }

    /// Who was asked for, and the other names that an answer has for them, which may be nil.
    init(asked customer: CustomerID?, others: [JSONValue?]) {
        self.init(customer, UsableIDs(others), passedOver: 0)
    }

    private init(_ principal: CustomerID?, _ others: UsableIDs, passedOver: Int) {
        let candidates = others.ids.filter { $0 != principal }
        self.principal = principal
        self.others = Array(candidates.prefix(Self.otherLimit))
        self.passedOver = passedOver + others.passedOver + candidates.count - self.others.count
    }

    /// All ids, the principal first.
    var all: [CustomerID] { (principal.map { [$0] } ?? []) + others }

    /// One proposal for each other name (C2).
    func links(statedAt: Instant) -> [LinkProposal] {
        guard let principal else { return [] }
        return others.map {
            LinkProposal(customer: principal, alias: $0, time: statedAt, observedAt: statedAt)
        }
    }
}

/// The ids of a list that are valid, each once, and the count of those that are not.
private struct UsableIDs {
    private(set) var ids: [CustomerID] = []
    private(set) var passedOver = 0

    init(_ values: [JSONValue?]) {
        var seen = Set<CustomerID>()
        for value in values {
            guard let value, !value.isNull else { continue }
            guard let id = value.string.flatMap({ CustomerID($0) }) else {
                passedOver += 1
                continue
            }
            if seen.insert(id).inserted { ids.append(id) }
        }
    }
}
