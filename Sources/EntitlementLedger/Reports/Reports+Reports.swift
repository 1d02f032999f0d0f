import Encodings
package import Entitlements
import EventLog
public import LedgerAPI

extension Reports {
    /// Makes a report (rows 10.1 to 10.6, B7): from its roll-up and what followed it where T is a day's
    /// start or not long ago, else from the log alone.
    ///
    /// Cost: as `revenue` from the roll-up; from the log one pass over it on all cores, and one more
    /// for each 200 000 events that the report reads, while `customers` folds everybody; some 100 MB
    /// for each core.
    ///
    /// - Throws: `LedgerFault` for a prefix that the log does not have, `LogStorageFault` and
    ///   `DecodingFault` where a record is damaged.
    public func report(_ question: ReportQuestion) throws -> Report {
        var question = question
        let size = try questions.prefix(knownAt: question.point.knownAt)
        let echo = question.echo(size: size)
        // One prefix throughout, whatever is recorded meanwhile.
        question.point.knownAt = .sequence(size)
        return switch question.kind {
        case .customers: .customers(CustomersAnswer(echo, try customers(question)))
        case .revenue: .revenue(RowsAnswer(echo, try revenue(question).rows))
        case .refunds: .refunds(RowsAnswer(echo, try revenue(question).refundRows))
        case .funnel: .funnel(RowsAnswer(echo, try funnel(question).rows))
        case .stages:
            .stages(AlertRowsAnswer(echo, try stageTimes(question).rows(question.thresholds)))
        case .errors: .errors(AlertRowsAnswer(echo, try errors(question).rows(question.rule)))
        case .experiments:
            .experiments(
                RowsAnswer(
                    echo,
                    try experiments(question).rows(
                        questions.catalogHistory(size: size).catalog(at: question.point.at)
                    )
                )
            )
        }
    }

    /// Customers by tier, and what they own by status and product.
    ///
    /// Cost: as `revenue`.
    package func customers(_ question: ReportQuestion) throws -> CustomerReport {
        let (at, size) = try (question.point.at, prefix(of: question))
        guard let rollUp = try rollUp(.customers, question, size: size, telling: [at]) else {
            return try customersFromLog(question)
        }
        let always = Interval(start: Instant(milliseconds: .min), end: nil)
        return CustomerReport(rollUp.sums(at: at, range: always))
    }

    /// The report on customers from the log alone, without a roll-up.
    package func customersFromLog(_ question: ReportQuestion) throws -> CustomerReport {
        let at = question.point.at
        let parts = try questions.foldCustomers(
            upTo: prefix(of: question),
            environment: question.environment,
            into: CustomerReport()
        ) { $0.add($1, at: at) }
        return parts.reduce(into: CustomerReport()) { $0.merge($1) }
    }

    /// What products brought in and what was given back; by months where a roll-up tells it, else by
    /// days.
    ///
    /// Ranges of whole days are answered from the roll-up and what followed it, at T that are a day's
    /// start or not long ago, by R that lie after it; where everything known is asked about and there
    /// is none it is made.
    ///
    /// Cost: some record reads for each subject that was spoken of since, and the lines of the
    /// roll-up; else as from the log.
    package func revenue(_ question: ReportQuestion) throws -> RevenueReport {
        let (at, size) = try (question.point.at, prefix(of: question))
        guard let rollUp = try rollUp(.revenue, question, size: size, telling: [at]) else {
            return try revenueFromLog(question)
        }
        return RevenueReport(rollUp.monthlySums(at: at, range: question.range))
    }

    /// The revenue report from the log alone, without a roll-up.
    package func revenueFromLog(_ question: ReportQuestion) throws -> RevenueReport {
        let (at, range) = (question.point.at, question.range)
        let fold = try money(question.environment, size: prefix(of: question))
        let parts = try fold.run { part in
            var tally = RevenueTally(at: at, range: range)
            try part.forEach { tally.add(try comparable($1)) }
            return tally.report(part.names.names)
        }
        return parts.reduce(into: RevenueReport()) { $0.merge($1) }
    }

