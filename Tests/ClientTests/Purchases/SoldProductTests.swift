import Entitlements
import LedgerAPI
import Synchronization
import Testing

@testable import EntitlementClient

/// What is on sale, as an app shows it.
struct `What is on sale` {
    private static let sold = SoldProduct(id: "pro.month", name: "Pro", price: "4.99")

    // rows 1.4, 1.5: kept for whoever signs in, since it is nobody's
    @Test func `is what was loaded last where the store is not reached, with its age`() async throws
    {
        let price = Mutex<String?>("4.99")
        var setup = ServiceSetup()
        setup.store = SimulatedPurchases(
            url: "http://store.test",
            account: "ann",
            transport: { _ in
                guard let said = price.withLock(\.self) else { return nil }
                let text = #"{"products":[{"id":"pro.month","name":"Pro","price":"\#(said)"}]}"#
                return ClientResponse(status: 200, body: Array(text.utf8))
            }
        )
        let service = setup.service()
        let ids = ["pro.month", "pro.life"]
        #expect(try await service.products(for: ids) == [Self.sold])
        await service.switchCustomer(to: nil)
        // The program begins anew, without a network.
        price.withLock { $0 = nil }
        setup.time.pass(to: noon.plus(seconds: 60))
        let again = setup.service()
        var notices = again.notices.makeAsyncIterator()
        var kept = Self.sold
        kept.asOf = noon
        #expect(try await again.products(for: ids) == [kept])
        let error = ServiceError(.networkError)
        #expect(await notices.next() == .productsKept(error))
        await #expect(throws: error) { try await again.products(for: ["pro.life"]) }
        // The store is asked anew each time.
        price.withLock { $0 = "5.99" }
        let loaded = try await again.products(for: ids)
        #expect(loaded.map(\.price) == ["5.99"] && loaded.map(\.asOf) == [nil])
    }

    // row 1.4: a price is shown to people
    @Test func `is nothing that a changed file says`() throws {
        let storage = MemoryStorage()
        let cache = OfflineCache(storage: storage, notices: Broadcast(.bufferingNewest(1)))
        cache.keep([Self.sold], of: [Self.sold.id], at: noon)
        let good = try #require(storage[.products])
        // The last byte ends the line.
        for place in good.indices.dropLast() {
            var changed = good
            changed[place] ^= 1
            storage[.products] = changed
            #expect(cache.products() == [], "byte \(place)")
            #expect(storage.aside(.products) == changed)
        }
        storage[.products] = good
        #expect(cache.products().map(\.id) == ["pro.month"], "the control")
        // row 1.5: what the store does not speak of stays.
        cache.keep([], of: ["pro.month"], at: noon.plus(days: 1))
        #expect(cache.products().map(\.asOf) == [noon])
        let other = SoldProduct(id: "pro.life", name: "Life", price: "49.99")
        cache.keep([other], of: ["pro.life"], at: noon.plus(days: 1))
        #expect(cache.products().map(\.id) == ["pro.month", "pro.life"])
    }
}
