import Encodings
import Entitlements
import LedgerAPI
import Synchronization
import Testing

@testable import EntitlementClient

/// Whoever signs in, again or where nobody was, keeps what is theirs (row CL5).
struct `Signing in` {
    /// A program with a purchase that waits, of which the server does not know; nobody is reached any more.
    private static func waiting() async throws -> (ServiceSetup, calls: [String]) {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        setup.server.isAway = true
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.end() == .done(isRecorded: false))
        let calls = await service.queue.calls.map(\.id)
        #expect(!calls.isEmpty)
        await service.stop()
        return (setup, calls)
    }

    @Test func `again takes nothing from whoever is signed in`() async throws {
        let (setup, _) = try await Self.waiting()
        let service = setup.service()
        await service.start()
        await service.switchCustomer(to: SnapshotAuthority.customer)
        #expect(service.gate.isOpen("export"))
        #expect(setup.storage[.snapshot] != nil)
        setup.server.isAway = false
        setup.time.pass(to: noon.plus(days: 1))
        await service.retry()
        #expect(await eventually { setup.server.recorded.count == 1 })
        await service.stop()
    }

    @Test func `where nobody was finds what waits of its own, and of nobody else`() async throws {
        for (customer, isTheirs): (CustomerID, Bool) in [
            (SnapshotAuthority.customer, true), ("bob-1", false),
        ] {
            var (setup, calls) = try await Self.waiting()
            setup.customer = nil
            let service = setup.service()
            await service.start()
            #expect(!service.gate.isOpen("export"), "nobody is signed in")
            await service.switchCustomer(to: customer)
            #expect((setup.storage[.snapshot] != nil) == isTheirs, "\(customer.text)")
            // What the device's store holds it hands in anew, for whoever is signed in.
            let found = Set(await service.queue.calls.map(\.id))
            #expect(!found.isDisjoint(with: calls) == isTheirs, "\(customer.text)")
            await service.stop()
        }
    }

    // row 3.4: an app may begin before anybody has signed in, and the system may empty its folder
    @Test func `where nobody was opens what the store says that its account holds`() async throws {
        var setup = ServiceSetup()
        setup.shop.tell(.verified(sampleTransaction()))
        await setup.shop.finish(sampleTransaction())
        setup.customer = nil
        setup.server.isAway = true
        let service = setup.service()
        await service.start()
        #expect(!service.gate.isOpen("export"), "nobody is signed in")
        await service.switchCustomer(to: SnapshotAuthority.customer)
        #expect(service.gate.decision("export").source == .provisional)
        // The control: whoever takes another's place is somebody else.
        await service.switchCustomer(to: "bob-1")
        #expect(!service.gate.isOpen("export"))
        await service.stop()
    }

    // row 3.4: what waits is open before the store or the server has answered
    @Test func `where nobody was opens what waits of its own at once`() async throws {
        var (setup, _) = try await Self.waiting()
        (setup.customer, setup.isEnabled) = (nil, false)
        let service = setup.service()
        await service.start()
        setup.server.hold("https://")
        let signedIn = Task { await service.switchCustomer(to: SnapshotAuthority.customer) }
        #expect(await eventually { setup.server.heldCount == 1 })
        #expect(service.gate.decision("export").source == .provisional)
        setup.server.release()
        _ = await signedIn.value
        await service.stop()
    }

    // Each is whole before the next begins: nothing of one is left with another.
    @Test func `one after the other ends with whoever came last`() async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        let customers: [CustomerID] = ["bob-1", "carol-1", "dave-1", "erin-1"]
        let before = setup.storage.removed.count
        for _ in 0..<100 {
            await withTaskGroup { group in
                for customer in customers {
                    group.addTask { _ = await service.switchCustomer(to: customer) }
                }
            }
            let last = try #require(service.store.customer)
            #expect(customers.contains(last))
            // Store and queue are of one customer.
            #expect(await service.queue.add(.claim(sampleTransaction()), for: last) != nil)
        }
        // Each empties the queue, then the cache.
        let removed = setup.storage.removed[before...].filter { $0 == .queue || $0 == .snapshot }
        #expect(removed.count >= 200)
        for (place, file) in removed.enumerated() {
            #expect(file == (place.isMultiple(of: 2) ? .queue : .snapshot))
        }
        await service.stop()
    }

    // row CL5: whoever is told that it was cancelled is not charged
    @Test(arguments: [false, true])
    func `ends the purchase of the last one before the store is asked`(
        _ isConfirmed: Bool
    ) async throws {
        let sold = Mutex(0)
        let setup = ServiceSetup { _, _ in
            sold.withLock { $0 += 1 }
            return .success(sampleTransaction())
        }
        let service = setup.service()
        await service.start()
        @Sendable func signIn() async {
            await service.switchCustomer(to: "bob-1")
            // It is sent where the flow is over.
            await service.queue.add(.claim(sampleTransaction("9")), for: "bob-1")
        }
        if isConfirmed { setup.server.hold("/flows") }
        let flow = await service.purchase("pro.month") {
            if !isConfirmed { await signIn() }
            return true
        }
        if isConfirmed {
            #expect(await eventually { setup.server.heldCount == 1 })
            await signIn()
            setup.server.release()
        }
        #expect(await flow.end() == .failed(ServiceError(.cancelled)))
        #expect(await eventually { setup.server.recorded["signed-9"] != nil })
        #expect(sold.withLock(\.self) == 0)
        // The control: the next one buys.
        let next = await service.purchase("pro.month") { true }
        #expect(await next.end() == .done(isRecorded: true))
        #expect(sold.withLock(\.self) == 1)
        await service.stop()
    }

    // row CL5: an answer to what was told of a flow comes late
    @Test func `as nobody leaves no file behind`() async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        setup.server.hold("/flows")
        let flow = await service.purchase("pro.month") { false }
        #expect(await flow.end() == .cancelled)
        #expect(await eventually { setup.server.heldCount == 1 })
        #expect(setup.storage[.queue] != nil, "the control")
        let signedOut = Task { await service.switchCustomer(to: nil) }
        #expect(await eventually { service.store.customer == nil })
        setup.server.release()
        #expect(await signedOut.value == .signedOut)
        #expect(setup.storage[.queue] == nil)
        await service.stop()
    }

    // What the store tells is for whoever starts again.
    @Test func `where it was stopped listens to nothing`() async throws {
        let service = ServiceSetup().service()
        await service.start()
        await service.switchCustomer(to: "bob-1")
        #expect(await service.listener != nil, "the control")
        await service.stop()
        await service.switchCustomer(to: "carol-1")
        #expect(await service.listener == nil)
    }

    private static let alice: CustomerID = "5b3f9a52-6c0e-4c5e-9a5e-0d4c2a7f1b90"
    private static let bob: CustomerID = "0d4c2a7f-1b90-4c5e-9a5e-5b3f9a526c0e"

    /// A program of bob's, whom no server answers yet, in a store that holds what alice bought.
    private static func signedIn() async -> (ServiceSetup, EntitlementService) {
        var setup = ServiceSetup()
        setup.customer = bob
        setup.server.isAway = true
        setup.shop.tell(.verified(sampleTransaction(account: alice)))
        let service = setup.service()
        await service.start()
        return (setup, service)
    }

    // rows CL5, CL2, 3.4: whoever bought it signed out before it was handed in
    @Test func `leaves what names another customer for them`() async throws {
        let (setup, service) = await Self.signedIn()
        #expect(!service.gate.isOpen("export"))
        // The control, which comes behind it: their own is taken, and open.
        setup.shop.tell(.verified(sampleTransaction("2", account: Self.bob)))
        #expect(await eventually { await !service.queue.calls.isEmpty })
        #expect(await service.queue.calls.flatMap(\.transactions).map(\.id) == ["2"])
        #expect(await eventually { service.gate.decision("export").source == .provisional })
        // It was tried, and waits: the server hears of it no more before the switch.
        #expect(await eventually { await service.queue.calls.contains { $0.attempts > 0 } })
        #expect(setup.shop.finished.isEmpty)
        setup.server.isAway = false
        await service.switchCustomer(to: Self.alice)
        #expect(await eventually { setup.shop.finished.map(\.id) == ["1"] })
        #expect(setup.server.recorded.keys.map(\.text) == ["signed-1"])
        await service.stop()
    }

    // row CL2: what they ask for themselves the server decides, by its policy
    @Test func `restores what names another customer, and opens it once the server does`()
        async throws
    {
        let (setup, service) = await Self.signedIn()
        #expect(try await service.restore() == .waiting(1))
        #expect(!service.gate.isOpen("export"))
        // What it recorded is open, also where it answers nothing else.
        setup.server.isAway = false
        setup.server.answer("/snapshot", ClientResponse(status: 503))
        await service.retry()
        #expect(service.gate.decision("export").source == .provisional)
        setup.server.answer("/snapshot", nil)
        await service.retry()
        #expect(service.gate.decision("export").source == .server)
        await service.stop()
    }

    // C1: a purchase that was transferred still names whom it was bought for; the store may tell of it before the
    // server is asked
    @Test(arguments: [false, true])
    func `hands in what the server says is theirs, whomever it names`(
        _ isToldBefore: Bool
    ) async throws {
        var setup = ServiceSetup()
        setup.customer = Self.bob
        let text = try setup.server.authority.sign(SnapshotAuthority.owningClaims(of: Self.bob))
        setup.server.answer("/snapshot", ClientResponse(status: 200, body: Array(text.utf8)))
        let told = TransactionUpdate.verified(sampleTransaction(account: Self.alice))
        if isToldBefore { setup.shop.tell(told) }
        let service = setup.service()
        #expect(await service.start() == .refreshed(noon))
        if !isToldBefore { setup.shop.tell(told) }
        #expect(await eventually { setup.shop.finished.map(\.id) == ["1"] })
        await service.stop()
    }

    // A token is a UUID in whatever case; to whose id is none it tells nothing.
    @Test(
        arguments: [
            (bob, "0D4C2A7F-1B90-4C5E-9A5E-5B3F9A526C0E", false), ("bob", alice, false),
            (bob, "alice", false), (bob, alice, true),
        ] as [(CustomerID, CustomerID, Bool)]
    )
    func `takes for another's what names another account`(
        _ customer: CustomerID,
        _ account: CustomerID,
        _ isAnothers: Bool
    ) {
        let known = CustomerEntitlements(unknown: customer)
        #expect(known.isAnothers(sampleTransaction(account: account)) == isAnothers)
        #expect(!known.isAnothers(sampleTransaction()))
    }

    // What a listener or a flow of the last one still brings is none of the next one's.
    @Test func `keeps out what comes late of another`() async throws {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        let other: CustomerID = "bob-1"
        await service.switchCustomer(to: other)
        let late = await service.queue.add(
            .claim(sampleTransaction()),
            for: SnapshotAuthority.customer
        )
        #expect(late == nil)
        #expect(await service.queue.calls.allSatisfy { $0.transactions.isEmpty })
        // The control: their own is taken.
        #expect(await service.queue.add(.claim(sampleTransaction()), for: other) != nil)
        await service.stop()
    }
}
