public import Entitlements

/// A question to one history.
package struct RandomQuestion {
    package var customer: CustomerID
    package var environment: StoreEnvironment
    package var at: Instant
    /// How many events are known (T4).
    package var prefix: Int
}

/// Histories and questions in which everything collides: few customers, purchases, transactions,
/// and instants on a coarse grid.
package struct RandomHistory {
    package let seed: UInt64
    package let log: [RecordedEvent]
    package let questions: [RandomQuestion]

    package init(seed: UInt64, questions count: Int = 5, minimumSize: Int = 0) {
        self.seed = seed
        var generator = RandomEvents(seed: seed)
        log = generator.log(minimumSize: minimumSize)
        questions = generator.questions(count, about: log)
    }
}

/// What the events of one history are made of.
package struct RandomEvents {
    var random: SplitMix64
    let grid: [Instant]
    let step: Int64
    package let customers: [CustomerID]
    let purchases: [String]
    let transactions: [String]
    let isMixed: Bool
    /// The time of the event that is being made.
    var now: Instant

    static let products = ["m", "y", "life", "coins", "pass", "m.play"]
    static let features = ["f1", "f2", "f3", "f4", "f5", "open"]
    static let tiers = ["free", "basic", "plus", "pro"]
    static let trials = ["week", "day", "gone"]
    static let kinds = ["non_consumable", "consumable", "auto_renewable", "non_renewing"]
    static let usualKinds = [
        "m": "auto_renewable", "y": "auto_renewable", "m.play": "auto_renewable",
        "life": "non_consumable", "coins": "consumable", "pass": "non_renewing",
    ]

    package init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let hour: Int64 = 3_600_000
        let step = random.pick([6, 12, 24, 24, 72, 168]) * hour
        // From 2026-01-05, a Monday, or later.
        let first: Int64 = 1_767_571_200_000 + Int64.random(in: 0..<120, using: &random) * 24 * hour
        let count = Int64.random(in: 8...26, using: &random)
        grid = (0..<count).map { Instant(milliseconds: first + $0 * step) }
        self.step = step
        // Most histories are about one or two purchases, so that rules meet in one place.
        let isFocused = random.chance(65)
        customers = Array(
            ["ann", "bob", "cy", "$anon:1", "dee"].prefix(
                random.pick(isFocused ? [2, 3] : [3, 5])
            )
        )
        let names = [
            "app_store/1", "play_store/a", "mac_app_store/2", "stripe/s", "play_store/b",
            "app_store/3",
        ]
        let start = Int.random(in: 0..<3, using: &random)
        purchases = Array(
            (names[start...] + names[..<start]).prefix(
                random.pick(isFocused ? [1, 2] : [3, 4, 6])
            )
        )
        transactions = Array(["t1", "t2", "t3", "t4", "t5"].prefix(random.pick([1, 2, 3, 4, 5])))
        isMixed = random.chance(isFocused ? 10 : 40)
        now = grid[0]
        self.random = random
    }

    /// The whole log.
    mutating func log(minimumSize: Int) -> [RecordedEvent] {
        let size = max(minimumSize, random.pick([0, 2, 4, 6, 8, 10, 12, 15, 18, 22, 28, 37]))
        let catalogCount = random.pick([0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4])
        var events: [Event] = []
        // Some of what most access needs, so that not every answer is "none".
        if size > 2, random.chance(85) { events += usefulStart() }
        for index in 0..<size { events.append(event(id: "e\(index)")) }
        if random.chance(40) { events.shuffle(using: &random) }
        events += toldAgain(events)
        for index in 0..<catalogCount {
            let document = catalog()
            let data = EventData(recorded: .catalogPublished, entries: [], document: document)
            now = instant()
            var event = made("c\(index)", .catalog, data)
            event.environment = random.pick([.production, .sandbox])
            events.insert(event, at: Int.random(in: 0...events.count, using: &random))
        }
        var recordedAt = random.pick(grid)
        return events.enumerated().map { index, event in
            if random.chance(40) { recordedAt = recordedAt.advanced(byMilliseconds: step) }
            return RecordedEvent(sequence: UInt64(index), recordedAt: recordedAt, event: event)
        }
    }

    mutating func questions(_ count: Int, about log: [RecordedEvent]) -> [RandomQuestion] {
        var named = log.compactMap { recorded -> CustomerID? in
            guard case .customer(let id) = recorded.event.subject else { return nil }
            return id
        }
        if named.isEmpty { named = ["nobody"] }
        return (0..<count).map { _ in
            RandomQuestion(
                customer: random.pick(random.chance(80) ? named : customers + ["nobody"]),
                environment: isMixed && random.chance(40) ? .sandbox : .production,
                at: random.chance(70)
                    ? max(instant(), random.pick([grid[0], random.pick(grid)]))
                    : instant().advanced(byMilliseconds: random.pick([-1, 1, step / 2])),
                prefix: random.chance(85)
                    ? log.count : Int.random(in: 0...log.count, using: &random)
            )
        }
    }

    /// On the grid, nearly always.
    mutating func instant() -> Instant {
        let instant = random.pick(grid)
        return random.chance(97) ? instant : instant.advanced(byMilliseconds: random.pick([-1, 1]))
    }

    /// Most often some steps after the event that is being made.
    mutating func later() -> Instant {
        random.chance(75)
            ? now.advanced(byMilliseconds: step * Int64.random(in: 1...8, using: &random))
            : instant()
    }

    /// An event at `now`, observed whenever.
    mutating func made(_ id: String, _ subject: Subject, _ data: EventData) -> Event {
        let time = now
        var observedAt = time
        if random.chance(50) {
            observedAt =
                random.chance(40)
                ? instant()
                : time.advanced(byMilliseconds: step * Int64.random(in: 1...3, using: &random))
        }
        let world: StoreEnvironment = isMixed && random.chance(35) ? .sandbox : .production
        return Event(
            id: id,
            source: Source.support,
            subject: subject,
            time: time,
            observedAt: observedAt,
            environment: world,
            data: data
        )
    }

    /// What stores tell again of transactions whose account was erased: they name the same person, who
    /// is a new customer since (C1, C6).
    private func toldAgain(_ events: [Event]) -> [Event] {
        // Lots of its own: the rest of a history stays what it was.
        var lots = random
        return events.indices.compactMap { place -> Event? in
            let erasure = events[place]
            guard erasure.kind == .customerErased, case .customer(let erased) = erasure.subject
            else { return nil }
            let named = events[..<place].filter {
                $0.kind.givesPeriod && $0.environment == erasure.environment
                    && $0.data.text(.account) == erased.text
            }
            guard !named.isEmpty, lots.chance(60) else { return nil }
            var again = lots.pick(named)
            // Or of one that nobody told before.
            let isNew = lots.chance(30)
            if isNew { again.time = lots.pick(grid) }
            let told = EventData(
                again.kind,
                [
                    .transactionID: isNew ? .text("t0") : again.data[.transactionID],
                    .account: .text(erased.text + "2"),
                ]
            )
            again.id = "again\(place)"
            again.observedAt = again.observedAt.advanced(
                byMilliseconds: step * Int64.random(in: 1...8, using: &lots)
            )
            again.data = EventData(
                recorded: again.kind,
                entries: again.data.entries.filter { told[$0.field] == nil } + told.entries,
                document: nil
            )
            return again
        }
    }

    /// A verified purchase with an owner.
    private mutating func usefulStart() -> [Event] {
        let name = purchases[0]
        guard let purchase = PurchaseName(name) else { return [] }
        now = random.pick(Array(grid.prefix(4)))
        return [
            made("u1", .purchase(purchase), period(.purchaseCompleted)),
            made(
                "u2",
                .purchase(purchase),
                EventData(.verificationPassed, [.method: .text("manual")])
            ),
            made(
                "u3",
                .customer(customers[0]),
                EventData(.customerClaimed, [.purchase: .text(name)])
            ),
        ]
    }
}

/// Tests number their customers: `"customer-\(number)"`, checked as a literal is.
extension CustomerID: ExpressibleByStringInterpolation {}
