import Encodings
package import EntitlementLedger
package import Entitlements
package import LedgerAPI
package import Stores

/// Holds what a provider says of its customers against what a ledger says (row Z14).
///
/// What the provider says is folded in a draft, a ledger of its own by the same catalogs, so that both
/// sides are judged by the same rules; nothing is written to the ledger.
package struct ProviderComparison: Sendable {
    private let ledger: Ledger
    private let draft: Ledger
    private let here: ComparisonSide
    private let there: ComparisonSide

    /// Customers whose answers are recorded together.
    private static let batchSize = 64
    /// Customers who are asked about at once.
    private static let parallel = 8

    /// Names both.
    ///
    /// `draft`: an empty ledger, which is written to. `instant`: T.
    package init(
        _ ledger: Ledger,
        draft: Ledger,
        in environment: StoreEnvironment,
        at instant: Instant
    ) {
        self.ledger = ledger
        self.draft = draft
        (here, there) = (
            ComparisonSide(
                questions: ledger.questions,
                environment: environment,
                instant: instant
            ),
            ComparisonSide(questions: draft.questions, environment: environment, instant: instant)
        )
    }

    /// Publishes the ledger's catalogs in the draft.
    ///
    /// - Throws: what appending throws.
    package func publishCatalogs() throws {
        for (index, catalog) in try ledger.questions.publishedCatalogs().enumerated() {
            _ = try draft.appender.publish(
                catalog.document,
                effective: catalog.effective,
                Request(
                    id: "catalog/\(index)",
                    source: Source.catalog,
                    environment: .production
                )
            )
        }
    }

    // MARK: What the provider says

    /// Imports what the provider exported into the draft; an item that is refused is counted.
    ///
    /// - Throws: as importing does.
    package func take(
        _ files: [String],
        isInterrupted: @escaping @Sendable () -> Bool
    ) throws -> ImportReport {
        var options = Importer.Options()
        options.format = .revenuecat
        options.onError = .skip
        options.isInterrupted = isInterrupted
        var importer = Importer(draft, options)
        try importer.run(files)
        return importer.report
    }

    /// Asks RevenueCat about customers, and records in the draft what it says.
    ///
    /// - Returns: those of whom it did not tell all.
    /// - Throws: what appending throws.
    package func ask(
        _ revenueCat: RevenueCatAPI,
        about customers: [CustomerID],
        clock: @escaping @Sendable () -> Instant,
        isInterrupted: @Sendable () -> Bool,
        progress: (_ done: Int) -> Void
    ) async throws -> [ComparisonFault] {
        var faults: [ComparisonFault] = []
        for first in stride(from: 0, to: customers.count, by: Self.batchSize) {
            if isInterrupted() { break }
            let batch = customers[first..<min(first + Self.batchSize, customers.count)]
            var submissions: [Submission] = []
            var owners: [CustomerID] = []
            for (customer, told) in await Self.answers(of: Array(batch), revenueCat, clock) {
                switch told {
                case .success(let told):
                    submissions += told
                    owners += told.map { _ in customer }
                case .failure(let fault):
                    faults.append(ComparisonFault(customer: customer.text, code: fault.code))
                }
            }
            for (customer, receipt) in zip(owners, try draft.appender.record(submissions)) {
                // What the draft does not take says less than all of the customer.
                guard case .refused = receipt else { continue }
                faults.append(ComparisonFault(customer: customer.text, code: .malformed))
            }
            progress(first + batch.count)
        }
        return faults
    }

    /// Why RevenueCat did not tell all of a customer.
    private struct Untold: Error {
        var code: SyncedPurchase.Code
    }

    private static func answers(
        of customers: [CustomerID],
        _ revenueCat: RevenueCatAPI,
        _ clock: @escaping @Sendable () -> Instant
    ) async -> [(CustomerID, Result<[Submission], Untold>)] {
        await withTaskGroup(of: (Int, Result<[Submission], Untold>).self) { tasks in
            var answers: [Int: Result<[Submission], Untold>] = [:]
            for (index, customer) in customers.enumerated() {
                if index >= parallel, let done = await tasks.next() { answers[done.0] = done.1 }
                tasks.addTask { (index, await answer(of: customer, revenueCat, clock)) }
            }
            for await done in tasks { answers[done.0] = done.1 }
            return customers.indices.compactMap { index in
                answers[index].map { (customers[index], $0) }
            }
        }
    }

    private static func answer(
        of customer: CustomerID,
        _ revenueCat: RevenueCatAPI,
        _ clock: @Sendable () -> Instant
    ) async -> Result<[Submission], Untold> {
        do throws(StoreFault) {
            var submissions: [Submission] = []
            for body in try await revenueCat.answers(of: customer) {
                guard let json = try? JSONValue(parsingStoreText: body) else {
                    return .failure(Untold(code: .malformed))
                }
                for outcome in RevenueCatImport.outcomes(of: json, body: body, now: clock()) {
                    guard case .success(let submission) = outcome else {
                        return .failure(Untold(code: .malformed))
                    }
                    submissions.append(submission)
                }
            }
            return .success(submissions)
        } catch {
            // Of whom it knows nothing it says nothing.
            return error.code == .notFound
                ? .success([]) : .failure(Untold(code: SyncedPurchase.Code(error)))
        }
    }

    // MARK: Comparing

    /// Compares.
    ///
    /// - Parameters:
    ///   - customers: Who; nil: everybody whom the provider named.
    ///   - faults: Of whom it did not tell all; they are passed over.
    ///   - isComplete: Whether it named everybody, so that those whom the ledger alone knows differ too.
    ///   - isInterrupted: Whether to end behind the customer who is compared.
    ///   - difference: Told each who differs.
    ///   - progress: Told how many were compared.
    /// - Returns: who differs, and why.
    /// - Throws: `LedgerFault`, `LogStorageFault`; what `difference` throws.
    package func run(
        _ customers: [CustomerID]? = nil,
        without faults: [ComparisonFault] = [],
        isComplete: Bool = false,
        isInterrupted: () -> Bool = { false },
        difference: (ComparedCustomer) throws -> Void = { _ in },
        progress: (_ done: Int) -> Void = { _ in }
    ) throws -> ComparisonAnswer {
        var answer = ComparisonAnswer(
            at: here.instant,
            environment: here.environment,
            sequence: try ledger.questions.size()
        )
        for fault in faults { answer.count(fault) }
        let untold = Set(faults.map { Name($0.customer) })
        var compared: Set<UInt64> = []
        func take(_ comparison: CustomerComparison) throws {
            let found = try comparison.difference()
            if let found { try difference(found) }
            answer.count(found)
            progress(answer.customers)
        }
        for customer in try customers ?? draft.questions.customers(in: there.environment) {
            if isInterrupted() { return answer }
            guard !untold.contains(Name(customer.text)) else { continue }
            let theirs = try there.names(of: customer)
            let known = try here.customers(named: theirs)
            compared.formUnion(known.map(\.number))
            // By each of the names that are not one customer's here.
            for name in known.isEmpty ? [customer] : known.map(\.name) {
                try take(
                    CustomerComparison(here, try here.names(of: name), there, [name] + theirs)
                )
            }
        }
        guard isComplete else { return answer }
        for customer in try ledger.questions.customers(in: here.environment) {
            if isInterrupted() { return answer }
            let names = try here.names(of: customer)
            guard let number = try here.customers(named: [customer]).first?.number,
                !compared.contains(number)
            else { continue }
            try take(CustomerComparison(here, names, there, names))
        }
        return answer
    }
}
