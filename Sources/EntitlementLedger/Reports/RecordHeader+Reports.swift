import Entitlements
import EventLog

extension RecordHeader {
    /// The record as the revenue reports read it; nothing is unsealed.
    func moneyFact(
        of record: Span<UInt8>,
        _ names: inout FactNameTable
    ) throws(DecodingFault) -> MoneyFact? {
        var facts: [Fact] = []
        try appendFacts(of: record, to: &facts, &names)
        guard let fact = facts.first else { return nil }
        var money = MoneyFact(fact, recordedAt: Instant(milliseconds: recordedAt))
        try forEachField(of: record) { (field, reader) throws(DecodingFault) in
            switch field {
            case .priceMicros: money.priceMicros = try reader.integer(of: field, record)
            case .quantity: money.quantity = try reader.integer(of: field, record)
            case .currencyCode: money.currency = try reader.name(record, &names)
            case .ownership:
                money.isFamilyShared =
                    try reader.value(of: field, record) == .text("family_shared")
            default: try reader.skip(field, record)
            }
        }
        return money
    }

    /// The record as the reports on flows read it; nothing is unsealed.
    func flowFact(
        of record: Span<UInt8>,
        _ names: inout FactNameTable
    ) throws(DecodingFault) -> FlowFact {
        var flow = FlowFact(
            try eventKind(),
            sequence: sequence,
            time: Instant(milliseconds: time),
            flow: 0
        )
        try forEachField(of: record) { (field, reader) throws(DecodingFault) in
            switch field {
            case .flowID: flow.flow = try reader.number(record)
            case .productID: flow.product = try reader.name(record, &names)
            case .platform: flow.platform = try reader.name(record, &names)
            case .errorCode: flow.errorCode = try reader.name(record, &names)
            case .experiment: flow.experiment = try reader.name(record, &names)
            case .stages:
                guard case .durations(let stages) = try reader.value(of: field, record) else {
                    return
                }
                flow.stages = stages.map {
                    FlowFact.Stage(name: names.name($0.name), milliseconds: $0.milliseconds)
                }
            default: try reader.skip(field, record)
            }
        }
        return flow
    }

    /// The text of a field in clear; nil where it is absent.
    func text(
        of field: Field,
        _ record: Span<UInt8>,
        _ names: inout FactNameTable
    ) throws(DecodingFault) -> FactName? {
        var text: FactName?
        try forEachField(of: record) { (found, reader) throws(DecodingFault) in
            if found == field {
                text = try reader.name(record, &names)
            } else {
                try reader.skip(found, record)
            }
        }
        return text
    }

    /// Lends each field among the facts; the body reads its value or passes over it.
    private func forEachField(
        of record: Span<UInt8>,
        _ body: (Field, inout FactsReader) throws(DecodingFault) -> Void
    ) throws(DecodingFault) {
        var reader = FactsReader(facts)
        while !reader.isAtEnd {
            let mark = try reader.mark(record)
            switch mark {
            case RecordMark.store, RecordMark.id, RecordMark.source: try reader.skipText(record)
            default: try body(FactsReader.field(mark), &reader)
            }
        }
    }
}

extension FactsReader {
    /// An integer that lies in its field's range, so that sums of it fit.
    fileprivate mutating func integer(
        of field: Field,
        _ record: Span<UInt8>
    ) throws(DecodingFault) -> Int64 {
        let integer = Int64(bitPattern: try number(record))
        guard case .integer(let range) = field.shape, range.contains(integer) else {
            throw DecodingFault(what: "a number out of its range", offset: Int(field.rawValue))
        }
        return integer
    }
}
