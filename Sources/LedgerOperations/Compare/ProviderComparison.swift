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
    private let here: any ComparisonPlace
    private let draft: Ledger
    private let there: ComparisonSide
    private let environment: StoreEnvironment
    private let instant: Instant

    /// Customers whose answers are recorded together.
    private static let batchSize = 64
    /// Customers who are asked about at once.
    private static let parallel = 8

    /// Names both.
    ///
    /// `here`: the ledger, at that environment and instant. `draft`: an empty ledger, which is written to.
    /// `instant`: T.
    package init(
        _ here: any ComparisonPlace,
        draft: Ledger,
        in environment: StoreEnvironment,
        at instant: Instant
    ) {
        self.here = here
        self.draft = draft
        self.environment = environment
        self.instant = instant
        there = ComparisonSide(draft, in: environment, at: instant)
    }

    /// Publishes the ledger's catalogs in the draft.
    ///
    /// - Throws: what appending throws; what the ledger's place throws.
    package func publishCatalogs() throws {
        for (index, catalog) in try here.ground(everybody: false).catalogs.enumerated() {
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
        let ground = try here.ground(everybody: isComplete)
        var answer = ComparisonAnswer(
            at: instant,
            environment: environment,
            sequence: ground.sequence
        )
        for fault in faults { answer.count(fault) }
        let untold = Set(faults.map { Name($0.customer) })
        var compared: Set<Name> = []
        func take(_ known: [Known]) throws -> Bool {
            for (known, seen) in zip(known, try here.see(known.map(\.elsewhere))) {
                if isInterrupted() { return false }
                // By each of the names that are not one customer's here.
                for account in seen.accounts {
                    compared.formUnion(account.names.map { Name($0) })
                    let found = try CustomerComparison(
                        account,
                        seen.absences,
                        known.state,
                        by: there
                    ).difference()
                    if let found { try difference(found) }
                    answer.count(found)
                    progress(answer.customers)
                }
            }
            return true
        }
        let told = try customers ?? there.everybodyHere()
        for batch in told.filter({ !untold.contains(Name($0.text)) }).batches(of: Self.batchSize) {
            if isInterrupted() { return answer }
            guard try take(batch.map { try known($0) }) else { return answer }
        }
        for batch in (ground.customers ?? []).batches(of: Self.batchSize) {
            if isInterrupted() { return answer }
            let left = batch.filter { !compared.contains(Name($0)) }.compactMap { CustomerID($0) }
            guard try take(left.map { try known($0) }) else { return answer }
        }
        return answer
    }

    /// A customer as the provider knows them.
    private struct Known {
        var elsewhere: KnownElsewhere
        var state: StateContent
    }

    private func known(_ customer: CustomerID) throws -> Known {
        let state = try there.state(of: customer)
        return Known(
            elsewhere: KnownElsewhere(
                names: try there.names(of: customer).map(\.text),
                purchases: state.purchases.filter(\.givesAccess).map(\.purchase)
            ),
            state: state
        )
    }
}

extension Array {
    /// Its elements in their order, so many at a time.
    fileprivate func batches(of size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}
