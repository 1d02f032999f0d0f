import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations

/// What stores say of what they sell (rows 1.1 to 1.5).
extension RouteTable {
    static let productRoutes = [
        Route(
            method: .get,
            template: "/v1/products",
            operation: "listProducts",
            summary: "What stores last said of what they sell, and what the catalog opens by each.",
            access: .keys([.read, .support]),
            parameters: productParameters + [minimumSequence],
            answers: [productReply],
            problems: [.invalidValue, .notConfigured],
            handler: list
        ),
        Route(
            method: .post,
            template: "/v1/products/load",
            operation: "loadProducts",
            summary: "Asks the stores what they sell; one that does not tell it is told beside.",
            access: .keys([.admin]),
            parameters: productParameters,
            answers: [productReply],
            problems: [.invalidValue, .notConfigured, .readOnly, .storageFull],
            isLong: true,
            handler: load
        ),
    ]

    private static let productParameters = [
        Route.Parameter(
            name: "store",
            text: "Only what it told (default: all)",
            shape: .choice(ProductSource.allCases.map(\.rawValue))
        ),
        localeParameter, storefrontParameter,
    ]

    private static let productReply = Route.Reply(
        status: 200,
        text: "As `products`",
        shape: .described(ProductsAnswer.self)
    )

    @Sendable
    private static func list(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let (source, view) = (try call.productSource(), try call.productView(at: service.clock()))
        try await service.require(call.minimumSequence())
        return try await service.products(only: source, view)
    }

    @Sendable
    private static func load(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let (source, view) = (try call.productSource(), try call.productView(at: service.clock()))
        guard !service.ledger.isReadOnly else { throw Problem(.readOnly) }
        guard let directory = service.directory else { throw Problem.noProducts }
        let outcomes = try await ProductLoad(
            ProductFiles(ofLedgerAt: directory),
            clock: service.clock
        ).load(service.stores.clients, only: source, pool: service)
        guard !outcomes.isEmpty else {
            throw Problem(
                .notConfigured,
                "no list of products of what was asked for is configured here"
            )
        }
        try await service.blocking {
            try ProductLoad.record(outcomes, id: service.makeID(), in: service.ledger)
        }
        return try await service.products(only: source, view)
    }
}

extension Problem {
    fileprivate static let noProducts = Problem(.notConfigured, "no products are kept here")
}

extension LedgerService {
    /// What is kept of products, with what the catalog in force opens by each.
    fileprivate func products(
        only source: ProductSource?,
        _ view: KeptProducts.View
    ) async throws -> Answer {
        guard let products else { throw Problem.noProducts }
        return try await blocking { [ledger] in
            let size = try ledger.questions.size()
            let history = try ledger.questions.catalogHistory(size: size)
            return Answer(
                try products.listing(history.catalog(at: view.now), only: source, view)
            ).at(size: size)
        }
    }
}

extension Call {
    fileprivate func productSource() throws(Problem) -> ProductSource? {
        guard let text = query[.store] else { return nil }
        guard let source = ProductSource(rawValue: text) else {
            throw Problem(.invalidValue, "expected a source of products", path: "store")
        }
        return source
    }

    fileprivate func productView(at now: Instant) throws(Problem) -> KeptProducts.View {
        KeptProducts.View(locale: try locale(), storefront: try storefront(), now: now)
    }
}
