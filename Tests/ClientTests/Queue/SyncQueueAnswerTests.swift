import Encodings
import Entitlements
import LedgerAPI
import Synchronization
import Testing

@testable import EntitlementClient

/// What the server says of what was handed in, and what the store is told then (row ES5).
struct `An answer to what was handed in` {
    /// The ids of what a store was told, in its order.
    private final class Finished: Sendable {
        private let list = Mutex<[String]>([])
        func add(_ transaction: StoreTransaction) {
            list.withLock { $0.append(transaction.id) }
        }
        var ids: [String] { list.withLock(\.self) }
    }

    private static func queue(
        _ server: ScriptedServer,
        _ time: HeldTime,
        storage: MemoryStorage = MemoryStorage(),
        notices: Broadcast<ClientNotice> = Broadcast(.bufferingNewest(1)),
        finish: @escaping @Sendable (StoreTransaction) async -> Void
    ) -> SyncQueue {
        SyncQueue(
            SnapshotAuthority.customer,
            storage: storage,
            connection: ServerConnection(
                url: "https://ledger.test",
                transport: server.transport,
                time: time.time,
                token: { "token" }
            ),
            time: time.time,
            notices: notices,
            finish: finish
        )
    }

    /// An answer that tells a size of the log, as those to questions do.
    private static func answer(_ body: String) -> ClientResponse {
        ClientResponse(status: 200, headers: ["ledger-sequence": "8"], body: Array(body.utf8))
    }

