import Encodings
import Entitlements
import LedgerAPI
import Testing

@testable import EntitlementClient

/// What must reach the server (rows 3.5, 8.1).
struct `A sync queue` {
    private static let noted = Broadcast<ClientNotice>(.unbounded)

    private static func queue(
        of customer: CustomerID = SnapshotAuthority.customer,
        _ server: ScriptedServer,
        _ time: HeldTime,
        storage: MemoryStorage = MemoryStorage(),
        backoff: Backoff = Backoff()
    ) -> SyncQueue {
        SyncQueue(
            customer,
            storage: storage,
            connection: ServerConnection(
                url: "https://ledger.test",
                transport: server.transport,
                time: time.time,
                token: { "token" }
            ),
            time: time.time,
            backoff: backoff,
            notices: noted,
            finish: { _ in }
        )
    }

    // row CL5: the program ended, and another customer was signed in when it began again
    @Test(arguments: [SnapshotAuthority.customer, "bob-1"])
    func `hands in nothing in another's name than was signed in`(
        _ next: CustomerID
    ) async throws {
        let (server, time, storage) = (ScriptedServer(), HeldTime(), MemoryStorage())
        let first = Self.queue(server, time, storage: storage)
        await first.start {}
        await first.add(.claim(sampleTransaction()))
        await first.add(.flow(.members(["type": "started"]), id: "flow-1"))
        await first.stop()
        let second = Self.queue(of: next, server, time, storage: storage)
        await second.start {}
        // Control: of the same customer both are there.
        let isSame = next == SnapshotAuthority.customer
        #expect(await second.calls.count == (isSame ? 2 : 0))
        #expect(await second.provisional().isEmpty != isSame)
        #expect(QueueFile(try #require(storage[.queue])).calls.count == (isSame ? 2 : 0))
        await second.send()
        #expect(server.recorded.isEmpty != isSame)
        await second.stop()
    }

    @Test func `asks for the same restore once, and at once when it is asked for again`() async {
        let (server, time) = (ScriptedServer(), HeldTime())
        let queue = Self.queue(server, time)
        await queue.start {}
        server.isAway = true
        let ids = [await queue.add(.restore([sampleTransaction()]))]
        await queue.send()
        #expect(await queue.calls.first?.notBefore != nil)
        let again = await queue.add(.restore([sampleTransaction()]))
        #expect(ids == [again])
        #expect(await queue.calls.count == 1)
        #expect(await queue.calls.first?.notBefore == nil)
        // The control: of other transactions it is another.
        let other = await queue.add(.restore([sampleTransaction("2"), sampleTransaction()]))
        #expect(other != again)
        await queue.stop()
    }

    // A restore that is refused as a whole says nothing of each purchase in it.
    @Test(arguments: [false, true]) func `hands a purchase in behind a refused restore`(
        _ isTaken: Bool
    ) async {
        let (server, time) = (ScriptedServer(), HeldTime())
        let queue = Self.queue(server, time)
        await queue.start {}
        if !isTaken { server.answer("/restore", ScriptedServer.problem(.malformed)) }
        let restore = await queue.add(.restore([sampleTransaction()]))
        await queue.send()
        let claim = await queue.add(.claim(sampleTransaction()))
        // The control: what a restore handed in is handed in.
        #expect((claim == restore) == isTaken)
        await queue.send()
        #expect(server.count("/purchases") == (isTaken ? 0 : 1))
        await queue.stop()
    }

    // The clock was wrong when the wait was noted, and is mended.
    @Test(arguments: [1, 8]) func `waits no longer than anybody asks`(_ days: Int64) async {
        let (server, time) = (ScriptedServer(), HeldTime(noon.plus(days: days)))
        let queue = Self.queue(server, time)
        await queue.start {}
        server.isAway = true
        await queue.add(.claim(sampleTransaction()))
        await queue.send()
        server.isAway = false
        time.pass(to: noon)
        await queue.send()
        // The control: a day is a wait like others.
        #expect(await queue.recorded.isEmpty == (days == 1))
        await queue.stop()
    }

