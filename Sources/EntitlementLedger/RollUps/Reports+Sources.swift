import Entitlements
import EventLog

/// What each report is made of.
extension Reports {
    /// Where the steps of a roll-up come from.
    func source(
        _ kind: RollUp.Kind,
        _ environment: StoreEnvironment,
        size: UInt64
    ) -> any StepSource {
        switch kind {
        case .revenue:
            SubjectSteps(fold: money(environment, size: size)) { facts, names, table in
                guard !facts.isEmpty else { return }
                RevenueReport.addSteps(of: try comparable(facts), names, to: &table)
            }
        case .customers:
            CustomerSteps(questions: questions, size: size, environment: environment)
        case .funnel:
            SubjectSteps(fold: flows(environment, size: size)) {
                FunnelReport.addSteps(of: $0, $1, to: &$2)
            }
        case .stages:
            SubjectSteps(fold: flows(environment, size: size)) { facts, names, table in
                for fact in facts { StageReport.addSteps(of: fact, names, to: &table) }
            }
        case .errors:
            SubjectSteps(fold: errorFacts(environment, size: size)) { facts, names, table in
                for fact in facts { fact.addSteps(names, to: &table) }
            }
        }
    }

    /// What is said of money, purchase by purchase.
    func money(_ environment: StoreEnvironment, size: UInt64) -> SubjectFold<MoneyFact> {
        SubjectFold(
            questions: questions,
            size: size,
            environment: environment,
            kinds: KindSet(MoneyFact.reads),
            link: .purchaseLinked,
            // What was known once may have joined other purchases than what is known now.
            grouping: .ever,
            read: { try $0.moneyFact(of: $1, &$2) }
        )
    }

    /// What is said of flows, customer id by customer id, or by customers where links are given.
    func flows(
        _ environment: StoreEnvironment,
        size: UInt64,
        link: EventKind? = nil
    ) -> SubjectFold<FlowFact> {
        SubjectFold(
            questions: questions,
            size: size,
            environment: environment,
            kinds: KindSet { FlowFact.reads($0) || $0 == link },
            link: link,
            grouping: .now,
            read: { header, record, names in
                try header.eventKind() == link ? nil : try header.flowFact(of: record, &names)
            }
        )
    }

    /// What is said of errors.
    func errorFacts(_ environment: StoreEnvironment, size: UInt64) -> SubjectFold<ErrorFact> {
        let opener = EventOpener(vault: questions.vault, log: questions.log)
        return SubjectFold(
            questions: questions,
            size: size,
            environment: environment,
            kinds: KindSet(ErrorFact.reads),
            link: nil,
            grouping: .now,
            read: { try $0.errorFact(of: $1, &$2, opener) }
        )
    }
}
