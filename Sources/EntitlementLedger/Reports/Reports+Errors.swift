package import Entitlements
import EventLog

extension Reports {
    /// Errors by their code: of flows, recorded failures and refused signals.
    ///
    /// Cost: as `revenue`.
    package func errors(_ question: ReportQuestion) throws -> ErrorReport {
        let size = try questions.prefix(knownAt: question.point.knownAt)
        let span = span(question)
        let rollUp = try rollUp(.errors, question, size: size, telling: span.instants)
        guard let rollUp else { return try errorsFromLog(question) }
        return ErrorReport(span) { rollUp.sums(from: $0, range: $1) }
    }

    /// The errors from the log alone, without a roll-up.
    ///
    /// Cost: one pass over the log on all cores, one more for each 200 000 of them; a count of
    /// refused signals, of which there is one an hour and reason, is unsealed.
    package func errorsFromLog(_ question: ReportQuestion) throws -> ErrorReport {
        let span = span(question)
        let size = try questions.prefix(knownAt: question.point.knownAt)
        let parts = try errorFacts(question.environment, size: size).run { part in
            var report = ErrorReport(span)
            let names = part.names.names
            part.forEach { _, facts in
                for fact in facts {
                    switch fact {
                    case .flow(let flow): report.add(flow, names)
                    case .failure(let code, let time):
                        report.add(
                            ErrorReport.Key(origin: .failure, code: names[code]),
                            at: time
                        )
                    case .refusal(let note, let time):
                        report.add(
                            ErrorReport.Key(origin: .refusal, code: note.code),
                            at: time,
                            count: note.count
                        )
                    }
                }
            }
            return report
        }
        return parts.reduce(into: ErrorReport(span)) { $0.merge($1) }
    }

    private func span(_ question: ReportQuestion) -> ErrorReport.Span {
        ErrorReport.Span(at: question.point.at, range: question.range, rule: question.rule)
    }
}

/// What the report on errors reads.
enum ErrorFact: Sendable {
    case flow(FlowFact)
    case failure(code: FactName, time: Instant)
    case refusal(RefusalNote, time: Instant)

    /// Whether statements of a kind are read.
    static func reads(_ kind: EventKind) -> Bool {
        FlowFact.reads(kind) || kind == .failureRecorded || kind == .signalNoted
    }

    /// Adds what the statement adds.
    func addSteps(_ names: FactNames, to table: inout StepTable) {
        switch self {
        case .flow(let flow): ErrorReport.addSteps(of: flow, names, to: &table)
        case .failure(let code, let time):
            let key = ErrorReport.Key(origin: .failure, code: names[code])
            ErrorReport.addSteps(of: key, at: time, to: &table)
        case .refusal(let note, let time):
            let key = ErrorReport.Key(origin: .refusal, code: note.code)
            ErrorReport.addSteps(of: key, at: time, count: note.count, to: &table)
        }
    }
}

extension RecordHeader {
    func errorFact(
        of record: Span<UInt8>,
        _ names: inout FactNameTable,
        _ opener: EventOpener
    ) throws -> ErrorFact? {
        let time = Instant(milliseconds: time)
        switch try eventKind() {
        case .failureRecorded:
            return try text(of: .errorCode, record, &names).map { .failure(code: $0, time: time) }
        case .signalNoted:
            guard let name = try text(of: .name, record, &names),
                names.names[name] == RefusalNote.name,
                case .text(let detail)? = try opener.open(record).values[.detail]
            else { return nil }
            return RefusalNote(detail: detail).map { .refusal($0, time: time) }
        default: return .flow(try flowFact(of: record, &names))
        }
    }
}