    @Test func `keeps the newest flows, and every purchase`() async throws {
        let (server, time, storage) = (ScriptedServer(), HeldTime(), MemoryStorage())
        let queue = Self.queue(server, time, storage: storage)
        await queue.start {}
        server.isAway = true
        await queue.add(.claim(sampleTransaction()))
        for number in 0..<SyncQueue.flowLimit + 5 {
            await queue.add(.flow(.members(["type": "started"]), id: "flow-\(number)"))
        }
        let kept = await queue.calls
        #expect(kept.filter(\.isFlow).count == SyncQueue.flowLimit)
        #expect(kept.first?.transactions.isEmpty == false)
        #expect(kept.last?.lane == Name("flow/flow-\(SyncQueue.flowLimit + 4)"))
        #expect(QueueFile(try #require(storage[.queue])).calls == kept)
        await queue.stop()
    }

    private static func use(_ feature: String = "scan", until: Instant? = nil) -> QueuedCall.Task {
        .use(QueuedCall.Use(feature: feature, amount: nil, unit: nil, until: until))
    }

    // What counts in no window would wait for as long as nobody is reached, until the file is too large.
    @Test func `keeps the newest uses, and those of a window longest`() async throws {
        let (server, time, storage) = (ScriptedServer(), HeldTime(), MemoryStorage())
        let queue = Self.queue(server, time, storage: storage)
        await queue.start {}
        await queue.add(.claim(sampleTransaction()))
        await queue.add(Self.use("0", until: noon.plus(days: 1)))
        for number in 1...SyncQueue.useLimit + 4 { await queue.add(Self.use("\(number)")) }
        let kept = await queue.calls
        #expect(kept.first?.transactions.isEmpty == false)
        let uses = kept.compactMap(\.use)
        #expect(uses.count == SyncQueue.useLimit)
        #expect(uses.prefix(2).map(\.feature) == ["0", "6"])
        #expect(QueueFile(try #require(storage[.queue])).calls == kept)
        await queue.stop()
    }

    // One that is forgotten is handed in anew at the next start, open until it is refused again.
    @Test func `remembers a refused purchase behind however many refused uses`() async {
        let (server, time) = (ScriptedServer(), HeldTime())
        let queue = Self.queue(server, time)
        await queue.start {}
        for path in ["/purchases", "/usage"] {
            server.answer(path, ScriptedServer.problem(.malformed))
        }
        await queue.add(.claim(sampleTransaction()))
        for _ in 0...100 { await queue.add(Self.use()) }
        await queue.send()
        #expect(await queue.refused == ["1"])
        // The control: of uses the last ones are remembered.
        #expect(await queue.calls.compactMap(\.use).count == 100)
        await queue.stop()
    }

    // row 8.1: the first waits for somebody by now, and nobody was reached since
    @Test func `goes on by itself with what it has not tried yet`() async {
        let (server, time) = (ScriptedServer(), HeldTime())
        var backoff = Backoff()
        backoff.attemptLimit = 2
        let queue = Self.queue(server, time, backoff: backoff)
        await queue.start {}
        server.isAway = true
        for id in ["1", "2"] { await queue.add(.claim(sampleTransaction(id))) }
        for day in 1...2 as ClosedRange<Int64> {
            time.pass(to: noon.plus(days: day))
            await queue.send()
            #expect(await queue.alarm != nil, "day \(day)")
        }
        #expect(await queue.calls.map(\.phase) == [.attention, .waiting])
        #expect(await queue.calls.map(\.attempts) == [2, 0])
        await queue.stop()
    }

    @Test func `goes on with what it knows when it begins again, not with an older file`() async {
        let (server, time, storage) = (ScriptedServer(), HeldTime(), MemoryStorage())
        let queue = Self.queue(server, time, storage: storage)
        await queue.start {}
        await queue.add(.claim(sampleTransaction()))
        storage.fault = MemoryStorage.diskFull
        await queue.send()
        #expect(await queue.recorded.count == 1)
        await queue.stop()
        storage.fault = nil
        await queue.start {}
        #expect(await queue.recorded.count == 1)
        await queue.stop()
    }

