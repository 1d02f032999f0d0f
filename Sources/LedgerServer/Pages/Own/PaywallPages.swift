import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Presentation

/// What is sold, to a customer who came in (rows 4.4, 5.1 to 5.6).
///
/// Strangers see no offers here, as they see none at `/v1/offerings`.
extension PageTable {
    static let paywallPages: [Route] = [
        .ownPage(
            "/paywall",
            "showPaywall",
            "What is sold, at large.",
            parameters: paywallParameters,
            paywall
        ),
        .ownPage(
            "/paywall/{feature}",
            "showFeaturePaywall",
            "What is sold where a feature's gate is closed (row 4.4).",
            parameters: paywallParameters,
            paywall
        ),
    ]

    private static let paywallParameters = [
        Route.Parameter(
            name: "storefront",
            text: "The country of prices (default: that of the last purchase)",
            shape: .pattern(Storefront.pattern)
        ),
        Route.Parameter(
            name: "store",
            text: "Whose prices are shown, such as app_store (default: the first that says one)"
        ),
    ]

    @Sendable
    private static func paywall(
        _ call: Call,
        _ owner: CustomerID,
        _ service: LedgerService
    ) async throws -> Answer {
        let question = try call.ownQuestion(owner)
        let (language, feature) = (call.language, call.path[.feature])
        let asked = try call.storefront()
        let viewer = CatalogViewer(customer: owner, environment: question.environment)
        let (offering, state, purchases, catalog, text) = try await service.blocking {
            let purchases = try service.ledger.questions.purchases(of: question).answer.purchases
            let shown = ShownOffering(
                feature: feature,
                locale: language.tag,
                storefront: asked ?? purchases.lastStorefront
            )
            let size = try service.ledger.questions.size()
            return (
                // Row B7: as the customer's variant has it.
                try service.offering(shown, at: question.point, for: viewer),
                try service.ledger.questions.show(question).answer.state, purchases,
                try service.ledger.questions.catalogHistory(size: size)
                    .catalog(at: question.point.at),
                try service.soldText(language, at: question.point)
            )
        }
        let frame = call.ownFrame(nil)
        var body = XMLText()
        PaywallPage(
            text: text,
            offering: offering,
            state: state,
            owned: purchases.filter(\.isOpen).compactMap { purchase in
                purchase.state.productID.flatMap {
                    catalog?.product($0, in: purchase.store)?.id
                }
            },
            store: call.query[.store],
            isNew: !purchases.contains { $0.state.productKind == .autoRenewable },
            links: service.pageLinks,
            frame: frame
        )
        .write(to: &body)
        return try call.answer(
            OwnPage(
                title: PaywallWords.title[language],
                frame: frame,
                body: body,
                json: AnswerText(offering).bytes,
                isNarrow: true
            )
        )
    }
}

extension OwnedPurchase {
    /// The store that sold it.
    fileprivate var store: String { String(state.purchase.prefix { $0 != "/" }) }

    /// Whether it gives what it was bought for.
    fileprivate var isOpen: Bool { state.status == .active || state.status == .grace }
}

extension [OwnedPurchase] {
    /// The country of the last charge that says one; nil: none does.
    fileprivate var lastStorefront: Storefront? {
        flatMap(\.periods).filter { $0.storefront != nil }
            .max { $0.startsAt < $1.startsAt }?.storefront.flatMap { Storefront($0) }
    }
}
