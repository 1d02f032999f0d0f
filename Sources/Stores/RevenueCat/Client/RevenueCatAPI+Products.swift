import Encodings

extension RevenueCatAPI {
    /// What RevenueCat knows of what is sold, and its offerings (row 1.3).
    ///
    /// Cost: two questions, and one for each further page. Of a key that may read the project's products,
    /// apps and offerings.
    ///
    /// - Throws: `StoreFault`, `.rejected` where no project is configured; nothing is told by halves.
    package func products() async throws(StoreFault) -> RevenueCatProducts {
        guard let projectID else { throw StoreFault(.rejected) }
        let project = "/v2/projects/\(projectID.pathSegment)/"
        var products = RevenueCatProducts()
        for page in try await pages(project + "products?expand=items.app") {
            products.add(products: .members(["items": .array(page.items)]))
        }
        let offerings = project + "offerings?expand=items.package.product"
        for page in try await pages(offerings) {
            products.add(offerings: .members(["items": .array(page.items)]))
        }
        return products
    }
}
