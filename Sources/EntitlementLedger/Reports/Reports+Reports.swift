import Encodings
package import Entitlements
import EventLog
public import LedgerAPI

extension Reports {
    /// Makes a report (rows 10.1 to 10.6, B7) from the log alone.
    ///
    /// Cost: one pass over the log on all cores, and one more for each 200 000 events that the report
    /// reads; `customers` folds everybody. Some 100 MB for each core.
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
    package func customers(_ question: ReportQuestion) throws -> CustomerReport {
        let at = question.point.at
        let parts = try questions.foldCustomers(
            upTo: questions.prefix(knownAt: question.point.knownAt),
            environment: question.environment,
            into: CustomerReport()
        ) { $0.add($1, at: at) }
        return parts.reduce(into: CustomerReport()) { $0.merge($1) }
    }

    /// What products brought in and what was given back.
    ///
    /// Ranges of whole days are answered from the roll-up and what followed it, where T and R lie
    /// after it; where there is none it is made.
    ///
    /// Cost: some record reads for each purchase that was spoken of since, else as from the log.
    package func revenue(_ question: ReportQuestion) throws -> RevenueReport {
        let size = try questions.prefix(knownAt: question.point.knownAt)
        if let report = try rolledUpRevenue(question, size: size) { return report }
        if try question.range.isOfWholeDays && size == questions.size()
            && question.point.at >= recordedThrough(size)
        {
            try rollUpRevenue(question.environment)
            if let report = try rolledUpRevenue(question, size: size) { return report }
        }
        return try foldRevenue(question, size: size, pendingAfter: nil).report
    }

    /// The revenue report from the log alone, without a roll-up.
    package func revenueFromLog(_ question: ReportQuestion) throws -> RevenueReport {
        let size = try questions.prefix(knownAt: question.point.knownAt)
        return try foldRevenue(question, size: size, pendingAfter: nil).report
    }

    /// Revenue from the log, and the purchases of which something later than an instant is told.
    func foldRevenue(
        _ question: ReportQuestion,
        size: UInt64,
        pendingAfter through: Instant?
    ) throws -> (report: RevenueReport, pending: [UInt64: Instant]) {
        let (at, range) = (question.point.at, question.range)
        let fold = SubjectFold(
            questions: questions,
            size: size,
            environment: question.environment,
            kinds: KindSet(MoneyFact.reads),
            link: .purchaseLinked,
            // What was known once may have joined other purchases than what is known now.
            grouping: .ever,
            read: { try $0.moneyFact(of: $1, &$2) }
        )
        let parts = try fold.run { part in
            var tally = RevenueTally(at: at, range: range)
            var pending: [UInt64: Instant] = [:]
            try part.forEach { _, facts in
                tally.add(try comparable(facts))
                guard let through, let latest = facts.map(\.fact.time).max(), latest > through
                else { return }
                pending[facts[0].fact.subject] = latest
            }
            return (report: tally.report(part.names.names), pending: pending)
        }
        return parts.reduce(into: (RevenueReport(), [:])) { whole, part in
            whole.0.merge(part.report)
            whole.1.merge(part.pending) { max($0, $1) }
        }
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
    package func funnel(_ question: ReportQuestion) throws -> FunnelReport {
        let (at, range) = (question.point.at, question.range)
        let parts = try flows(question).run { part in
            var report = FunnelReport()
            let names = part.names.names
            part.forEach { report.add($1, names, at: at, range: range) }
            return report
        }
        return parts.reduce(into: FunnelReport()) { $0.merge($1) }
    }

    /// How long the stages of purchase flows took.
    package func stageTimes(_ question: ReportQuestion) throws -> StageReport {
        let (at, range) = (question.point.at, question.range)
        let parts = try flows(question).run { part in
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
        let fold = try flows(question, link: .customerLinked)
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
                report.add(facts, names, at: at, range: range) { experiment, instant in
                    guard let position = positions[experiment] else { return nil }
                    return catalogs.catalog(at: instant)?.experiments
                        .first { $0.id.isSame(as: experiment) }?.variant(at: position)?.id
                }
            }
            return report
        }
        return parts.reduce(into: ExperimentReport()) { $0.merge($1) }
    }

    private func flows(
        _ question: ReportQuestion,
        link: EventKind? = nil
    ) throws -> SubjectFold<FlowFact> {
        SubjectFold(
            questions: questions,
            size: try questions.prefix(knownAt: question.point.knownAt),
            environment: question.environment,
            kinds: KindSet { FlowFact.reads($0) || $0 == link },
            link: link,
            grouping: .now,
            read: { header, record, names in
                try header.eventKind() == link ? nil : try header.flowFact(of: record, &names)
            }
        )
    }
}
