import Encodings
import EntitlementLedger
import Entitlements
import LMDBStorage
import LedgerAPI
import Testing

@testable import LedgerOperations

/// What is sent to a webhook next, and what becomes of what it does not take (row Z19).
struct `A plan of deliveries` {
    private static func grants(_ customers: [String]) -> [String] {
        customers.enumerated().map { Sample.grantLine("g\($0)", to: $1) }
    }

    private static func plan(
        _ noticed: NoticedLedger,
        within bound: WaitingBound = WaitingBound()
    ) throws -> DeliveryPlan {
        try #require(
            try DeliveryPlan(
                of: noticed.webhook.id,
                noticed.webhooks,
                from: nil,
                within: bound,
                at: noticed.scratch.clock.now
            )
        )
    }

    /// Carries a plan out; the endpoint answers as a body says.
    @discardableResult
    private static func send(
        _ noticed: NoticedLedger,
        _ answer: (DeliveryPlan.Delivery) -> DeliveryAttempt
    ) throws -> [String] {
        var bound = WaitingBound()
        return try send(noticed, within: &bound, answer)
    }

    /// The same by a worker that knows what became of earlier plans.
    @discardableResult
    private static func send(
        _ noticed: NoticedLedger,
        within bound: inout WaitingBound,
        _ answer: (DeliveryPlan.Delivery) -> DeliveryAttempt
    ) throws -> [String] {
        let plan = try plan(noticed, within: bound)
        var (results, sent) = (DeliveryResults(), [String]())
        for lane in plan.lanes {
            for (place, delivery) in lane.enumerated() {
                sent.append(try id(delivery))
                let attempt = answer(delivery)
                if attempt.isTaken {
                    results.take(delivery)
                } else if !results.fail(
                    delivery,
                    attempt,
                    at: noticed.scratch.clock.now,
                    random: 0.5
                ) {
                    results.postpone(lane[(place + 1)...])
                    break
                }
            }
        }
        bound.note(results, of: plan, at: noticed.scratch.clock.now)
        try noticed.webhooks.keep(results, of: plan)
        return sent
    }

    /// The id of the event that a message is.
    private static func id(_ delivery: DeliveryPlan.Delivery) throws -> String {
        try JSONValue(parsing: delivery.message.body)["id"]?.string ?? "-"
    }

    private static func with(
        _ customers: [String],
        _ body: (NoticedLedger) throws -> Void
    ) async throws {
        try await NoticedLedger.with(types: ["grant.given"]) { noticed in
            try noticed.record(Self.grants(customers))
            try body(noticed)
        }
    }

    private static let taken = DeliveryAttempt(status: 204)
    private static let refused = DeliveryAttempt(status: 500)

    @Test func `has a lane for each customer, in the order of what happened`() async throws {
        try await Self.with(["ann", "bob", "ann", "cy", "bob"]) { noticed in
            let lanes = try Self.plan(noticed).lanes.map { try $0.map(Self.id) }
            #expect(lanes == [["g0", "g2"], ["g1", "g4"], ["g3"]])
            #expect(try Self.send(noticed) { _ in Self.taken }.count == 5)
            #expect(try Self.plan(noticed).isEmpty)
        }
    }

    // Behind one that is not taken that customer's wait, and nobody else's; in their order then.
    @Test func `lets what is not taken hold up its customer alone`() async throws {
        try await Self.with(["ann", "bob", "ann"]) { noticed in
            let clock = noticed.scratch.clock
            let sent = try Self.send(noticed) { delivery in
                (try? Self.id(delivery)) == "g0" ? Self.refused : Self.taken
            }
            #expect(sent == ["g0", "g1"])
            let waiting = try #require(
                try noticed.webhooks.deliveries(of: noticed.webhook.id, .waiting, limit: 9)
            )
            #expect(waiting.map(\.attempts) == [1, 0] && waiting.map(\.status) == [500, nil])
            // What comes meanwhile waits too, if it is that customer's.
            try noticed.record([
                Sample.grantLine("late", to: "ann"), Sample.grantLine("other", to: "bob"),
            ])
            #expect(try Self.send(noticed) { _ in Self.taken } == ["other"])
            #expect(try Self.plan(noticed).isEmpty)
            clock.now = clock.now.advanced(byMilliseconds: 4999)
            #expect(try Self.plan(noticed).isEmpty)
            // Whoever asks does not wait, and it has the place that it had.
            let id = noticed.webhook.id
            #expect(try noticed.webhooks.resend(to: id, 0..<1)?.resent == 1)
            #expect(try Self.send(noticed) { _ in Self.refused } == ["g0"])
            clock.now = clock.now.advanced(byMilliseconds: 299_999)
            #expect(try Self.plan(noticed).isEmpty)
            clock.now = clock.now.advanced(byMilliseconds: 1)
            #expect(try Self.send(noticed) { _ in Self.taken } == ["g0", "g2", "late"])
            #expect(try noticed.webhooks.webhook(noticed.webhook.id)?.waiting == 0)
        }
    }

    // Ten attempts in three days; then the rest goes on, and a resend is marked.
    @Test func `gives up after ten attempts, and sends again what is asked for`() async throws {
        try await Self.with(["ann", "ann"]) { noticed in
            let clock = noticed.scratch.clock
            var attempts = 0
            for _ in 0..<20 where try noticed.webhooks.webhook(noticed.webhook.id)?.dead == 0 {
                attempts += try Self.send(noticed) { delivery in
                    (try? Self.id(delivery)) == "g0" ? Self.refused : Self.taken
                }.count
                clock.now = clock.now.advanced(byMilliseconds: Instant.millisecondsPerDay)
            }
            // The tenth is followed by what waited behind it.
            #expect(attempts == 11)
            let id = noticed.webhook.id
            let dead = try #require(try noticed.webhooks.deliveries(of: id, .dead, limit: 9)?.first)
            #expect(dead.attempts == 10 && dead.status == 500 && dead.nextAttemptAt == nil)
            #expect(try noticed.webhooks.webhook(id)?.waiting == 0)
            let message = try #require(dead.id)
            let answer = try noticed.webhooks.resend(to: id, messages: ["nobody", Name(message)])
            #expect(answer == WebhookResendAnswer(resent: 1, next: nil))
            let plan = try Self.plan(noticed)
            #expect(plan.lanes.count == 1 && plan.lanes[0][0].state.isResent)
            #expect(plan.lanes[0][0].message.id == message)
            #expect(try Self.send(noticed) { _ in Self.taken } == ["g0"])
            #expect(try noticed.webhooks.webhook(id)?.dead == 0)
            // A range, taken or not.
            let range = try noticed.webhooks.resend(to: id, 0..<100)
            #expect(range == WebhookResendAnswer(resent: 2, next: nil))
            #expect(try Self.send(noticed) { _ in Self.taken } == ["g0", "g1"])
        }
    }

    @Test func `heeds an endpoint that is gone, and one that asks for time`() async throws {
        try await Self.with(["ann", "bob"]) { noticed in
            let (clock, id) = (noticed.scratch.clock, noticed.webhook.id)
            let busy = DeliveryAttempt(status: 503, retryAfter: "60")
            try Self.send(noticed) { _ in busy }
            clock.now = clock.now.advanced(byMilliseconds: 59_999)
            #expect(try Self.plan(noticed).isEmpty)
            clock.now = clock.now.advanced(byMilliseconds: 1)
            try Self.send(noticed) { _ in DeliveryAttempt(status: 410) }
            #expect(try noticed.webhooks.webhook(id)?.disabledBecause == .gone)
            let none = try DeliveryPlan(of: id, noticed.webhooks, from: nil, at: clock.now)
            #expect(none == nil)
            try noticed.record([Sample.grantLine("late", to: "cy")])
            #expect(try noticed.webhooks.enable(id)?.state == .enabled)
            #expect(try Self.send(noticed) { _ in Self.taken } == ["g0", "g1", "late"])
        }
    }

    // What waits for a webhook is planned in parts, and before what is new: the webhook may be disabled meanwhile.
    @Test func `holds so many lanes at most, and the rest comes in its order`() async throws {
        try await Self.with((0..<140).map { "c\($0)" }) { noticed in
            for _ in 0..<3 { try Self.send(noticed) { _ in Self.refused } }
            let clock = noticed.scratch.clock
            clock.now = clock.now.advanced(byMilliseconds: Instant.millisecondsPerDay)
            try noticed.record([Sample.grantLine("late", to: "cy")])
            #expect(try Self.plan(noticed).lanes.count == 128)
            #expect(try !Self.send(noticed) { _ in Self.taken }.contains("late"))
            let rest = try Self.send(noticed) { _ in Self.taken }
            #expect(rest == (128..<140).map { "g\($0)" } + ["late"])
            #expect(try Self.plan(noticed).isEmpty)
        }
    }

    // Whoever takes nothing holds nothing but a bounded number of deliveries; the rest is looked at later.
    @Test func `looks at nothing new while very much waits`() async throws {
        let count = WaitingBound.least + 100
        try await Self.with((0..<count).map { "c\($0)" }) { noticed in
            let clock = noticed.scratch.clock
            var bound = WaitingBound()
            for _ in 0..<40 { try Self.send(noticed, within: &bound) { _ in Self.refused } }
            let webhook = try #require(try noticed.webhooks.webhook(noticed.webhook.id))
            let waiting = try #require(webhook.waiting)
            #expect(waiting >= WaitingBound.least && waiting < count)
            #expect(webhook.behind == UInt64(count - waiting))
            clock.now = clock.now.advanced(byMilliseconds: Instant.millisecondsPerDay)
            var sent: Set<String> = []
            for _ in 0..<40 {
                sent.formUnion(try Self.send(noticed, within: &bound) { _ in Self.taken })
            }
            #expect(sent.count == count)
            #expect(try noticed.webhooks.webhook(noticed.webhook.id)?.behind == 0)
        }
    }

    // However much waits of customers whose messages are refused, everybody else is told; and of what waits no
    // plan holds more than a part.
    @Test func `goes on for others while very much of a few customers' waits`() async throws {
        let (count, few) = (WaitingBound.least + 1, 10)
        try await Self.with((0..<count).map { "refused-\($0 % few)" }) { noticed in
            let (clock, id) = (noticed.scratch.clock, noticed.webhook.id)
            var bound = WaitingBound()
            func send() throws -> [String] {
                try Self.send(noticed, within: &bound) { delivery in
                    let text = String(decoding: delivery.message.body, as: UTF8.self)
                    return text.contains("customer/refused") ? Self.refused : Self.taken
                }
            }
            for _ in 0..<20 { _ = try send() }
            #expect(try noticed.webhooks.webhook(id)?.waiting == count)
            // It took nothing yet: a moment later it is tried whether it takes something.
            try noticed.record([Sample.grantLine("other", to: "bob")])
            #expect(try send() == [])
            clock.now = clock.now.advanced(byMilliseconds: 60_000)
            #expect(try send() == (0..<few).map { "g\($0)" } + ["other"])
            // From then on nothing waits for that.
            try noticed.record([Sample.grantLine("next", to: "bob")])
            #expect(try send() == ["next"])
            // What waits comes in its order, in parts.
            clock.now = clock.now.advanced(byMilliseconds: Instant.millisecondsPerDay)
            let lanes = try Self.plan(noticed, within: bound).lanes
            #expect(lanes.map(\.count) == Array(repeating: 64, count: few))
            var sent: [Int] = []
            for _ in 0..<5 {
                sent += try Self.send(noticed) { _ in Self.taken }
                    .compactMap { Int($0.dropFirst()) }
            }
            #expect(Set(sent).count == count && sent.count == count)
            for customer in 0..<few {
                let own = sent.filter { $0 % few == customer }
                #expect(own == own.sorted())
            }
        }
    }

    // Whoever is stopped sends again what was not kept, under the same ids, in the same order.
    @Test func `is the same again where its outcome was not kept`() async throws {
        try await NoticedLedger.with(types: ["*"]) { noticed in
            try noticed.publish()
            try noticed.record(Self.grants(["ann", "bob", "ann"]))
            let lanes = try Self.plan(noticed).lanes.map { $0.map(\.message) }
            noticed.webhooks.close()
            let again = try Webhooks(ofLedgerAt: noticed.scratch.path, noticed.ledger)
            defer { again.close() }
            #expect(try NoticeMaker(again).step(at: noticed.scratch.clock.now) == .isDone)
            let plan = try #require(
                try DeliveryPlan(
                    of: noticed.webhook.id,
                    again,
                    from: nil,
                    at: noticed.scratch.clock.now
                )
            )
            #expect(plan.lanes.map { $0.map(\.message.id) } == lanes.map { $0.map(\.id) })
            #expect(plan.lanes.map { $0.map(\.message.body) } == lanes.map { $0.map(\.body) })
        }
    }
}