    // row 8.1
    @Test func `waits twice as long each time, moved at random, and as long as it is asked to`() {
        let backoff = Backoff()
        var last: Int64 = 0
        for attempts in 1...12 as ClosedRange<Int64> {
            let whole: Int64 = min(3_600_000, 2000 << (attempts - 1))
            for random in [0, 1, .max, 12_345_678_901] as [UInt64] {
                let pause = backoff.pause(after: attempts, asked: nil, random: random)
                #expect((whole / 2...whole).contains(pause), "\(attempts)")
            }
            let least = backoff.pause(after: attempts, asked: nil, random: 0)
            #expect(least >= last)
            last = least
        }
        #expect(backoff.pause(after: 1, asked: 86_400_000, random: 0) == 86_400_000)
        #expect(backoff.pause(after: .max, asked: nil, random: .max) <= 3_600_000)
        #expect(backoff.pause(after: .min, asked: nil, random: 0) >= 1000)
    }

    // row 8.1
    @Test func `tries again when its time has come, up to a limit, then by hand`() async throws {
        let (server, time) = (ScriptedServer(), HeldTime())
        var backoff = Backoff()
        backoff.attemptLimit = 3
        let queue = Self.queue(server, time, backoff: backoff)
        await queue.start { [weak queue] in await queue?.send() }
        server.answer("/purchases", ScriptedServer.problem(.busy, retryAfter: 100))
        await queue.add(.claim(sampleTransaction()))
        for attempt in 1...3 {
            await queue.send()
            #expect(await eventually { server.count("/purchases") == attempt })
            // Control: before its time, nothing is sent.
            await queue.send()
            #expect(server.count("/purchases") == attempt)
            if attempt < 3 {
                let next = noon.plus(seconds: Int64(attempt) * 100)
                #expect(await eventually { time.alarms.contains(next) })
                time.pass(to: next)
            }
        }
        #expect(await eventually { await queue.calls.first?.phase == .attention })
        server.answer("/purchases", nil)
        await queue.send()
        #expect(server.recorded.isEmpty, "it waits for somebody")
        await queue.retry()
        await queue.send()
        #expect(server.recorded.map(\.value.count) == [1])
        let keys = Set(
            server.requests.compactMap { $0.headers["Idempotency-Key"] }.map { Name($0) }
        )
        #expect(keys.count == 1, "one key, however often")
        await queue.stop()
    }

    // row 3.5: in order for each purchase
    @Test func `sends what belongs to one purchase in its order, and others past what waits`()
        async throws
    {
        let (server, time) = (ScriptedServer(), HeldTime())
        let queue = Self.queue(server, time)
        func period(_ id: String, of original: String) -> StoreTransaction {
            StoreTransaction(
                id: id,
                originalID: original,
                productID: "pro.month",
                expiresAt: nil,
                signed: "signed-" + id
            )
        }
        server.answer("/purchases", ScriptedServer.problem(.internal))
        await queue.add(.claim(period("1", of: "1")))
        await queue.send()
        server.answer("/purchases", nil)
        await queue.add(.claim(period("2", of: "1")))
        await queue.add(.claim(period("3", of: "3")))
        await queue.send()
        #expect(server.recorded.keys.map(\.text) == ["signed-3"])
        time.pass(to: noon.plus(seconds: 10))
        await queue.send()
        let sent = server.requests.compactMap { request in
            request.body.flatMap { try? JSONValue(parsing: $0) }?["signedTransaction"]?.string
        }
        #expect(sent == ["signed-1", "signed-3", "signed-1", "signed-2"])
    }

    // row CL5
    @Test func `whose token is refused keeps what it has`() async throws {
        let (server, time) = (ScriptedServer(), HeldTime())
        let queue = Self.queue(server, time)
        server.isTokenRefused = true
        await queue.add(.claim(sampleTransaction()))
        await queue.send()
        #expect(await queue.calls.map(\.phase) == [.waiting])
        server.isTokenRefused = false
        time.pass(to: noon.plus(days: 1))
        await queue.send()
        #expect(server.recorded.count == 1)
    }

