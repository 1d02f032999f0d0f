import Encodings
import EntitlementClient
import Entitlements

/// What an app's library costs: a gate that is asked, and what is known of a customer in memory (row CL6).
struct ClientBench {
    let plan: BenchPlan

    private static let featureCount = 100
    /// Questions of one sample: one alone is shorter than what a clock can tell.
    private static let batchSize = 1000
    /// Customers among whom memory is shared out.
    private static let copies = 400

    func rows() throws -> [BenchRow] { try isOpen() + [memory()] }

    // MARK: A gate

    private func isOpen() throws -> [BenchRow] {
        let entitlements = try Self.entitlements()
        let gate = FeatureGate(entitlements, gates: nil, at: Self.instant)
        let names = (0..<Self.featureCount).map(Self.name)
        let table = Dictionary(names.map { (Name($0), true) }) { first, _ in first }
        let samples = plan.isQuick ? 200 : 2000
        let heading = BenchHeading("client-is-open", unit: "ns p50", against: "dictionary")
        return try plan.rows([heading]) { run in
            var random = SystemRandomNumberGenerator()
            let asked = (0..<Self.batchSize).map { _ in
                names[Int.random(in: names.indices, using: &random)]
            }
            var (ours, dictionary) = (Samples(), Samples())
            var count = 0
            for _ in 0..<samples {
                ours.add(
                    Stopwatch.nanoseconds {
                        for name in asked where gate.isOpen(name) { count += 1 }
                    }
                )
                dictionary.add(
                    Stopwatch.nanoseconds {
                        for name in asked where table[Name(name)] == true { count += 1 }
                    }
                )
            }
            try requireRight(
                count == 2 * samples * Self.batchSize && !gate.isOpen("closed"),
                "what is sold is open, and nothing else"
            )
            return [
                BenchRun(
                    value: ours.median / Double(Self.batchSize),
                    reference: dictionary.median / Double(Self.batchSize)
                )
            ]
        }
    }

    // MARK: Memory

    private func memory() throws -> BenchRow {
        let heading = BenchHeading("client-memory", unit: "KiB", against: nil)
        // Held until the end: what a run lets go, the next would take from.
        var all: [CustomerEntitlements] = []
        return try plan.row(heading) { _ in
            let before = MemoryBench.anonymousBytes(of: "self")
            let known = try (0..<Self.copies).map { _ in try Self.entitlements() }
            let after = MemoryBench.anonymousBytes(of: "self")
            all += known
            try requireRight(all.allSatisfy { $0.tier == "pro" }, "what is known is kept")
            return BenchRun(value: max(0, after - before) / Double(Self.copies) / 1024)
        }
    }

    // MARK: What is known

    private static let instant = Instant(milliseconds: 1_790_000_000_000)

    private static func name(_ number: Int) -> String { "feature-\(number)" }

    /// What a snapshot says of a customer with so many features.
    private static func entitlements() throws -> CustomerEntitlements {
        let details = (0..<featureCount).map { number in
            JSONMember(
                name(number),
                .members([
                    "reason": "purchase", "limit": .null,
                    "sources": .strings(["app_store/30000001000000\(number)"]),
                ])
            )
        }
        let stretches = (0..<featureCount).map { number in
            JSONMember(
                name(number),
                .array([
                    .members([
                        "from": .instant(instant),
                        "to": .instant(instant.advanced(byMilliseconds: 2_592_000_000)),
                    ])
                ])
            )
        }
        return try CustomerEntitlements(
            claims: .members([
                "tier": "pro", "at": .instant(instant), "exp": .integer(1_792_592_000),
                "sequence": .integer(7), "features": .object(details),
                "stretches": .object(stretches),
            ]),
            of: "alice"
        )
    }
}
