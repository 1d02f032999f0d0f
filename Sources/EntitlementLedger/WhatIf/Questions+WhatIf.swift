package import Encodings
public import Entitlements
import EventLog
public import LedgerAPI
import Synchronization

/// A question about a whole population under another catalog (row Z3).
public struct WhatIfQuestion: Sendable {
    /// The other catalog.
    public var catalog: Catalog
    /// From when on it stands, in place of every catalog published for then or later.
    public var effective: Instant
    /// T and R.
    public var point: BitemporalPoint
    /// The environment that is asked about.
    public var environment: StoreEnvironment
    /// How many gains and how many losses are listed at most; counts are always exact.
    public var sampleLimit = Self.usualSampleLimit
    /// Whether numbers stand in the places of names, for whoever is shown none.
    package var isMasked = false

    /// What is listed unless it is said.
    public static let usualSampleLimit = 1000
    /// The most that may be listed; more goes out line by line.
    public static let mostSamples = 100_000

    /// Makes a question.
    ///
    /// `effective`: T unless given: as if the catalog had been published for that very instant.
    public init(
        catalog: Catalog,
        point: BitemporalPoint,
        environment: StoreEnvironment,
        effective: Instant? = nil
    ) {
        self.catalog = catalog
        self.point = point
        self.environment = environment
        self.effective = effective ?? point.at
    }
}

extension Questions {
    /// Who gains and who loses which feature at T under another catalog.
    ///
    /// The log is folded once; of each customer only what a catalog takes part in is folded again.
    /// What was decided at append stands: claims and uses are as recorded, whatever the other
    /// catalog's policy or limits would have said.
    ///
    /// Cost: that of `foldCustomers`, and a little for each customer.
    /// - Parameters:
    ///   - question: which catalog, when, whose.
    ///   - line: told each gain and loss in no order, on several threads at
    ///     once.
    ///   - progress: told how many customers were compared, now and then, on several threads.
    /// - Returns: exact counts, and the gains and losses of the lowest customers' numbers.
    /// - Throws: what `foldCustomers` throws; what `line` throws.
    public func whatIf(
        _ question: WhatIfQuestion,
        line: (@Sendable (WhatIfLine) throws -> Void)? = nil,
        progress: @Sendable (_ customers: UInt64) -> Void = { _ in }
    ) throws -> WhatIfAnswer {
        let size = try prefix(knownAt: question.point.knownAt)
        let recorded = try catalogHistory(size: size)
        let other = recorded.replaced(from: question.effective, by: question.catalog)
        let comparison = AccessComparison(before: recorded, after: other, at: question.point.at)
        let compared = Atomic<UInt64>(0)
        let tallies = try foldCustomers(
            upTo: size,
            environment: question.environment,
            into: WhatIfTally(sampleLimit: question.sampleLimit)
        ) { tally, timeline in
            let positions = try positions(of: timeline.customer, in: other)
            let change = comparison.change(
                from: timeline,
                to: timeline.under(other) { positions[$0] ?? 0 }
            )
            tally.add(change, of: timeline.customer)
            if let line { try write(change, of: timeline.customer, question, line) }
            if tally.customers % Self.progressInterval == 0 {
                progress(compared.add(Self.progressInterval, ordering: .relaxed).newValue)
            }
        }
        var whole = WhatIfTally(sampleLimit: question.sampleLimit)
        for tally in tallies { whole.merge(tally) }
        return try WhatIfAnswer(question, size: size, whole) {
            try self.entry($0, of: $1, question)
        }
    }

    /// What differs between the catalog in force at T and another document, and whom it would affect.
    ///
    /// `question`: with the catalog of that document. Cost: that of `whatIf`.
    package func catalogDifference(
        to document: JSONValue,
        _ question: WhatIfQuestion
    ) throws -> CatalogDifferenceAnswer {
        CatalogDifferenceAnswer(
            difference: CatalogDifference(
                from: try catalogDocument(at: question.point),
                to: document
            ),
            affected: try whatIf(question)
        )
    }

    /// Customers of a core between two words of progress.
    private static let progressInterval: UInt64 = 4096

    private func write(
        _ change: AccessChange,
        of customer: UInt64,
        _ question: WhatIfQuestion,
        _ line: (WhatIfLine) throws -> Void
    ) throws {
        for (word, features) in [(WhatIfLine.Change.gain, change.gains), (.loss, change.losses)] {
            for feature in features {
                try line(WhatIfLine(word, entry(feature, of: customer, question)))
            }
        }
    }

    private func entry(
        _ feature: AccessChange.Feature,
        of customer: UInt64,
        _ question: WhatIfQuestion
    ) throws -> WhatIfEntry {
        let names: any AnswerNames =
            question.isMasked
            ? MaskedNames(questions: self, redaction: .all) : RecordedNames(self)
        return WhatIfEntry(
            customer: try question.isMasked ? MaskedNames.text(customer) : customerName(customer),
            feature: feature.id,
            reason: feature.reason,
            sources: try feature.sources.map { try $0.name(names) }.sortedByBytes()
        )
    }

    /// A customer's id by their number, for people; `erased/NUMBER` where the name is gone (C6).
    private func customerName(_ number: UInt64) throws -> String {
        try vault.customer(of: number)?.text ?? "erased/\(number)"
    }
}
