package import Entitlements
import EventLog

extension Reports {
    /// Errors by their code: of flows, recorded failures and refused signals.
    ///
    /// Cost: one pass over the log on all cores, one more for each 200 000 of them; a count of
    /// refused signals, of which there is one an hour and reason, is unsealed.
    package func errors(_ question: ReportQuestion) throws -> ErrorReport {
        let span = ErrorReport.Span(
            at: question.point.at,
            range: question.range,
            rule: question.rule
        )
        let opener = EventOpener(vault: questions.vault, log: questions.log)
        let fold = SubjectFold<ErrorFact>(
            questions: questions,
            size: try questions.prefix(knownAt: question.point.knownAt),
            environment: question.environment,
            kinds: KindSet {
                FlowFact.reads($0) || $0 == .failureRecorded || $0 == .signalNoted
            },
            link: nil,
            grouping: .now,
            read: { try $0.errorFact(of: $1, &$2, opener) }
        )
        let parts = try fold.run { part in
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
}

/// What the report on errors reads.
private enum ErrorFact: Sendable {
    case flow(FlowFact)
    case failure(code: FactName, time: Instant)
    case refusal(RefusalNote, time: Instant)
}

extension RecordHeader {
    fileprivate func errorFact(
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
