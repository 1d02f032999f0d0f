import Entitlements
import Stores
import Testing

/// Sequences of a peer's tests with what the peer expects of them
/// (ramonclaudio/convex-revenuecat), folded by the model's rules.
struct `A peer's RevenueCat scenarios` {
    static let path = "revenuecat/peer-scenarios/convex-revenuecat-scenarios.json"

    // row 4.2, row 8.3; traps 4, 8, 10, 15
    @Test(.enabled(if: Vectors.arePresent, Vectors.absence))
    func `come to what the peer expects`() throws {
        let json = try Vectors.json(Self.path)
        let clock = Instant(milliseconds: try #require(json["clock_ms"]?.integer))
        let scenarios = try #require(json["scenarios"]?.array)
        #expect(scenarios.count == 19)
        for scenario in scenarios {
            var play = Play(clock: clock, name: scenario["name"]?.string ?? "")
            for step in scenario["steps"]?.array ?? [] { try play.take(step) }
            #expect(play.checks > 0)
        }
    }
}

/// One scenario under way.
private struct Play {
    let clock: Instant
    let name: String
    var fold = SmallFold()
    var checks = 0
    private var entitlements: [String: Set<String>] = [:]
    private var first: [String: JSONValue] = [:]

    init(clock: Instant, name: String) {
        self.clock = clock
        self.name = name
    }

    mutating func take(_ step: JSONValue) throws {
        if let event = step["event"] { return try append(event) }
        checks += 1
        let expected = try #require(step["expect"])
        let user = step["user"]?.string ?? ""
        let entitlement = step["entitlement"]?.string ?? ""
        let comment = Comment(rawValue: "\(name): \(step)")
        switch step["check"]?.string {
        case "has":
            #expect(active(user).contains(entitlement) == expected.bool, comment)
        case "active_count": #expect(Int64(active(user).count) == expected.integer, comment)
        case "expires_at_ms":
            let ends = fold.ends(of: user, at: clock).map { $0?.milliseconds }
            #expect(ends == [expected.integer], comment)
        case "auto_renew":
            #expect(try renewal(.autoRenew, step) == expected.bool.map { .flag($0) }, comment)
        case "pending_product":
            let next = expected.string.map { FieldValue.text($0) }
            #expect(try renewal(.nextProductID, step) == next, comment)
        case "aliases_include":
            let names = Set(expected.array?.compactMap(\.string) ?? [])
            #expect(fold.aliases[user] == names, comment)
        // A statement, not a status: the scenario's issue lies before the period's end (P9).
        case "billing_issue_flag":
            let flagged = fold.log.contains { $0.kind == .purchaseGraceStarted }
            #expect(flagged == expected.bool, comment)
        case "accepted": #expect(fold.log.map(\.kind) == [.signalNoted], comment)
        default: Issue.record(comment)
        }
    }

    /// The peer makes new transaction ids for each event of one purchase: in reality, and here,
    /// they are those of its first event; a renewal keeps its own transaction.
    private mutating func append(_ sent: JSONValue) throws {
        var members = try #require(sent.members)
        if let product = sent["product_id"]?.string, let user = sent["app_user_id"]?.string {
            entitlements[product] = Set(
                sent["entitlement_ids"]?.array?.compactMap(\.string) ?? []
            )
            let original = first[product + user, default: sent]
            first[product + user] = original
            for index in members.indices
            where members[index].name == "original_transaction_id"
                || members[index].name == "transaction_id" && sent["type"] != "RENEWAL"
            {
                members[index].value = try #require(original[members[index].name])
            }
        }
        fold.append(try RevenueCatSample.submission(.object(members)))
    }

    private func active(_ user: String) -> Set<String> {
        fold.products(of: user, at: clock).reduce(into: []) {
            $0.formUnion(entitlements[$1] ?? [])
        }
    }

    private func renewal(_ field: Field, _ step: JSONValue) throws -> FieldValue? {
        let id = try #require(step["original_transaction_id"]?.string)
        let name = PurchaseName(store: "app_store", originalID: id)
        return fold.renewal(field, of: name, at: clock)
    }
}