    // What became a question on its way is answered, and has recorded nothing.
    @Test(
        arguments: [
            (#"{"outcome":"recorded","purchase":"app_store/1","sequence":7}"#, true),
            (#"{"outcome":"known","purchase":"app_store/1","sequence":null}"#, true),
            (#"{"outcome":"refused","purchase":null,"sequence":null}"#, false),
            (#"{"outcome":"of another kind"}"#, false),
            (#"{"purchases":[{"purchase":"app_store/1"}]}"#, false),
            (#"[{"purchase":"app_store/1"}]"#, false),
            (#"{"outcome":"recorded","purchase":"app_st"#, false),
        ] as [(String, Bool)]
    )
    func `finishes a purchase where it says what became of it`(
        _ body: String,
        _ isRecorded: Bool
    ) async {
        let (server, time, finished) = (ScriptedServer(), HeldTime(), Finished())
        let queue = Self.queue(server, time) { finished.add($0) }
        await queue.start {}
        server.answer("/purchases", Self.answer(body))
        await queue.add(.claim(sampleTransaction()))
        await queue.send()
        let phase: QueuedCall.Phase = isRecorded ? .recorded : .waiting
        #expect(await queue.calls.map(\.phase) == [phase])
        #expect(finished.ids == (isRecorded ? ["1"] : []))
        server.answer("/purchases", nil)
        time.pass(to: noon.plus(days: 1))
        await queue.send()
        #expect(finished.ids == ["1"])
        await queue.stop()
    }

    // row 6.6: cut off on its way, or of another restore
    @Test(arguments: ["", #"{"recorded":1,"items":[{"outcome":"rec"#, #"{"items":[]}"#])
    func `refuses nothing of a restore where it does not say what became of each`(
        _ body: String
    ) async {
        let (server, time, finished) = (ScriptedServer(), HeldTime(), Finished())
        let queue = Self.queue(server, time) { finished.add($0) }
        await queue.start {}
        server.answer("/restore", Self.answer(body))
        await queue.add(.restore([sampleTransaction()]))
        await queue.send()
        #expect(await queue.calls.map(\.phase) == [.waiting])
        #expect(await queue.refused.isEmpty && finished.ids.isEmpty)
        server.answer("/restore", nil)
        time.pass(to: noon.plus(days: 1))
        await queue.send()
        #expect(finished.ids == ["1"])
        await queue.stop()
    }

    // A newer server may say it in a word of its own.
    @Test func `leaves to a claim of its own what it says in a word that is not known`() async {
        let (server, time, finished) = (ScriptedServer(), HeldTime(), Finished())
        let notices = Broadcast<ClientNotice>(.unbounded)
        let stream = notices.stream()
        let queue = Self.queue(server, time, notices: notices) { finished.add($0) }
        await queue.start {}
        let items = ["recorded", "of another kind", "known"]
            .map { #"{"outcome":"\#($0)","purchase":null,"sequence":null}"# }
            .joined(separator: ",")
        server.answer("/restore", Self.answer(#"{"items":[\#(items)]}"#))
        await queue.add(.restore(["1", "2", "3"].map { sampleTransaction($0) }))
        await queue.send()
        #expect(finished.ids == ["1", "3", "2"])
        #expect(server.count("/purchases") == 1)
        // Nothing was told before this.
        notices.send(.unverifiedTransaction)
        #expect(await stream.first { _ in true } == .unverifiedTransaction)
        await queue.stop()
    }

    // A store that does not return would hold up every other purchase for good.
    @Test func `is not waited for where the store does not return`() async throws {
        let (server, time, finished) = (ScriptedServer(), HeldTime(), Finished())
        let storage = MemoryStorage()
        let (silence, end) = AsyncStream.makeStream(of: Void.self)
        let queue = Self.queue(server, time, storage: storage) { transaction in
            if transaction.id == "1" { for await _ in silence {} }
            finished.add(transaction)
        }
        await queue.start {}
        for id in ["1", "2"] { await queue.add(.claim(sampleTransaction(id))) }
        let sent = Task { await queue.send() }
        let patience = noon.advanced(byMilliseconds: SyncQueue.patience)
        #expect(await eventually { time.alarms.contains(patience) })
        #expect(server.recorded.count == 1, "the control: it is waited for")
        time.pass(to: patience)
        await sent.value
        #expect(server.recorded.count == 2)
        // Of each call the store is told once.
        await queue.send()
        #expect(await eventually { await queue.calls.map(\.isFinished) == [false, true] })
        #expect(finished.ids == ["2"])
        // A program that begins anew tells it again.
        let kept = QueueFile(try #require(storage[.queue])).calls
        #expect(kept.map(\.isFinished) == [false, true])
        end.finish()
        #expect(await eventually { await queue.calls.allSatisfy(\.isFinished) })
        #expect(finished.ids == ["2", "1"])
        await queue.stop()
    }

    /// Sells what another does, and does not return from a finishing until it is let.
    private struct SilentShop: PurchaseServicing {
        let shop: ScriptedPurchases
        let silence: AsyncStream<Void>

        func products(for ids: [String]) async throws(ServiceError) -> [SoldProduct] {
            try await shop.products(for: ids)
        }
        func purchase(_ productID: String, for customer: CustomerID) async -> PurchaseResult {
            await shop.purchase(productID, for: customer)
        }
        var transactions: AsyncStream<TransactionUpdate> { shop.transactions }
        func currentEntitlements() async -> [StoreTransaction] { await shop.currentEntitlements() }
        func finish(_ transaction: StoreTransaction) async {
            for await _ in silence {}
            await shop.finish(transaction)
        }
    }

    // row 3.4: the server's answer replaces what only the store has opened, also where it is not finished
    @Test func `counts while the store does not return`() async throws {
        var setup = ServiceSetup()
        let (silence, end) = AsyncStream.makeStream(of: Void.self)
        setup.store = SilentShop(shop: setup.shop, silence: silence)
        let (service, time) = (setup.service(), setup.time)
        await service.start()
        let flow = await service.purchase("pro.month") { true }
        let patience = noon.advanced(byMilliseconds: SyncQueue.patience)
        #expect(await eventually { time.alarms.contains(patience) })
        time.pass(to: patience)
        #expect(await flow.end() == .done(isRecorded: true))
        #expect(service.gate.decision("export").source == .server)
        // It was given back.
        setup.server.set(until: noon, at: patience, sequence: 8)
        await service.retry()
        #expect(!service.gate.isOpen("export"))
        #expect(setup.shop.finished.isEmpty, "the control")
        end.finish()
        #expect(await eventually { await service.queue.calls.allSatisfy(\.isFinished) })
        await service.retry()
        #expect(await service.queue.calls.isEmpty && setup.shop.finished.count == 1)
        await service.stop()
    }
}