    @Test func `with a full disk sends from memory, and says so`() async throws {
        let (server, time) = (ScriptedServer(), HeldTime())
        let storage = MemoryStorage()
        let queue = Self.queue(server, time, storage: storage)
        server.isAway = true
        storage.fault = MemoryStorage.diskFull
        await queue.add(.claim(sampleTransaction("1")))
        storage.fault = nil
        // The next write brings all that was missed.
        await queue.add(.claim(sampleTransaction("2")))
        let file = QueueFile(try #require(storage[.queue]))
        #expect(file.calls.flatMap(\.transactions).map(\.id) == ["1", "2"])
        #expect(!file.isTorn && !file.isDamaged)
        server.isAway = false
        time.pass(to: noon.plus(days: 1))
        await queue.send()
        #expect(server.recorded.count == 2)
    }

    // A server that was restored to less has lost what it said that it recorded.
    @Test func `hands in again what its server does not hold any more`() async throws {
        let (server, time) = (ScriptedServer(), HeldTime())
        let queue = Self.queue(server, time)
        await queue.start {}
        await queue.add(.claim(sampleTransaction()))
        await queue.send()
        let (ids, size) = (await queue.recorded, try #require(await queue.recordedSize))
        let asked = server.count("/purchases")
        // The control: what it holds is not sent again.
        await queue.sendAgain(above: size)
        await queue.send()
        #expect(server.count("/purchases") == asked && asked > 0)
        await queue.settle(ids, seenAt: size - 1)
        #expect(await queue.recorded == ids)
        await queue.sendAgain(above: size - 1)
        #expect(await queue.recorded.isEmpty)
        await queue.send()
        #expect(server.count("/purchases") == asked + 1)
        #expect(server.recorded.values.map(\.count) == [1], "under the key that it had")
        await queue.settle(ids, seenAt: size)
        #expect(await queue.calls.isEmpty)
        await queue.stop()
    }

    @Test func `does not grow with what is done`() async throws {
        let (server, time) = (ScriptedServer(), HeldTime())
        let storage = MemoryStorage()
        let queue = Self.queue(server, time, storage: storage)
        for number in 0..<500 {
            await queue.add(.claim(sampleTransaction("\(number)")))
            await queue.send()
            await queue.settle(await queue.recorded, seenAt: .max)
        }
        #expect(server.recorded.count == 500)
        #expect(storage[.queue]?.count ?? .max < 200_000)
        #expect(QueueFile(storage[.queue] ?? []).calls.isEmpty)
    }

    // Few large lines would fill the file up to what is read of it, for good.
    @Test func `does not grow with large restores that are done, however often it begins again`()
        async throws
    {
        let (server, time, storage) = (ScriptedServer(), HeldTime(), MemoryStorage())
        let large = StoreTransaction(
            id: "1",
            originalID: "1",
            productID: "pro.month",
            expiresAt: nil,
            signed: String(repeating: "s", count: 32 << 10)
        )
        var largest = 0
        for _ in 0..<6 {
            let queue = Self.queue(server, time, storage: storage)
            await queue.start {}
            for _ in 0..<10 {
                await queue.add(.restore([large]))
                await queue.send()
                await queue.settle(await queue.recorded, seenAt: .max)
                largest = max(largest, storage[.queue]?.count ?? 0)
            }
            #expect(await queue.calls.isEmpty)
            await queue.stop()
        }
        #expect(server.count("/restore") == 60)
        #expect(largest < 1 << 20)
    }

    // row 3.4: what was bought while the clock was a year ahead is refunded
    @Test func `lets nothing outlive a refund that was verified by a clock ahead`() async {
        let time = HeldTime(noon.plus(days: 365))
        let queue = Self.queue(ScriptedServer(), time)
        await queue.add(.claim(sampleTransaction(expiresAt: nil)))
        // The control: by that clock it is open for long.
        #expect(await queue.provisional().contains { $0.until > noon.plus(days: 365) })
        time.pass(to: noon)
        await queue.add(.claim(sampleTransaction(expiresAt: noon)))
        #expect(await !queue.provisional().contains { $0.until > noon })
    }
}
