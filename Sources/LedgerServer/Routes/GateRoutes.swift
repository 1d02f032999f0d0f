import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations

/// Gates and what is sold where they are closed.
extension RouteTable {
    static let gateRoutes = [
        Route(
            method: .get,
            template: "/v1/catalog/gates",
            operation: "readGates",
            summary: "What opens which gate, closed and complete: for an app to hold (row B6).",
            access: .anyCustomer([.read, .support]),
            parameters: [viewerParameter] + pointParameters,
            answers: replies(.named("GateMap")),
            problems: questionProblems + [.notFound],
            handler: gates
        ),
        Route(
            method: .get,
            template: "/v1/offerings",
            operation: "readOffering",
            summary: "What a paywall shows, at large or for a closed gate (row 4.4).",
            access: .anyCustomer([.read, .support]),
            parameters: [
                Route.Parameter(name: "feature", text: "The feature whose gate is closed"),
                localeParameter, storefrontParameter, viewerParameter,
            ] + pointParameters,
            answers: replies(.named("Offering")),
            problems: questionProblems + [.notFound, .unknownFeature],
            handler: offering
        ),
    ]

    static let localeParameter = Route.Parameter(
        name: "locale",
        text: "A language tag (BCP 47; default: en)",
        shape: .languageTag
    )

    static let storefrontParameter = Route.Parameter(
        name: "storefront",
        text: "The country of prices (ISO 3166-1; default: where there is one price)",
        shape: .pattern(Storefront.pattern)
    )

    private static let viewerParameter = Route.Parameter(
        name: "customer",
        text: "Whose experiments count (default: nobody's; by a customer's token: their own)",
        shape: .identifier
    )

    @Sendable
    private static func gates(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let (point, viewer) = (try call.point(), try call.viewer())
        try await service.require(call.minimumSequence())
        let (map, size) = try await service.looking(at: point) { ledger in
            try ledger.questions.gateMap(at: point, for: viewer)
        }
        guard let map else { throw Problem(.notFound, "no catalog was published yet") }
        return revalidated(Answer(map.json).at(size: size))
    }

    @Sendable
    private static func offering(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let (point, viewer) = (try call.point(), try call.viewer())
        let view = ShownOffering(
            feature: call.query[.feature],
            locale: try call.locale(),
            storefront: try call.storefront()
        )
        try await service.require(call.minimumSequence())
        let (shown, size) = try await service.looking(at: point) { _ in
            try service.offering(view, at: point, for: viewer)
        }
        let text = shown.jsonText
        let answer = Answer(bytes: text.bytes, mediaType: "application/json").at(size: size)
        return revalidated(answer, digest: ContentDigest.text(of: text.lasting))
    }

    /// An answer that is asked for again each time, by its tag.
    ///
    /// `digest`: of what lasts of an answer that echoes its question; nil: it echoes nothing.
    static func revalidated(_ answer: Answer, digest: String? = nil) -> Answer {
        var answer = answer
        answer.caching = .revalidated(digest: digest)
        return answer
    }
}

/// Which offering is asked for, and how it is shown.
struct ShownOffering: Sendable {
    /// Whose closed gate leads there; nil: at large.
    var feature: String?
    /// The language of texts; nil: English.
    var locale: LanguageTag?
    /// The country of prices; nil: where there is one price.
    var storefront: Storefront?
}

extension LedgerService {
    /// Looks at the ledger at a point where it may wait for the disk; with the size of a prefix of which no less
    /// was looked at.
    func looking<Result: Sendable>(
        at point: BitemporalPoint,
        _ body: @escaping @Sendable (Ledger) throws -> Result
    ) async throws -> (Result, size: UInt64) {
        try await blocking { [ledger] in
            let size = try ledger.questions.prefix(knownAt: point.knownAt)
            return (try body(ledger), size: size)
        }
    }

    /// What a paywall shows, with what the products' stores say as it is kept here (rows 1.1, 1.4, 4.4).
    ///
    /// - Throws: a problem where no catalog was published, or the one in force has no such feature.
    func offering(
        _ shown: ShownOffering,
        at point: BitemporalPoint,
        for viewer: CatalogViewer?
    ) throws -> OfferingAnswer {
        let noCatalog = Problem(.notFound, "no catalog was published yet")
        guard let map = try ledger.questions.gateMap(at: point, for: viewer) else {
            throw noCatalog
        }
        if let feature = shown.feature, map.features[feature] == nil {
            throw Problem(.unknownFeature, "the catalog in force has no such feature")
        }
        let found = try ledger.questions.offering(
            for: shown.feature,
            locale: shown.locale,
            at: point,
            for: viewer
        )
        guard var offering = found else { throw noCatalog }
        let view = KeptProducts.View(
            locale: shown.locale,
            storefront: shown.storefront,
            now: clock()
        )
        try products?.join(&offering, view)
        return offering
    }
}

extension Call {
    /// The language of texts; nil: not asked for.
    func locale() throws(Problem) -> LanguageTag? {
        guard let text = query[.locale] else { return nil }
        guard let tag = LanguageTag(text) else {
            throw Problem(
                .invalidValue,
                "expected a language tag of at most \(LanguageTag.byteLimit) bytes",
                path: "locale"
            )
        }
        return tag
    }

    /// The country of prices; nil: not asked for.
    func storefront() throws(Problem) -> Storefront? {
        guard let text = query[.storefront] else { return nil }
        guard let storefront = Storefront(text) else {
            throw Problem(
                .invalidValue,
                "expected a country of ISO 3166-1, of two letters or three",
                path: "storefront"
            )
        }
        return storefront
    }

    /// Whose experiments count; nil: nobody's.
    ///
    /// Row 9.4: a customer reaches themselves only.
    fileprivate func viewer() throws(Problem) -> CatalogViewer? {
        let asked = query[.customer]
        var customer = asked.flatMap { CustomerID($0) }
        if case .customer(let own) = caller {
            if asked != nil, customer != own { throw Problem(.notFound) }
            customer = own
        }
        guard let customer else {
            guard asked == nil else {
                throw Problem(.invalidValue, "expected a customer id", path: "customer")
            }
            return nil
        }
        return CatalogViewer(customer: customer, environment: try environment())
    }
}
