import DurableFiles
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerOperations
import StoreSimulator
import Stores
import Synchronization
import Testing

@testable import LedgerServer

/// A server that loads products by itself (rows 1.1, 1.3, 1.5).
struct `A server's own loads of products` {
    /// What RevenueCat answers; nil: nothing at all.
    private final class Answers: Sendable {
        let text = Mutex<String?>(nil)
        /// Where they are kept.
        let path: String

        init(keptAt path: String) { self.path = path }

        static let products = """
            {"object":"list","next_page":null,"items":[{"id":"prod1","display_name":"Pro",
              "store_identifier":"com.example.app.pro.month","app":{"type":"app_store"}}]}
            """
        static let busy = "busy"
        /// How often it was asked.
        let asked = Mutex(0)
        /// How often Google was.
        let askedOfPlay = Mutex(0)

        static let none = #"{"object":"list","items":[],"next_page":null}"#
    }

    private static func with(
        andPlay withPlay: Bool = false,
        _ body: @escaping @Sendable (TestServer, ProductRefresh, Answers) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "products-" + UUID().uuidString).path
        try DurableFile.makeFolder(folder)
        // A folder for temporary files is emptied by itself.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let answers = Answers(keptAt: folder + "/products/revenuecat.json")
        let now = noon
        var setup = TestServer.Setup()
        setup.stores.clients.revenueCat = RevenueCatAPI(
            key: Array("sk_0123456789abcdef".utf8),
            projectID: "proj1",
            caller: StoreCaller(
                { request in
                    answers.asked.withLock { $0 += 1 }
                    guard let text = answers.text.withLock({ $0 }) else { return nil }
                    if text == Answers.busy {
                        return StoreResponse(status: 429, headers: ["retry-after": "36000"])
                    }
                    let isList = request.url.contains("/products?")
                    let body = isList ? text : Answers.none
                    return StoreResponse(status: 200, body: Array(body.utf8))
                },
                clock: { now },
                sleep: { _ in },
                random: { 0 }
            ),
            clock: { now }
        )
        let account = try SimulatedPlayAPI().serviceAccount
        if withPlay {
            setup.stores.clients.playStore = StoreClients.PlayStore(
                api: PlayDeveloperAPI(
                    try #require(ServiceAccount(json: account)),
                    caller: StoreCaller(
                        { _ in
                            answers.askedOfPlay.withLock { $0 += 1 }
                            return StoreResponse(status: 401)
                        },
                        clock: { now },
                        sleep: { _ in },
                        random: { 0 }
                    ),
                    clock: { now }
                ),
                configuration: PlayConfiguration(packageNames: ["com.example.app"])
            )
        }
        setup.adjust = { $0.products = KeptProducts(ofLedgerAt: folder) }
        try await TestServer.with(setup) { server in
            try server.publishCatalog()
            let load = ProductLoad(
                ProductFiles(ofLedgerAt: folder),
                clock: { server.clock.now }
            )
            let refresh = ProductRefresh(
                service: server.service,
                schedule: LedgerServer.ProductSchedule(load)
            )
            try await body(server, refresh, answers)
        }
    }

    private static func names(_ server: TestServer) async throws -> [String] {
        let answer = try await server.get("/v1/offerings")
        return (answer.json["products"]?.array ?? [])
            .flatMap { $0["metadata"]?.array ?? [] }.compactMap { $0["name"]?.string }
    }

    @Test func `show in offerings, and stay where a later one fails`() async throws {
        try await Self.with { server, refresh, answers in
            answers.text.withLock { $0 = Answers.products }
            let before = try server.ledger.questions.size()
            await refresh.load()
            #expect(try await Self.names(server) == ["Pro"])
            #expect(try server.ledger.questions.size() == before, "what went well is no event")
            for (text, code) in [(nil, "unavailable"), (Answers.none, "empty"), ("<", "malformed")]
            {
                answers.text.withLock { $0 = text }
                let size = try server.ledger.questions.size()
                await refresh.load()
                #expect(try await Self.names(server) == ["Pro"])
                #expect(try server.ledger.questions.size() == size + 1, "failure.recorded")
                #expect(server.log.all.contains { $0.contains("not loaded") && $0.contains(code) })
            }
        }
    }

    @Test func `tell of what is kept and damaged, and mend it`() async throws {
        try await Self.with { server, refresh, answers in
            answers.text.withLock { $0 = Answers.products }
            await refresh.load()
            func isTold() -> Bool { server.log.all.contains { $0.contains("are damaged") } }
            await refresh.load()
            #expect(!isTold(), "the control")
            try DurableFile.replace(answers.path, with: Array("{".utf8))
            #expect(try await Self.names(server) == [])
            await refresh.load()
            #expect(isTold())
            #expect(try await Self.names(server) == ["Pro"])
        }
    }

    @Test func `note nothing where the server stops meanwhile`() async throws {
        try await Self.with { server, refresh, _ in
            let before = try server.ledger.questions.size()
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                await refresh.load()
            }
            task.cancel()
            await task.value
            #expect(try server.ledger.questions.size() == before)
            await refresh.load()
            #expect(try server.ledger.questions.size() == before + 1, "the control")
        }
    }

    @Test func `ask nobody where no store can be asked`() async throws {
        try await TestServer.with { server in
            let folder = "/nonexistent"
            let load = ProductLoad(ProductFiles(ofLedgerAt: folder), clock: { server.clock.now })
            let refresh = ProductRefresh(
                service: server.service,
                schedule: LedgerServer.ProductSchedule(load)
            )
            await refresh.load()
            #expect(server.log.all.isEmpty)
        }
    }

    @Test func `ask one store while another wants to be left alone`() async throws {
        try await Self.with(andPlay: true) { server, refresh, answers in
            func asked() -> (revenueCat: Int, play: Int) {
                (answers.asked.withLock(\.self), answers.askedOfPlay.withLock(\.self))
            }
            answers.text.withLock { $0 = Answers.busy }
            await refresh.load()
            let first = asked()
            #expect(first.revenueCat == 1 && first.play > 0)
            await refresh.load()
            let second = asked()
            #expect(second.revenueCat == 1 && second.play > first.play)
        }
    }

    // The other way round: who answered is not asked again because another did not.
    @Test func `come again from those that failed alone, before their time`() async throws {
        try await Self.with(andPlay: true) { server, refresh, answers in
            func asked() -> (revenueCat: Int, play: Int) {
                (answers.asked.withLock(\.self), answers.askedOfPlay.withLock(\.self))
            }
            var job = refresh
            answers.text.withLock { $0 = Answers.products }
            #expect(await job.run() == .failed())
            let first = asked()
            #expect(first.revenueCat > 0 && first.play > 0)
            _ = await job.run()
            let second = asked()
            #expect(second.revenueCat == first.revenueCat && second.play > first.play)
            let hours = job.interval.microseconds / 1000
            server.clock.now = server.clock.now.advanced(byMilliseconds: hours)
            _ = await job.run()
            #expect(asked().revenueCat > second.revenueCat)
        }
    }
}
