import Entitlements
import Foundation
import LedgerAPI
import Synchronization
import Testing

@testable import EntitlementClient

/// A device's clock that is wrong takes nothing away that the server said to be open (row Z17).
struct `A wrong clock` {
    /// What a device has: a clock that somebody sets, and one that nobody can.
    private final class Device: Sendable {
        let held = HeldTime()
        private let uptime = Mutex<Int64>(0)
        let hasUptime: Bool

        init(hasUptime: Bool = false) { self.hasUptime = hasUptime }

        /// Time passes, for both clocks.
        func pass(days: Int64) {
            uptime.withLock { $0 += days * Instant.millisecondsPerDay }
            held.pass(to: held.now.plus(days: days))
        }

        var time: ClientTime {
            let time = held.time
            let passed: @Sendable () -> Int64 = { self.uptime.withLock { $0 } }
            return ClientTime(
                now: time.now,
                sleep: time.sleep,
                random: time.random,
                uptime: hasUptime ? passed : nil
            )
        }
    }

    private static func service(_ setup: ServiceSetup, _ device: Device) -> EntitlementService {
        var configuration = ServiceConfiguration(
            serverURL: "https://ledger.test",
            folder: "/nowhere",
            customer: setup.customer,
            time: device.time,
            transport: setup.server.transport,
            token: { "token" }
        )
        configuration.purchases = setup.shop
        configuration.builtInGates = try? sampleGates()
        return EntitlementService(configuration, storage: setup.storage)
    }

    private static func bought() -> ServiceSetup {
        let setup = ServiceSetup()
        setup.server.set(until: noon.plus(days: 30))
        return setup
    }

    // row Z17
    @Test func `that is ahead closes nothing early, in this run and in the next`() async throws {
        let (setup, device) = (Self.bought(), Device())
        device.held.pass(to: noon.plus(days: 400))
        let service = Self.service(setup, device)
        let notices = service.notices
        await service.start()
        #expect(service.gate.isOpen("export"))
        var told = notices.makeAsyncIterator()
        let ahead = 400 * Instant.millisecondsPerDay
        #expect(await told.next() == .clockAhead(milliseconds: ahead))
        await service.stop()
        // The server is away, and the program begins anew, five days later.
        setup.server.isAway = true
        device.pass(days: 5)
        let again = Self.service(setup, device)
        await again.start()
        #expect(again.gate.isOpen("export"))
        // The end is seen all the same.
        device.pass(days: 26)
        #expect(!again.gate.isOpen("export"))
        await again.stop()
        // The control: without what was noted, the clock is believed.
        setup.storage[.clock] = nil
        device.held.pass(to: noon.plus(days: 401))
        let naive = Self.service(setup, device)
        await naive.start()
        #expect(!naive.gate.isOpen("export"))
        await naive.stop()
    }

    // row Z17
    @Test(arguments: [true, false])
    func `that is set forward while nobody is reached is not believed, where another goes on`(
        hasUptime: Bool
    ) async throws {
        let (setup, device) = (Self.bought(), Device(hasUptime: hasUptime))
        let service = Self.service(setup, device)
        await service.start()
        setup.server.isAway = true
        device.held.pass(to: noon.plus(days: 4000))
        #expect(service.gate.isOpen("export") == hasUptime)
        // Set back again: what has passed has passed.
        device.held.pass(to: noon.plus(days: -3))
        #expect(service.gate.isOpen("export"))
        device.pass(days: 31)
        #expect(service.gate.isOpen("export") == !hasUptime, "28 days by the one, 31 by the other")
        await service.stop()
    }

    // row Z17: what was behind and is mended would be ahead by what was noted
    @Test(arguments: [true, false])
    func `that was behind and is mended closes nothing early`(hasUptime: Bool) async throws {
        let (setup, device) = (Self.bought(), Device(hasUptime: hasUptime))
        device.held.pass(to: noon.plus(days: -20))
        let service = Self.service(setup, device)
        await service.start()
        setup.server.isAway = true
        device.held.pass(to: noon.plus(days: 15))
        #expect(service.gate.isOpen("export"), "in this run")
        await service.stop()
        let again = Self.service(setup, device)
        await again.start()
        #expect(again.gate.isOpen("export"), "in the next")
        // The control: the end is seen.
        device.pass(days: 20)
        #expect(!again.gate.isOpen("export"))
        await again.stop()
    }