/// How a delivery stands, as it is kept.
struct `A delivery that waits` {
    @Test func `is read as it was written`() throws {
        var state = DeliveryState(stream: 1 << 62 | 7)
        #expect(DeliveryState(state.bytes) == state)
        state.attempts = 10
        state.nextAt = Sample.newYear
        state.status = 599
        #expect(DeliveryState(state.bytes) == state)
        state.status = nil
        for fault in WebhookDelivery.Fault.allCases {
            state.fault = fault
            state.isResent.toggle()
            #expect(DeliveryState(state.bytes) == state)
        }
        let bytes = state.bytes
        #expect(DeliveryState([2] + bytes.dropFirst()) == nil, "a later version's")
        for count in 0..<bytes.count { #expect(DeliveryState(Array(bytes[..<count])) == nil) }
    }
}

/// When a delivery is tried again (Standard Webhooks 1.0.0).
struct `A schedule of retries` {
    @Test func `has ten attempts in some three days, moved by a tenth`() {
        let now = Sample.newYear
        func seconds(_ attempts: Int, _ random: Double, after: Int64? = nil) -> Int64? {
            RetrySchedule.next(after: attempts, retryAfter: after, now: now, random: random)
                .map { ($0.milliseconds - now.milliseconds) / 1000 }
        }
        let delays = (1...10).map { seconds($0, 0.5) }
        #expect(
            delays == [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400, nil]
        )
        #expect(seconds(2, 0) == 270 && seconds(2, 0.999_999) == 329)
        #expect(seconds(1, 0.5, after: 60_000) == 60 && seconds(3, 0.5, after: 60_000) == 1800)
        // Nobody is left alone for ever.
        #expect(seconds(1, 0.5, after: .max) == 86_400 && seconds(1, 0.5, after: -1) == 5)
    }
}
