import Encodings

extension PlayDeveloperAPI {
    /// Entries of a page: each has a price for every country, and a page may have
    /// ``StoreCaller/bodyByteLimit``.
    private static let productsOnPage = 5

    /// What Google Play sells of an app (row 1.1): subscriptions with their offers, and one-time products.
    ///
    /// Cost: a question for each five of each. Of an account that may view app information.
    ///
    /// - Throws: `StoreFault`; nothing is told by halves.
    package func products(of packageName: String) async throws(StoreFault) -> ReadProducts {
        var products = PlayProducts()
        var pages = self.pages("subscriptions", of: packageName)
        while let page = try await pages.next() { products.add(subscriptions: page) }
        pages = self.pages("oneTimeProducts", of: packageName)
        while let page = try await pages.next() { products.add(oneTimeProducts: page) }
        // Of all subscriptions and plans at once.
        pages = self.pages("subscriptions/-/basePlans/-/offers", of: packageName)
        while let page = try await pages.next() { products.add(offers: page) }
        return products.read
    }

    private func pages(_ list: String, of packageName: String) -> StorePages {
        StorePages(continuedAt: { page in
            let token = page["nextPageToken"]?.string ?? ""
            return token.isEmpty ? .over : .at(token)
        }) { [self] last in
            var path = list + "?pageSize=\(Self.productsOnPage)"
            if let token = last?["nextPageToken"]?.string {
                path += "&pageToken=" + token.pathSegment
            }
            do throws(StoreFault) {
                let body = try await get(packageName, path)
                // What is read here was read by `get`.
                return .success((try? JSONValue(parsingStoreText: body)) ?? .null)
            } catch {
                return .failure(error)
            }
        }
    }
}
