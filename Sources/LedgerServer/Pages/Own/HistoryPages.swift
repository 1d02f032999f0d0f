import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Presentation
import Stores

/// What a customer bought, for themselves (rows 6.1 to 6.6, 7.1, 7.2).
extension PageTable {
    static let historyPages: [Route] = [
        .ownPage(
            "/history",
            "showHistory",
            "What the customer bought, and what runs.",
            parameters: [
                Route.Parameter(
                    name: "done",
                    text: "What came of asking the stores",
                    shape: .choice(HistoryPage.Restored.allCases.map(\.rawValue))
                )
            ],
            history
        ),
        .ownPage(
            "/history/receipts/{purchase}",
            "showReceipt",
            "A purchase of the customer's with every charge, to print.",
            receipt
        ),
        .ownForm(
            "/history/restore",
            "restoreHistory",
            "Asks the stores again for what the customer bought.",
            fields: [],
            restore
        ),
    ]

    private typealias Known = (
        state: Written<StateAnswer>, purchases: Written<PurchasesAnswer>, text: SoldText
    )

    private static func known(
        _ call: Call,
        _ owner: CustomerID,
        _ service: LedgerService
    ) async throws -> Known {
        let question = try call.ownQuestion(owner)
        let language = call.language
        return try await service.blocking {
            (
                try service.ledger.questions.show(question),
                try service.ledger.questions.purchases(of: question),
                try service.soldText(language, at: question.point)
            )
        }
    }

    @Sendable
    private static func history(
        _ call: Call,
        _ owner: CustomerID,
        _ service: LedgerService
    ) async throws -> Answer {
        let known = try await known(call, owner, service)
        let frame = call.ownFrame(.history)
        let purchases = known.purchases.answer.purchases
        var body = XMLText()
        HistoryPage(
            text: known.text,
            state: known.state.answer.state,
            purchases: purchases,
            restored: call.query[.done].flatMap { HistoryPage.Restored(rawValue: $0) },
            formToken: call.session?.formToken,
            frame: frame,
            packageName: service.stores.playStore?.packageNames.first?.text
        )
        .write(to: &body)
        return try call.answer(
            OwnPage(
                title: OwnWords.history[call.language],
                frame: frame,
                body: body,
                json: known.purchases.text.bytes,
                rows: rows(purchases)
            )
        )
    }

    private static func rows(_ purchases: [OwnedPurchase]) -> Page.Rows {
        let cells = purchases.flatMap { purchase in
            purchase.periods.map { period in
                [
                    .string(purchase.state.purchase), .optional(period.transactionID),
                    .string(period.productID), .string(period.status.rawValue),
                    .instant(period.startsAt), .instant(period.expiresAt),
                    period.priceMicros.map { .integer($0) } ?? .null,
                    .optional(period.currencyCode),
                ] as [JSONValue]
            }
        }
        return Page.Rows(
            columns: [
                "purchase", "transactionId", "productId", "status", "startsAt", "expiresAt",
                "priceMicros", "currencyCode",
            ],
            cells: cells
        )
    }

    @Sendable
    private static func receipt(
        _ call: Call,
        _ owner: CustomerID,
        _ service: LedgerService
    ) async throws -> Answer {
        let known = try await known(call, owner, service)
        let name = call.path[.purchase] ?? ""
        // Row 9.4: another's purchase is one that there is not.
        let found = known.purchases.answer.purchases.first {
            $0.state.purchase.isSame(as: name)
        }
        guard let found else { throw Problem(.notFound) }
        let frame = call.ownFrame(.history)
        var body = XMLText()
        ReceiptPage(text: known.text, purchase: found, customer: owner, frame: frame)
            .write(to: &body)
        return try call.answer(
            OwnPage(
                title: ReceiptPage.title(in: call.language),
                frame: frame,
                body: body,
                json: AnswerText(found).bytes,
                rows: rows([found])
            )
        )
    }

    @Sendable
    private static func restore(
        _ call: Call,
        _ form: Query,
        _ owner: CustomerID,
        _ service: LedgerService
    ) async throws -> Answer {
        let outcome = try await restored(owner, try call.environment(), service)
        var answer = Answer.seeOther(
            call.ownFrame(.history).path("/history?done=" + outcome.rawValue)
        )
        answer.tellNobody()
        return answer
    }

    private static func restored(
        _ owner: CustomerID,
        _ environment: StoreEnvironment,
        _ service: LedgerService
    ) async throws -> HistoryPage.Restored {
        guard !service.stores.clients.isEmpty else { return .unavailable }
        try service.access.admitRestore(of: owner)
        let answer = try await service.sync.sync(owner, in: environment)
        if answer.isToAskAgain { return .failed }
        if answer.purchases.isEmpty {
            // RevenueCat alone is asked by the customer; of a purchase that nobody told of no other store is.
            let clients = service.stores.clients
            return clients.appStore == nil && clients.playStore == nil ? .nothing : .unavailable
        }
        if answer.purchases.contains(where: { $0.appended > 0 }) { return .found }
        let notAsked = answer.purchases.count { $0.outcome == .notAsked }
        // Row 6.4: of those that failed here their store knows nothing, or no more.
        let unknown = answer.purchases.count { $0.outcome == .failed && $0.found == 0 }
        guard notAsked + unknown == answer.purchases.count else { return .known }
        return notAsked > 0 ? .unavailable : .nothing
    }
}
