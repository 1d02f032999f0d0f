import DurableFiles
import Encodings
import Entitlements
import Foundation
import HTTPTypes
import LedgerOperations
import Testing

@testable import LedgerServer

/// What stores say of products, in an offering (rows 1.1, 1.3, 1.4).
struct `Products of stores over HTTP` {
    private static func file(_ price: String, _ name: String = "Pro") -> [UInt8] {
        Array(
            """
            {"products":[],"subscriptionGroups":[{"id":"g","subscriptions":[
              {"productID":"com.example.app.pro.month","type":"RecurringSubscription",
               "recurringSubscriptionPeriod":"P1M","displayPrice":"\(price)",
               "localizations":[{"locale":"en_US","displayName":"\(name)"},
                                {"locale":"de","displayName":"Profi"}],
               "introductoryOffer":{"paymentMode":"free","subscriptionPeriod":"P1W"}}]}]}
            """.utf8
        )
    }

    private static func with(
        _ body: @escaping @Sendable (TestServer, ProductLoad, _ folder: String) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "products-" + UUID().uuidString).path
        try DurableFile.makeFolder(folder)
        // A folder for temporary files is emptied by itself.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var setup = TestServer.Setup()
        setup.adjust = { $0.products = KeptProducts(ofLedgerAt: folder) }
        try await TestServer.with(setup) { server in
            try server.publishCatalog()
            let load = ProductLoad(
                ProductFiles(ofLedgerAt: folder),
                clock: { server.clock.now }
            )
            try await body(server, load, folder)
        }
    }

    @Test func `come with an offering, in a language and a country, with their age`() async throws {
        try await Self.with { server, load, _ in
            let none = try await server.get("/v1/offerings")
            #expect(none.json["products"]?.array?.first?["metadata"] == .array([]))
            #expect(try load.load(storeKitFile: Self.file("4.99")).fault == nil)
            let answer = try await server.get("/v1/offerings?locale=de&storefront=USA")
            #expect(answer.status == 200)
            let product = answer.json["products"]?.array?
                .first { $0["productId"]?.string == "com.example.app.pro.month" }
            let metadata = try #require(product?["metadata"]?.array?.first)
            #expect(metadata["name"]?.string == "Profi" && metadata["period"]?.string == "P1M")
            #expect(metadata["price"]?["priceMicros"] == .integer(4_990_000))
            #expect(metadata["price"]?["currency"]?.string == "USD")
            #expect(metadata["offers"]?.array?.first?["mode"]?.string == "free")
            #expect(metadata["ageSeconds"] == .integer(0))
            let elsewhere = try await server.get("/v1/offerings?storefront=FR")
            let there = elsewhere.json["products"]?.array?.compactMap {
                $0["metadata"]?.array?.first
            }
            #expect(there?.first?["price"] == .null)
            // What opens by each is the catalog's, which is the log's one event.
            let list = try await server.get("/v1/products")
            #expect(list.status == 200 && list.headers[.ledgerSequence] == "1")
        }
    }

    @Test func `are others once they are loaded again, and stay where that fails`() async throws {
        try await Self.with { server, load, folder in
            func price() async throws -> Int64? {
                let answer = try await server.get("/v1/offerings")
                let products = answer.json["products"]?.array ?? []
                return products.compactMap { $0["metadata"]?.array?.first?["price"] }
                    .first?["priceMicros"]?.integer
            }
            #expect(try load.load(storeKitFile: Self.file("4.99")).fault == nil)
            #expect(try await price() == 4_990_000)
            #expect(try load.load(storeKitFile: Self.file("5.99")).fault == nil)
            #expect(try await price() == 5_990_000)
            // row 1.5
            #expect(try load.load(storeKitFile: Array("{}".utf8)).fault != nil)
            #expect(try await price() == 5_990_000)
            let kept = folder + "/products/app_store.json"
            try DurableFile.replace(kept, with: Array("{".utf8))
            #expect(try await price() == nil, "what is damaged is not shown")
        }
    }

    @Test(arguments: ["", "U", "USAA", "ZZZ", "U1", "%C3%9CS"])
    func `take no country of another shape`(storefront: String) async throws {
        try await Self.with { server, _, _ in
            let answer = try await server.get("/v1/offerings?storefront=" + storefront)
            #expect(answer.status == 400 && answer.code == "invalid_value")
            #expect(answer.json["path"]?.string == "storefront")
            #expect(try await server.get("/v1/offerings?storefront=us").status == 200)
        }
    }
}
