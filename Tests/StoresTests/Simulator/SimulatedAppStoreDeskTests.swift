import Encodings
import Entitlements
import ModelSupport
import StoreSimulator
import Synchronization
import Testing

/// A simulated App Store that is worked by hand (Z7).
struct `An App Store that is worked by hand` {
    private static let start = AppStoreSample.start
    private static let day = Instant.millisecondsPerDay
    private static let month = SimulatedProduct(
        id: "pro.month",
        type: "Auto-Renewable Subscription",
        period: 30 * day,
        price: 9_990
    )
    private static let life = SimulatedProduct(
        id: "pro.life",
        type: "Non-Consumable",
        period: nil,
        price: 99_990
    )

    private static let alice: CustomerID = "alice"

    /// A desk, its clock, and how often a backend was told.
    private struct Work {
        let clock: SimulatedClock
        let desk: SimulatedAppStoreDesk
        let count = Count()

        init() throws {
            let clock = SimulatedClock { start }
            let store = SimulatedAppStore(authority: try AppStoreSample.authority.get())
            let products = [month, life]
            let devices = SimulatedDeviceAPI(store, products: products, clock: { clock.now })
            self.clock = clock
            desk = SimulatedAppStoreDesk(store, devices, products: products, clock: clock)
        }

        /// Takes all that it is told.
        var backend: SimulatedAppStoreDesk.Backend {
            let outcome = SimulatedAppStoreDesk.Outcome(word: "appended", sequence: 1)
            return SimulatedAppStoreDesk.Backend(
                notification: { [count] body in
                    if body["signedPayload"]?.string != nil { count.increase() }
                    return outcome
                },
                claim: { [count] _, _ in
                    count.increase()
                    return outcome
                }
            )
        }

        func take(_ step: SimulatedStep) async throws -> Bool {
            let id = try #require(await desk.bought.first?.purchase.id)
            return try await desk.take(step, to: id, telling: backend)
        }

        /// What was told, the oldest first.
        var told: [String] { get async { await desk.lately.reversed().map(\.what) } }
    }

    private final class Count: Sendable {
        private let number = Mutex(0)
        var value: Int { number.withLock(\.self) }
        func increase() { number.withLock { $0 += 1 } }
    }

    /// Steps, how the subscription stands then, and by how many days the clock was turned for them.
    private static let paths: [([SimulatedStep], SimulatedAppleAccount.Standing, Int64)] = [
        ([], .renewing, 0), ([.renew], .renewing, 30), ([.grace], .grace, 30),
        ([.grace, .renew], .renewing, 30), ([.grace, .endGrace], .retry, 46),
        ([.grace, .endGrace, .expire], .over, 46), ([.failRenewal], .retry, 30),
        ([.failRenewal, .renew], .renewing, 30), ([.failRenewal, .expire], .over, 30),
        ([.cancel], .ending, 0), ([.cancel, .resume], .renewing, 0),
        ([.cancel, .expire], .over, 30), ([.expire], .over, 30),
        ([.expire, .resubscribe], .renewing, 30), ([.refund], .refunded, 0),
        ([.refund, .reverseRefund], .renewing, 0),
    ]

    @Test(arguments: paths)
    func `lets happen what can`(
        path: ([SimulatedStep], SimulatedAppleAccount.Standing, Int64)
    ) async throws {
        let work = try Work()
        #expect(try await work.desk.buy("pro.month", for: Self.alice, telling: work.backend))
        for step in path.0 { #expect(try await work.take(step), "\(step)") }
        #expect(await work.desk.bought.map(\.purchase.standing) == [path.1])
        #expect(work.clock.ahead == path.2 * Self.day)
        let told = await work.told
        #expect(told.prefix(2) == ["claim", "SUBSCRIBED/INITIAL_BUY"])
        #expect(told.count >= 2 + path.0.count)
        #expect(work.count.value == told.count)
    }

    /// What went before, and what cannot happen then.
    private static let refused: [([SimulatedStep], SimulatedStep)] = [
        ([], .endGrace), ([], .resume), ([], .resubscribe), ([], .reverseRefund),
        ([.refund], .refund), ([.refund], .renew), ([.expire], .renew), ([.expire], .cancel),
        ([.grace], .failRenewal), ([.cancel], .renew), ([.failRenewal], .endGrace),
    ]

    @Test(arguments: refused)
    func `tells nothing of what cannot happen`(path: ([SimulatedStep], SimulatedStep)) async throws
    {
        let work = try Work()
        #expect(try await work.desk.buy("pro.month", for: Self.alice, telling: work.backend))
        for step in path.0 { #expect(try await work.take(step)) }
        let (count, ahead) = (work.count.value, work.clock.ahead)
        #expect(try await !work.take(path.1))
        #expect(work.count.value == count && work.clock.ahead == ahead)
        #expect(try await !work.desk.take(.refund, to: "nobody's", telling: work.backend))
        #expect(try await !work.desk.buy("nothing", for: Self.alice, telling: work.backend))
    }

    // A double click, or a second tab: a backend takes its time.
    @Test func `lets nothing happen twice where two turn at once`() async throws {
        let work = try Work()
        for customer in ["a", "b", "c"] as [CustomerID] {
            #expect(try await work.desk.buy("pro.month", for: customer, telling: work.backend))
        }
        var slow = work.backend
        slow.notification = { [taken = work.backend.notification] body in
            try? await Task.sleep(for: .milliseconds(5))  // Nobody cancels it.
            return await taken(body)
        }
        let later = Self.start.advanced(byMilliseconds: 31 * Self.day)
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { [slow] in
                    do { try await work.desk.turn(to: later, telling: slow) } catch {
                        Issue.record("\(error)")
                    }
                }
            }
        }
        #expect(await work.told.filter { $0 == "DID_RENEW" }.count == 3)
    }

    @Test func `turns ahead through all that is due, in the order of time`() async throws {
        let work = try Work()
        for name in ["a", "b", "c", "d"] {
            let product = name == "d" ? "pro.life" : "pro.month"
            let customer = try #require(CustomerID(name))
            #expect(try await work.desk.buy(product, for: customer, telling: work.backend))
            try await work.desk.turn(
                to: work.clock.now.advanced(byMilliseconds: Self.day),
                telling: work.backend
            )
        }
        let c = try #require(await work.desk.bought.first { $0.customer.text == "c" }).purchase.id
        #expect(try await work.desk.take(.cancel, to: c, telling: work.backend))
        let before = await work.desk.lately.count
        try await work.desk.turn(
            to: Self.start.advanced(byMilliseconds: 62 * Self.day),
            telling: work.backend
        )
        let told = await work.desk.lately.dropLast(before).reversed()
        #expect(told.map(\.customer.text) == ["a", "b", "c", "a", "b"])
        #expect(
            told.map(\.what)
                == ["DID_RENEW", "DID_RENEW", "EXPIRED/VOLUNTARY", "DID_RENEW", "DID_RENEW"]
        )
        let days = told.map { ($0.at.milliseconds - Self.start.milliseconds) / Self.day }
        #expect(days == [30, 31, 32, 60, 61])
        #expect(work.clock.ahead == 62 * Self.day)
        // It never goes back.
        work.clock.turn(to: Self.start)
        #expect(work.clock.ahead == 62 * Self.day)
    }
}
