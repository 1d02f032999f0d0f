package import Encodings
package import Entitlements

/// A report, made (rows 10.1 to 10.6, B7): `report`.
///
/// What lies in the range and had come to pass at T, as known at R.
public enum Report: JSONWritable {
    /// Customers by tier, and what they own by status and product.
    case customers(CustomersAnswer)
    /// What products brought in, by month and currency.
    case revenue(RowsAnswer<RevenueRow>)
    /// What was given back, by month and currency.
    case refunds(RowsAnswer<RefundRow>)
    /// Purchase flows, and how they ended.
    case funnel(RowsAnswer<FunnelRow>)
    /// How long the stages of a flow take.
    case stages(AlertRowsAnswer<StageRow>)
    /// Errors, and those that come far more often than a while ago.
    case errors(AlertRowsAnswer<ErrorRow>)
    /// What the variants of an experiment bring.
    case experiments(RowsAnswer<ExperimentRow>)

    /// Reads the JSON of a report.
    ///
    /// - Throws: `InputFault`.
    package init(_ kind: ReportKind, reading json: JSONValue) throws {
        func read<Answer: Described>(_: Answer.Type) throws -> Answer {
            try Answer.fields.read(json)
        }
        self =
            switch kind {
            case .customers: .customers(try read(CustomersAnswer.self))
            case .revenue: .revenue(try read(RowsAnswer<RevenueRow>.self))
            case .refunds: .refunds(try read(RowsAnswer<RefundRow>.self))
            case .funnel: .funnel(try read(RowsAnswer<FunnelRow>.self))
            case .stages: .stages(try read(AlertRowsAnswer<StageRow>.self))
            case .errors: .errors(try read(AlertRowsAnswer<ErrorRow>.self))
            case .experiments: .experiments(try read(RowsAnswer<ExperimentRow>.self))
            }
    }

    /// What all reports have.
    package var answer: any ReportAnswer {
        switch self {
        case .customers(let answer): answer
        case .revenue(let answer): answer
        case .refunds(let answer): answer
        case .funnel(let answer): answer
        case .stages(let answer): answer
        case .errors(let answer): answer
        case .experiments(let answer): answer
        }
    }

    /// Its JSON.
    public var jsonText: AnswerText { answer.jsonText }
}