    private func prefix(of question: ReportQuestion) throws -> UInt64 {
        try questions.prefix(knownAt: question.point.knownAt)
    }

    /// P13: where links join streams, transactions get tags that compare among all of them.
    func comparable(_ facts: [MoneyFact]) throws -> [MoneyFact] {
        guard facts.contains(where: { $0.fact.kind == .purchaseLinked }),
            let first = facts.first?.fact.subject, let keys = try questions.vault.keys(of: first)
        else { return facts }
        let opener = EventOpener(vault: questions.vault, log: questions.log)
        return try facts.map { money in
            guard money.fact.subject != first, money.fact.transaction != nil else { return money }
            var money = money
            try questions.log.readRecords([money.fact.sequence]) { _, record in
                let header = try RecordHeader(checking: record)
                if let id = try opener.id(.transactionID, of: record, header) {
                    money.fact.transaction = keys.tag(id)
                }
            }
            return money
        }
    }

    /// How purchase flows end.
    ///
    /// Cost: as `revenue`.
    package func funnel(_ question: ReportQuestion) throws -> FunnelReport {
        let (at, size) = try (question.point.at, prefix(of: question))
        guard let rollUp = try rollUp(.funnel, question, size: size, telling: [at]) else {
            return try funnelFromLog(question)
        }
        return FunnelReport(rollUp.sums(at: at, range: question.range))
    }

    /// The funnel from the log alone, without a roll-up.
    package func funnelFromLog(_ question: ReportQuestion) throws -> FunnelReport {
        let (at, range) = (question.point.at, question.range)
        let parts = try flows(question.environment, size: prefix(of: question)).run { part in
            var report = FunnelReport()
            let names = part.names.names
            part.forEach { report.add($1, names, at: at, range: range) }
            return report
        }
        return parts.reduce(into: FunnelReport()) { $0.merge($1) }
    }

    /// How long the stages of purchase flows took.
    ///
    /// Cost: as `revenue`.
    package func stageTimes(_ question: ReportQuestion) throws -> StageReport {
        let (at, size) = try (question.point.at, prefix(of: question))
        guard let rollUp = try rollUp(.stages, question, size: size, telling: [at]) else {
            return try stageTimesFromLog(question)
        }
        return StageReport(rollUp.sums(at: at, range: question.range))
    }

    /// The stages from the log alone, without a roll-up.
    package func stageTimesFromLog(_ question: ReportQuestion) throws -> StageReport {
        let (at, range) = (question.point.at, question.range)
        let parts = try flows(question.environment, size: prefix(of: question)).run { part in
            var report = StageReport()
            let names = part.names.names
            part.forEach { _, facts in
                for fact in facts where fact.time <= at && range.contains(fact.time) {
                    report.add(fact, names)
                }
            }
            return report
        }
        return parts.reduce(into: StageReport()) { $0.merge($1) }
    }

    /// Who saw which variant of an experiment, and bought.
    package func experiments(_ question: ReportQuestion) throws -> ExperimentReport {
        let (at, range) = (question.point.at, question.range)
        let fold = try flows(
            question.environment,
            size: prefix(of: question),
            link: .customerLinked
        )
        let catalogs = try questions.catalogHistory(size: fold.size)
        let parts = try fold.run { part in
            var report = ExperimentReport()
            let names = part.names.names
            try part.forEach { customer, items in
                let facts = items.compactMap { $0.experiment == nil ? nil : $0 }
                guard !facts.isEmpty else { return }
                // Of a customer who was erased nobody can tell it any more.
                let isErased = try questions.vault.name(of: customer) == nil
                let positions = isErased ? [:] : try questions.positions(of: customer, in: catalogs)
                report.add(facts, names, at: at, range: range, known: catalogs.experiments) {
                    experiment,
                    instant in
                    guard let position = positions[experiment] else { return nil }
                    return catalogs.catalog(at: instant)?.experiments
                        .first { $0.id.isSame(as: experiment) }?.variant(at: position)?.id
                }
            }
            return report
        }
        return parts.reduce(into: ExperimentReport()) { $0.merge($1) }
    }
}
