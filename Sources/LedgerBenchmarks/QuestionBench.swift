import EntitlementLedger
import Entitlements
import StoreSimulator

/// Questions in process, each beside a look-up of as many customers.
struct QuestionBench {
    let plan: BenchPlan

    private static let referenceName = "one mdb_get, 16-byte key, 64-byte value, as many customers"

    private func headings(_ name: String, _ unit: String) -> [BenchHeading] {
        [("", " p50"), ("-p99", " p99")].map { suffix, quantile in
            BenchHeading(name + suffix, unit: unit + quantile, against: Self.referenceName)
        }
    }

    /// The median and the tail of one run, both sides.
    private func figures(
        _ ours: Samples,
        _ theirs: Samples?,
        over divisor: Double
    ) -> [BenchRun] {
        [0.5, 0.99].map { share in
            BenchRun(
                value: ours.percentile(share) / divisor,
                reference: theirs.map { $0.percentile(share) / divisor }
            )
        }
    }

    // MARK: Access now

    /// Events of each customer who is asked for access: a purchase, its owner, its verification.
    private static let accessSteps = 3

    func access() throws -> [BenchRow] {
        let (bench, events) = try plan.filledLedger(steps: Self.accessSteps, about: plan.events)
        let raw = try RawLMDB(making: plan.fresh("raw"))
        try plan.reference { try raw.fill(count: events.customers) }
        let operations = plan.isQuick ? 20_000 : 100_000
        func isAllowed(_ customer: CustomerID) throws -> Bool {
            try bench.ledger.questions.can(
                customer,
                BenchCatalog.feature,
                environment: .production,
                at: BenchStory.everybodySubscribes
            )
        }
        let population = BenchHeading("access-customers", unit: "customers", against: nil)
        let rows = try plan.rows(headings("access", "ns") + [population]) { run in
            var random = SeededWords(seed: UInt64(run))
            let asked = (0..<operations).map { _ in
                Int.random(in: 0..<events.customers, using: &random)
            }
            let customers = asked.map { BenchStory(customer: $0).id }
            // The first question about a customer is a fold; a server that runs has been asked.
            for customer in customers { _ = try isAllowed(customer) }
            var ours = Samples()
            for customer in customers {
                let start = Stopwatch.now()
                let isAllowed = try isAllowed(customer)
                ours.add(Double(Stopwatch.now() - start))
                try requireRight(isAllowed, "every customer subscribes at that time")
            }
            return figures(ours, try plan.reference { try raw.lookUpTimes(asked) }, over: 1)
                + [BenchRun(value: Double(events.customers))]
        }
        // One who is not there has nothing.
        try requireRight(!isAllowed("nobody"), "nobody has no access")
        try bench.discard()
        try raw.discard()
        return rows
    }

    // MARK: State at random points

    private static let stateEventLimit = 100_000
    private static let checkedCustomers = 100

    /// State at random (T, R) of customers with so many events each.
    func state(steps: Int) throws -> [BenchRow] {
        let (bench, events) = try plan.filledLedger(
            steps: steps,
            about: min(plan.events, Self.stateEventLimit)
        )
        let raw = try RawLMDB(making: plan.fresh("raw"))
        try plan.reference { try raw.fill(count: events.customers) }
        let size = try bench.ledger.questions.size()
        let operations = plan.isQuick ? 2_000 : 5_000
        // T within the subscriptions; R anywhere.
        let span = Int64(steps) * 20 * Instant.millisecondsPerDay
        func tier(of story: BenchStory, at: Instant, size: UInt64) throws -> String {
            try bench.ledger.questions.timeline(of: story.id, environment: .production, size: size)
                .state(at: at).tier
        }
        let rows = try plan.rows(headings("state-\(steps)", "µs")) { run in
            var random = SeededWords(seed: UInt64(run))
            var ours = Samples()
            var asked: [Int] = []
            for _ in 0..<operations {
                let customer = Int.random(in: 0..<events.customers, using: &random)
                let at = BenchStory.start.advanced(
                    byMilliseconds: Int64.random(in: 0..<span, using: &random)
                )
                let known = UInt64.random(in: 0...size, using: &random)
                let story = BenchStory(customer: customer)
                asked.append(customer)
                let start = Stopwatch.now()
                let tier = try tier(of: story, at: at, size: known)
                ours.add(Double(Stopwatch.now() - start))
                try requireRight(
                    tier == Catalog.freeTier || story.isSubscribed(at: at, steps: steps),
                    "nobody has a tier that was not bought"
                )
            }
            let theirs = try plan.reference { try raw.lookUpTimes(asked) }
            return figures(ours, theirs, over: 1000)
        }
        for customer in 0..<min(Self.checkedCustomers, events.customers) {
            let story = BenchStory(customer: customer)
            let at = BenchStory.start.advanced(byMilliseconds: span * Int64(customer) / 100)
            let isPaid = try tier(of: story, at: at, size: size) != Catalog.freeTier
            try requireRight(
                isPaid == story.isSubscribed(at: at, steps: steps),
                "with everything known, tiers are what was bought"
            )
        }
        try bench.discard()
        try raw.discard()
        return rows
    }
}
