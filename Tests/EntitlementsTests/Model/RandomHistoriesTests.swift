import Encodings
import Entitlements
import ModelSupport
import Testing

@Suite struct RandomHistoriesTests {
    @Test func `one seed makes one history`() {
        #expect(RandomHistory(seed: 7).log == RandomHistory(seed: 7).log)
        #expect(RandomHistory(seed: 7).log != RandomHistory(seed: 8).log)
    }

    @Test func `every event is one that the ledger accepts`() throws {
        for seed: UInt64 in 0..<200 {
            for recorded in RandomHistory(seed: seed).log {
                let read = try Event(validating: recorded.json)
                #expect(read == recorded.event, "seed \(seed)")
            }
        }
    }

    // C1, C6: whom a store names again is a new customer since their erasure.
    @Test func `random histories tell erased customers' transactions again`() {
        let seeds: Range<UInt64> = 0..<600
        let told = seeds.count { seed -> Bool in
            let log = RandomHistory(seed: seed).log
            return log.contains { erasure in
                guard erasure.kind == .customerErased,
                    case .customer(let erased) = erasure.event.subject
                else { return false }
                return log.contains {
                    $0.sequence > erasure.sequence
                        && $0.data.text(.account) == erased.text + "2"
                }
            }
        }
        #expect(told > 0)
    }

    // A generator that reaches no interesting answer would find no difference either.
    @Test func `random histories reach every kind of event and of answer`() {
        var kinds: Set<EventKind> = []
        var counts: [String: Int] = [:]
        for seed: UInt64 in 0..<600 {
            let history = RandomHistory(seed: seed)
            kinds.formUnion(history.log.map(\.kind))
            for question in history.questions {
                let answer = SlowModel(log: Array(history.log.prefix(question.prefix))).show(
                    customer: question.customer.text,
                    environment: question.environment,
                    at: question.at
                )
                for trait in Self.traits(of: answer) { counts[trait, default: 0] += 1 }
            }
        }
        #expect(kinds == Set(EventKind.allCases))
        for trait in Self.expected {
            #expect(counts[trait, default: 0] > 0, "no answer has \(trait)")
        }
    }

    private static let expected =
        [
            "none", "pending", "refunded", "revoked", "unverified", "paused", "active", "grace",
            "billing_retry", "expired",
        ].map { "status " + $0 }
        + ["free", "purchase", "trial", "grant", "none"].map { "reason " + $0 }
        + ["free", "basic", "plus", "pro"].map { "tier " + $0 }
        + ["day", "week", "month"].map { "period " + $0 }
        + ["unmapped", "no_catalog"].map { "warning " + $0 }
        + ["validUntil", "until", "several sources", "several purchases", "active grant", "perUse"]
        + ["trial days", "uses", "willRenew", "nextProductId", "syncedAt"]

    private static func traits(of answer: JSONValue) -> Set<String> {
        var traits: Set<String> = ["tier " + (answer["tier"]?.string ?? "")]
        if answer["validUntil"]?.string != nil { traits.insert("validUntil") }
        for feature in (answer["features"]?.members ?? []).map(\.value) {
            traits.insert("reason " + (feature["reason"]?.string ?? ""))
            if feature["until"]?.string != nil { traits.insert("until") }
            if (feature["sources"]?.array?.count ?? 0) > 1 { traits.insert("several sources") }
            guard let limit = feature["limit"] else { continue }
            if limit["perUse"]?.members != nil { traits.insert("perUse") }
            if let period = limit["period"]?.string { traits.insert("period " + period) }
            if limit["remaining"] != limit["count"] { traits.insert("uses") }
        }
        let purchases = answer["purchases"]?.array ?? []
        if purchases.count > 1 { traits.insert("several purchases") }
        for purchase in purchases {
            traits.insert("status " + (purchase["status"]?.string ?? ""))
            if purchase["willRenew"]?.bool == false { traits.insert("willRenew") }
            for member in ["nextProductId", "syncedAt"] where purchase[member]?.string != nil {
                traits.insert(member)
            }
        }
        for grant in answer["grants"]?.array ?? [] where grant["active"]?.bool == true {
            traits.insert("active grant")
        }
        for trial in answer["trials"]?.array ?? [] where trial["remainingDays"]?.integer != 0 {
            traits.insert("trial days")
        }
        for warning in answer["warnings"]?.array ?? [] {
            traits.insert("warning " + (warning["code"]?.string ?? ""))
        }
        return traits
    }
}