    // row Z17: before any answer, the earlier of both counts
    @Test func `that is set forward before any answer closes nothing`() async throws {
        let (setup, device) = (Self.bought(), Device(hasUptime: true))
        await Self.service(setup, device).start()
        setup.server.isAway = true
        let service = Self.service(setup, device)
        await service.start()
        device.held.pass(to: noon.plus(days: 4000))
        #expect(service.gate.isOpen("export"))
        device.held.pass(to: noon)
        device.pass(days: 31)
        #expect(!service.gate.isOpen("export"))
        await service.stop()
    }

    // rows Z17, 3.4: what the store verified at this start is not a month old
    @Test func `that is behind closes nothing that the store has just verified`() async throws {
        let (setup, device) = (ServiceSetup(), Device(hasUptime: true))
        device.held.pass(to: noon.plus(days: -30))
        setup.server.isAway = true
        let first = Self.service(setup, device)
        await first.start()
        let flow = await first.purchase("pro.month") { true }
        #expect(await flow.end() == .done(isRecorded: false))
        await first.stop()
        // Another device has finished it: this one's store tells it no more, and holds it all the same.
        await setup.shop.finish(sampleTransaction())
        // The server is back, and takes no claims yet.
        setup.server.isAway = false
        setup.server.answer("/purchases", ScriptedServer.problem(.busy))
        let again = Self.service(setup, device)
        #expect(await again.start() == .refreshed(noon))
        let decision = again.gate.decision("export")
        #expect(decision.source == .provisional && decision.until == noon.plus(days: 7))
        await again.stop()
    }

    // rows Z17, 3.4: put right by the server's answer, while the purchase itself still waits
    @Test func `that is put right closes nothing that was just bought`() async throws {
        let (setup, device) = (ServiceSetup(), Device(hasUptime: true))
        device.held.pass(to: noon.plus(days: -8))
        setup.server.isAway = true
        let service = Self.service(setup, device)
        await service.start()
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.end() == .done(isRecorded: false))
        setup.server.isAway = false
        setup.server.answer("/purchases", ScriptedServer.problem(.busy))
        #expect(await service.retry() == .refreshed(noon))
        let decision = service.gate.decision("export")
        #expect(decision.source == .provisional && decision.until == noon.plus(days: 7))
        // The control: a week later nobody has confirmed it.
        setup.server.isAway = true
        device.pass(days: 7)
        #expect(!service.gate.isOpen("export"))
        await service.stop()
    }

    // row Z17
    @Test(.timeLimit(.minutes(60)))
    func `that is set back while somebody waits makes nobody wait longer`() async throws {
        let readings = Mutex(0)
        let time = ClientTime(date: {
            let count = readings.withLock { readings in
                readings += 1
                return readings
            }
            // By a day, once the wait has begun.
            return Date(timeIntervalSince1970: count > 2 ? 0 : 86_400)
        })
        try await time.sleep(time.now().advanced(byMilliseconds: 20))
    }

    @Test(arguments: ["", "x", "9223372036854775807", "-9223372036854775808"])
    func `that was noted wrongly is put aside`(text: String) {
        let (storage, notices) = (MemoryStorage(), Broadcast<ClientNotice>(.unbounded))
        storage[.clock] = Array(text.utf8)
        #expect(OfflineCache(storage: storage, notices: notices).clockAhead() == nil)
        #expect(storage.aside(.clock) != nil)
    }

    @Test func `that is right is not written`() async throws {
        let (setup, device) = (Self.bought(), Device())
        device.held.pass(to: noon.plus(seconds: 200))
        let service = Self.service(setup, device)
        await service.start()
        #expect(setup.storage[.clock] == nil)
        await service.stop()
    }

    // Each gate asks: up to three days the sum is of 64 bits, then of 128.
    @Test(
        arguments: [
            (Duration.zero, 0), (.nanoseconds(999_999), 0), (.milliseconds(1), 1),
            (.seconds(300_000) + .microseconds(1999), 300_000_001),
            (.seconds(302_231), 302_231_000),
            (.seconds(302_232), 302_232_000), (.seconds(40_000_000_000), 40_000_000_000_000),
            (.milliseconds(-1), -1),
        ] as [(Duration, Int64)]
    )
    func `counts whole milliseconds, for however long`(_ passed: Duration, _ expected: Int64) {
        #expect(passed.wholeMilliseconds == expected)
    }
}
