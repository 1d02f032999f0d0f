import DurableFiles
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import Stores
import Testing

@testable import LedgerOperations

/// What is loaded of stores' products, and what is kept where a load fails (rows 1.1, 1.4, 1.5).
struct `Loading products` {
    private static let now = Instant(milliseconds: 1_767_225_600_000)

    private static func file(_ ids: String..., price: String = "4.99") -> [UInt8] {
        let products = ids.map {
            """
            {"productID":"\($0)","type":"NonConsumable","displayPrice":"\(price)",
             "localizations":[{"locale":"en_US","displayName":"Name of \($0)"}]}
            """
        }
        return Array(#"{"products":[\#(products.joined(separator: ","))]}"#.utf8)
    }

    private struct Place {
        var path: String
        var files: ProductFiles { ProductFiles(ofLedgerAt: path) }

        func load(_ bytes: [UInt8], at now: Instant = now) throws -> ProductFault.Code? {
            try ProductLoad(files, clock: { now }).load(storeKitFile: bytes).fault?.code
        }

        var document: ProductDocument? {
            if case .whole(let document) = files.kept(of: .appStore) { document } else { nil }
        }

        var isDamaged: Bool {
            if case .damaged = files.kept(of: .appStore) { true } else { false }
        }

        var keptPath: String { path + "/products/app_store.json" }
    }

    private static func with(_ body: (Place) throws -> Void) throws {
        try withTemporaryFolder { try body(Place(path: $0)) }
    }

    // row 1.4
    @Test func `keeps them with the time`() throws {
        try Self.with { place throws in
            #expect(place.document == nil && !place.isDamaged)
            #expect(try place.load(Self.file("life", "coins")) == nil)
            let document = try #require(place.document)
            #expect(document.products.map(\.id) == ["life", "coins"])
            #expect(document.loadedAt == Self.now && document.origin == .storeKitFile)
            #expect(place.files.fault(of: .appStore) == nil)
        }
    }

    // row 1.5
    @Test(arguments: [
        ("", ProductFault.Code.malformed), ("<html>", .malformed), (#"{"products":"#, .malformed),
        (#"{"products":[]}"#, .empty), (#"{"products":[{"productID":null}]}"#, .empty),
        (#"{"products":[],"subscriptionGroups":[{"subscriptions":[]}]}"#, .empty),
    ])
    func `keeps what was there where it fails, and says why`(
        text: String,
        code: ProductFault.Code
    ) throws {
        try Self.with { place throws in
            let failed = try place.load(Array(text.utf8))
            #expect(failed == code && place.document == nil, "nothing is kept in place of nothing")
            #expect(try place.load(Self.file("life")) == nil)
            #expect(place.files.fault(of: .appStore) == nil, "it is over")
            let kept = try #require(place.document)
            let later = Self.now.advanced(byMilliseconds: 1000)
            #expect(try place.load(Array(text.utf8), at: later) == code)
            #expect(place.document == kept)
            let fault = try #require(place.files.fault(of: .appStore))
            #expect(fault.at == later && fault.code == code && !fault.detail.isEmpty)
            // The control: what is whole does replace it.
            #expect(try place.load(Self.file("coins"), at: later) == nil)
            #expect(place.document?.products.map(\.id) == ["coins"])
        }
    }

    @Test func `believes no file that is not as it was written`() throws {
        try Self.with { place throws in
            #expect(try place.load(Self.file("life")) == nil)
            let bytes = try #require(try DurableFile.read(place.keptPath))
            let text = String(decoding: bytes, as: UTF8.self)
            let cheaper = text.replacing("4990000", with: "4990")
            #expect(cheaper != text)
            for damaged in [
                cheaper, String(text.dropLast(20)), "", "{}", "null", "[]",
                text.replacing("\"digest\":\"", with: "\"digest\":\"0"),
                text.replacing("\"source\":\"app_store\"", with: "\"source\":\"play_store\""),
            ] {
                try DurableFile.replace(place.keptPath, with: Array(damaged.utf8))
                #expect(place.isDamaged, "\(damaged.prefix(40))")
            }
            try DurableFile.replace(place.keptPath, with: bytes)
            #expect(!place.isDamaged && place.document != nil, "the control")
            DurableFile.remove(place.keptPath)
            try DurableFile.makeFolder(place.keptPath)
            #expect(place.isDamaged, "a folder stands there")
        }
    }

    @Test func `goes over a damaged file`() throws {
        try Self.with { place throws in
            #expect(try place.load(Self.file("life")) == nil)
            try DurableFile.replace(place.keptPath, with: [1])
            #expect(try place.load(Self.file("life")) == nil && place.document != nil)
        }
    }

    // row 1.3
    @Test func `asks the stores that can be asked, and notes who did not tell`() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "products-" + UUID().uuidString).path
        try DurableFile.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let now = Self.now
        let place = Place(path: folder)
        let loader = ProductLoad(place.files, clock: { now })
        func clients(_ answer: String?) -> StoreClients {
            let caller = StoreCaller(
                { request in
                    guard let answer, request.url.contains("/products") else {
                        let list = #"{"object":"list","items":[],"next_page":null}"#
                        return answer.map { _ in
                            StoreResponse(status: 200, body: Array(list.utf8))
                        }
                    }
                    return StoreResponse(status: 200, body: Array(answer.utf8))
                },
                clock: { now },
                sleep: { _ in },
                random: { 0 }
            )
            return StoreClients(
                revenueCat: RevenueCatAPI(
                    key: Array("sk_0123456789abcdef".utf8),
                    projectID: "proj1",
                    caller: caller,
                    clock: { now }
                )
            )
        }
        let told = """
            {"object":"list","next_page":null,"items":[
              {"id":"prod1","store_identifier":"pro","display_name":"Pro","app":{"type":"app_store"}}]}
            """
        let pool = DispatchPool()
        let first = try await loader.load(clients(told), pool: pool)
        #expect(first.map(\.source) == [.revenueCat] && first.allSatisfy { $0.fault == nil })
        let away = try await loader.load(clients(nil), pool: pool)
        #expect(away.compactMap(\.fault?.code) == [.unavailable])
        let none = try await loader.load(
            clients(#"{"object":"list","items":[],"next_page":null}"#),
            pool: pool
        )
        #expect(none.compactMap(\.fault?.code) == [.empty])
        guard case .whole(let kept) = place.files.kept(of: .revenueCat) else {
            Issue.record("nothing is kept")
            return
        }
        #expect(kept.products.map(\.id) == ["pro"])
        #expect(try await loader.load(clients(told), only: .playStore, pool: pool).isEmpty)
        #expect(try await loader.load(StoreClients(), pool: pool).isEmpty)
    }

    // row 1.5: an error event
    @Test func `records in the log that it failed`() throws {
        try FileLedger.with { ledger throws in
            let place = Place(path: ledger.path)
            let now = Self.now
            let outcome = try ProductLoad(place.files, clock: { now })
                .load(storeKitFile: Array("{}".utf8))
            let before = try ledger.size()
            try ledger.open { open in
                try ProductLoad.record([outcome], id: "one", in: open)
                try ProductLoad.record([outcome], id: "one", in: open)
                try ProductLoad.record(
                    [ProductLoad.Outcome(source: .playStore, fault: nil)],
                    id: "two",
                    in: open
                )
            }
            #expect(try ledger.size() == before + 1)
        }
    }
}
