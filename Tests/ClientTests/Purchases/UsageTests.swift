import Encodings
import Entitlements
import LedgerAPI
import Testing

@testable import EntitlementClient

/// Limited uses from a device: thirty seconds a use, three a day (rows B2, Z16).
struct `A limited use on a device` {
    private static let reset = noon.plus(seconds: 3600)

    /// A client of whom so many uses of `scan` are left.
    private static func setup(remaining: Int) throws -> ServiceSetup {
        let setup = ServiceSetup()
        try say(remaining: remaining, sequence: 7, setup)
        return setup
    }

    private static func say(
        remaining: Int,
        sequence: UInt64,
        _ setup: ServiceSetup
    ) throws {
        let limit = #""remaining":\#(remaining),"perUse":{"amount":30,"unit":"seconds"}"#
        let claims = SnapshotAuthority.claims(until: noon, sequence: sequence)
            .replacing(#""remaining":0,"perUse":null"#, with: limit)
        let text = try setup.server.authority.sign(claims)
        setup.server.answer("/snapshot", ClientResponse(status: 200, body: Array(text.utf8)))
    }

    private static func answer(endsAt: Instant) -> ClientResponse {
        let body =
            #"{"outcome":"appended","sequence":7,"size":8,"id":"u","useId":"u","endsAt":"\#(endsAt)"}"#
        return ClientResponse(
            status: 200,
            headers: ["ledger-sequence": "8"],
            body: Array(body.utf8)
        )
    }

    private static func uses(_ setup: ServiceSetup) -> [ClientRequest] {
        setup.server.requests.filter { $0.url.contains("/usage") }
    }

    // row B2, row Z16: the server decides, and computes the end
    @Test func `that the server records ends when it says, and counts once`() async throws {
        let setup = try Self.setup(remaining: 3)
        let service = setup.service()
        await service.start()
        let end = noon.plus(seconds: 31)
        setup.server.answer("/usage", Self.answer(endsAt: end))
        guard case .granted(let lease) = await service.use("scan") else {
            Issue.record("three are left")
            return
        }
        #expect(lease.endsAt == end && lease.isRecorded && lease.feature == "scan")
        #expect(lease.remaining(at: noon) == 31_000 && lease.remaining(at: end) == 0)
        let sent = try #require(Self.uses(setup).first)
        #expect(sent.headers["Idempotency-Key"] == lease.id)
        let body = try JSONValue(parsing: sent.body ?? [])
        #expect(body == .members(["featureId": "scan", "amount": .integer(30), "unit": "seconds"]))
        // Before an answer has seen it, it counts beside what was known; then not twice.
        #expect(service.gate.decision("scan").limit?.remaining == 2)
        try Self.say(remaining: 2, sequence: 8, setup)
        await service.retry()
        #expect(service.gate.decision("scan").limit?.remaining == 2)
        #expect(Self.uses(setup).count == 1)
        #expect(await service.queue.calls.isEmpty)
        await service.stop()
    }

    // row B2, row Z16, rows 3.4, 3.5: the network is away
    @Test func `without a network begins at once, is counted, and told once it is back`()
        async throws
    {
        let setup = try Self.setup(remaining: 3)
        var service = setup.service()
        await service.start()
        setup.server.isAway = true
        for round in 1...3 {
            guard case .granted(let lease) = await service.use("scan", amount: 20) else {
                Issue.record("use \(round)")
                return
            }
            #expect(lease.endsAt == noon.plus(seconds: 20) && !lease.isRecorded)
            #expect(service.gate.decision("scan").limit?.remaining == Int64(3 - round))
        }
        #expect(await service.use("scan") == .overLimit(resetsAt: Self.reset))
        #expect(service.gate.isOpen("scan") && !service.gate.decision("scan").isUsable)
        await service.stop()
        // The program begins anew: what was used is used.
        service = setup.service()
        await service.start()
        #expect(await service.use("scan") == .overLimit(resetsAt: Self.reset))
        let before = Self.uses(setup).count
        setup.server.isAway = false
        setup.server.answer("/usage", Self.answer(endsAt: noon.plus(seconds: 20)))
        try Self.say(remaining: 0, sequence: 8, setup)
        await service.retry()
        let keys = Self.uses(setup)[before...].compactMap { $0.headers["Idempotency-Key"] }
        #expect(keys.count == 3 && Set(texts: keys).count == 3)
        #expect(await service.queue.calls.isEmpty)
        await service.stop()
    }

    // row B2: what a use of yesterday would take of today
    @Test func `whose window is over is told no more, and takes nothing of the next`() async throws
    {
        let setup = try Self.setup(remaining: 1)
        let service = setup.service()
        await service.start()
        setup.server.isAway = true
        guard case .granted = await service.use("scan") else {
            Issue.record("one is left")
            return
        }
        let before = Self.uses(setup).count
        setup.time.pass(to: Self.reset)
        #expect(service.gate.decision("scan").limit?.remaining == 3, "the next window")
        setup.server.isAway = false
        await service.retry()
        #expect(Self.uses(setup).count == before)
        #expect(await service.queue.calls.isEmpty)
        await service.stop()
    }

    // C5: away for some windows
    @Test func `of a later window counts in that one alone`() async throws {
        let setup = try Self.setup(remaining: 3)
        let service = setup.service()
        await service.start()
        setup.server.isAway = true
        setup.time.pass(to: Self.reset)
        for _ in 1...3 {
            guard case .granted = await service.use("scan") else {
                Issue.record("three are left again")
                return
            }
        }
        let end = Self.reset.plus(days: 1)
        #expect(await service.use("scan") == .overLimit(resetsAt: end))
        let before = Self.uses(setup).count
        setup.time.pass(to: end)
        #expect(service.gate.decision("scan").limit?.remaining == 3)
        setup.server.isAway = false
        await service.retry()
        #expect(Self.uses(setup).count == before, "that window is over")
        await service.stop()
    }

    // rows B2, B3
    @Test func `that is over the limit or of what is closed does not begin`() async throws {
        let setup = try Self.setup(remaining: 1)
        let service = setup.service()
        await service.start()
        #expect(await service.use("scan", amount: 31) == .overLimit(resetsAt: nil))
        let required = SubscriptionRequired(feature: "export", products: ["pro.month"])
        #expect(await service.use("export") == .closed(required))
        #expect(Self.uses(setup).isEmpty)
        // Another device has used the last one: the server says no.
        setup.server.answer("/usage", ScriptedServer.problem(.overLimit))
        try Self.say(remaining: 0, sequence: 8, setup)
        #expect(await service.use("scan") == .overLimit(resetsAt: Self.reset))
        #expect(Self.uses(setup).count == 1)
        await service.stop()
    }

    // row Z16: each counts those that began before it
    @Test func `begins once where one is left, however many ask at once`() async throws {
        let setup = try Self.setup(remaining: 1)
        let service = setup.service()
        await service.start()
        setup.server.isAway = true
        let granted = await withTaskGroup(of: Bool.self, returning: Int.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    guard case .granted = await service.use("scan") else { return false }
                    return true
                }
            }
            return await group.reduce(0) { count, isGranted in count + (isGranted ? 1 : 0) }
        }
        #expect(granted == 1)
        await service.stop()
    }

    // row 3.4: the server calls closed what only the store has opened
    @Test func `of what is bought and not recorded begins, and is told behind the purchase`()
        async throws
    {
        let setup = ServiceSetup()
        let service = setup.service()
        await service.start()
        setup.server.answer("/purchases", ScriptedServer.problem(.busy, retryAfter: 600))
        setup.server.answer("/usage", ScriptedServer.problem(.notAllowed))
        let flow = await service.purchase("pro.month") { true }
        #expect(await flow.end() == .done(isRecorded: false))
        let asked = setup.server.count("/purchases")
        guard case .granted(let lease) = await service.use("export") else {
            Issue.record("the store has verified it")
            return
        }
        #expect(!lease.isRecorded && Self.uses(setup).isEmpty)
        #expect(setup.server.count("/purchases") > asked, "the server is told at once")
        for path in ["/purchases", "/usage"] { setup.server.answer(path, nil) }
        let before = setup.server.requests.count
        await service.retry()
        let told = setup.server.requests[before...].map(\.url)
            .filter { $0.contains("/purchases") || $0.contains("/usage") }
        #expect(told.map { $0.contains("/usage") } == [false, true])
        await service.stop()
    }

    // row B2: the server decides where it is reached
    @Test(arguments: [ProblemCode.notAllowed, .unknownFeature])
    func `of what the server says is closed does not begin`(_ code: ProblemCode) async throws {
        let setup = try Self.setup(remaining: 3)
        let service = setup.service()
        await service.start()
        setup.server.answer("/usage", ScriptedServer.problem(code))
        guard case .closed(let required) = await service.use("scan") else {
            Issue.record("the server says no")
            return
        }
        #expect(required.feature == "scan")
        // Once: the token is as good as before.
        #expect(Self.uses(setup).count == 1)
        await service.stop()
    }

    // The control: a token that may not ask is asked for again, and what waits is told later.
    @Test func `that the token does not allow waits`() async throws {
        let setup = try Self.setup(remaining: 3)
        let service = setup.service()
        await service.start()
        setup.server.answer("/usage", ScriptedServer.problem(.forbidden))
        guard case .granted(let lease) = await service.use("scan") else {
            Issue.record("what is known decides")
            return
        }
        #expect(!lease.isRecorded && Self.uses(setup).count == 2)
        await service.stop()
    }

    // Several machines: `Ledger-Sequence` says of which history it is
    @Test func `that a machine among several records is waited for`() async throws {
        let setup = try Self.setup(remaining: 3)
        let service = setup.service()
        await service.start()
        var answer = Self.answer(endsAt: noon.plus(seconds: 30))
        answer.headers["ledger-sequence"] = "8;root=00112233445566ff"
        setup.server.answer("/usage", answer)
        _ = await service.use("scan")
        #expect(await service.queue.recordedSize == 8)
        await service.stop()
    }
}
