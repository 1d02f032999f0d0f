import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import ModelSupport
import Stores
import Testing

/// Sequences of a peer's tests (ramonclaudio/convex-revenuecat) through the whole ledger: from
/// webhook bodies to answers.
struct `A peer's RevenueCat scenarios through the ledger` {
    static let path = "revenuecat/peer-scenarios/convex-revenuecat-scenarios.json"

    // row 4.2, row 8.3, row CL5, row Z14
    @Test(.enabled(if: Vectors.arePresent, "\(Vectors.absence)"))
    func `come to what the peer expects`() async throws {
        let json = try Vectors.json(Self.path)
        let clock = Instant(milliseconds: try #require(json["clock_ms"]?.integer))
        let scenarios = try #require(json["scenarios"]?.array)
        #expect(scenarios.count == 19)
        for scenario in scenarios {
            // Signals arrive when they were stated: at the scenario's clock.
            try await ScratchLedger.with(clock: TestClock(clock)) { scratch in
                var play = Play(scratch: scratch, scenario: scenario)
                try play.publishCatalog()
                for step in scenario["steps"]?.array ?? [] { try play.take(step) }
                #expect(play.checks > 0)
                let isSound = try scratch.ledger.auditor.audit().isOK
                #expect(isSound)
            }
        }
    }
}

/// One scenario under way.
private struct Play {
    let scratch: ScratchLedger
    let name: String
    private(set) var checks = 0
    private let steps: [JSONValue]
    private var first: [String: JSONValue] = [:]

    init(scratch: ScratchLedger, scenario: JSONValue) {
        self.scratch = scratch
        name = scenario["name"]?.string ?? ""
        steps = scenario["steps"]?.array ?? []
    }

    /// Each product unlocks the entitlements that the scenario's events give it.
    func publishCatalog() throws {
        var unlocks: [String: Set<String>] = [:]
        for event in steps.compactMap({ $0["event"] }) {
            guard let product = event["product_id"]?.string else { continue }
            unlocks[product, default: []].formUnion(
                event["entitlement_ids"]?.array?.compactMap(\.string) ?? []
            )
        }
        let features = Set(unlocks.values.joined()).sorted()
        let document = JSONValue.members([
            "tiers": .strings(["free", "paid"]),
            "features": .array(features.map { .members(["id": .string($0)]) }),
            "products": .array(
                unlocks.sorted { $0.key < $1.key }.map { product, features in
                    .members([
                        "id": .string(product), "kind": "auto_renewable",
                        "unlocks": .members(["features": .strings(features.sorted())]),
                    ])
                }
            ),
        ])
        let request = Request(id: "catalog", source: Source.catalog, environment: .production)
        guard
            case .appended = try scratch.ledger.appender.publish(document, effective: nil, request)
        else {
            Issue.record("\(name): the catalog is refused")
            return
        }
    }

    mutating func take(_ step: JSONValue) throws {
        if let event = step["event"] { return try append(event) }
        checks += 1
        let expected = try #require(step["expect"])
        let comment = Comment(rawValue: "\(name): \(step)")
        let user = step["user"]?.string.flatMap { CustomerID($0) } ?? "nobody"
        switch step["check"]?.string {
        case "has":
            let entitlement = step["entitlement"]?.string ?? ""
            #expect(try active(user).contains(entitlement) == expected.bool, comment)
        case "active_count": #expect(try Int64(active(user).count) == expected.integer, comment)
        case "expires_at_ms":
            let ends = try show(user)["purchases"]?.array?.compactMap { $0["expiresAt"]?.string }
            let end = expected.integer.map { Instant(milliseconds: $0).description }
            #expect(ends == [end].compactMap { $0 }, comment)
        case "auto_renew": #expect(try purchase(step)?["willRenew"] == expected, comment)
        case "pending_product": #expect(try purchase(step)?["nextProductId"] == expected, comment)
        case "aliases_include":
            for name in expected.array ?? [] {
                let alias = try #require(name.string.flatMap { CustomerID($0) })
                #expect(try show(alias)["features"] == show(user)["features"], comment)
                #expect(try !active(alias).isEmpty, comment)
            }
        // A statement, not a status: the scenario's issue lies before the period's end (P9).
        case "billing_issue_flag":
            #expect(
                try kinds(of: user).contains("purchase.grace_started") == expected.bool,
                comment
            )
        case "accepted":
            let last = try scratch.ledger.questions.event(at: scratch.ledger.questions.size() - 1)
            #expect(last?.event.kind == .signalNoted, comment)
        default: Issue.record(comment)
        }
    }

    /// The peer makes new transaction ids for each event of one purchase: in reality, and here,
    /// they are those of its first event; a renewal keeps its own transaction.
    private mutating func append(_ sent: JSONValue) throws {
        var members = try #require(sent.members)
        if let product = sent["product_id"]?.string, let user = sent["app_user_id"]?.string {
            let original = first[product + user, default: sent]
            first[product + user] = original
            for index in members.indices
            where members[index].name == "original_transaction_id"
                || members[index].name == "transaction_id" && sent["type"] != "RENEWAL"
            {
                members[index].value = try #require(original[members[index].name])
            }
        }
        let body = Array(JSONValue.object(members).description.utf8)
        let submission = try RevenueCatBody.submission(of: body)
        guard case .appended(let place, _) = try scratch.ledger.appender.record(submission) else {
            Issue.record("\(name): \(sent) is not appended")
            return
        }
        #expect(try scratch.ledger.appender.record(submission) == .duplicate(of: place))
    }

    private func show(_ user: CustomerID) throws -> JSONValue {
        try scratch.show(user, environment: .sandbox)
    }

    /// The features that the user has.
    private func active(_ user: CustomerID) throws -> Set<String> {
        let features = try show(user)["features"]?.members ?? []
        return Set(features.filter { $0.value["allowed"]?.bool == true }.map(\.name))
    }

    /// The purchase that a check names by its original transaction, as its owner sees it.
    private func purchase(_ step: JSONValue) throws -> JSONValue? {
        let name = "app_store/" + (step["original_transaction_id"]?.string ?? "")
        let users = steps.compactMap { step in
            step["event"]?["app_user_id"]?.string.flatMap { CustomerID($0) }
        }
        for user in Set(users) {
            let purchases = try show(user)["purchases"]?.array ?? []
            if let found = purchases.first(where: { $0["purchase"]?.string == name }) {
                return found
            }
        }
        return nil
    }

    private func kinds(of user: CustomerID) throws -> Set<String> {
        var filter = EventFilter(sequences: 0 ..< .max)
        filter.customer = user
        filter.environment = .sandbox
        var kinds: Set<String> = []
        try scratch.ledger.questions.events(filter) { _, event in
            kinds.insert(event["type"]?.string ?? "")
            return true
        }
        return kinds
    }
}
