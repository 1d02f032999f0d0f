import Entitlements
import EventLog

extension RecordHeader {
    /// Appends the record as the fold reads it; nothing is unsealed.
    ///
    /// One fact, but for a transfer: as many as there are customers whom it takes from.
    func appendFacts(
        of record: Span<UInt8>,
        to facts: inout [Fact],
        _ names: inout FactNameTable
    ) throws(DecodingFault) {
        var fact = Fact(
            sequence: sequence,
            kind: try eventKind(),
            time: Instant(milliseconds: time),
            observedAt: Instant(milliseconds: observedAt),
            subject: stream
        )
        fact.isLate = Fact.isLate(
            saidAt: fact.observedAt,
            recordedAt: Instant(milliseconds: recordedAt)
        )
        var origins: [UInt64] = []
        var reader = FactsReader(self.facts)
        while !reader.isAtEnd {
            let mark = try reader.mark(record)
            switch mark {
            case RecordMark.store: fact.store = try reader.name(record, &names)
            case RecordMark.id, RecordMark.source: try reader.skipText(record)
            case Field.from.rawValue: try reader.appendStreams(record, to: &origins)
            default: try reader.read(FactsReader.field(mark), into: &fact, &names, record)
            }
        }
        guard fact.kind == .customerTransferred else {
            facts.append(fact)
            return
        }
        for origin in origins {
            fact.other = origin
            facts.append(fact)
        }
    }

    /// The streams that the record's facts name beside its subject's.
    func otherStreams(_ record: Span<UInt8>) throws(DecodingFault) -> [UInt64] {
        guard try eventKind().namesStreams else { return [] }
        var streams: [UInt64] = []
        var reader = FactsReader(facts)
        while !reader.isAtEnd {
            let mark = try reader.mark(record)
            switch mark {
            case RecordMark.store, RecordMark.id, RecordMark.source: try reader.skipText(record)
            default:
                let field = try FactsReader.field(mark)
                if field.placement == .stream {
                    try reader.appendStreams(record, to: &streams)
                } else {
                    try reader.skip(field, record)
                }
            }
        }
        return streams
    }
}

extension RecordHeader {
    /// Whether the facts name a store: then the subject is a purchase.
    func namesStore(_ record: Span<UInt8>) throws(DecodingFault) -> Bool {
        var reader = FactsReader(facts)
        while !reader.isAtEnd {
            let mark = try reader.mark(record)
            switch mark {
            case RecordMark.store: return true
            case RecordMark.id, RecordMark.source: try reader.skipText(record)
            default: try reader.skip(FactsReader.field(mark), record)
            }
        }
        return false
    }
}

extension FactsReader {
    fileprivate mutating func read(
        _ field: Field,
        into fact: inout Fact,
        _ names: inout FactNameTable,
        _ record: Span<UInt8>
    ) throws(DecodingFault) {
        switch field {
        case .transactionID: fact.transaction = try number(record)
        case .grantID, .useID: fact.item = try number(record)
        case .purchase, .alias, .account: fact.other = try firstStream(record)
        case .expiresAt, .graceUntil:
            fact.end = Instant(milliseconds: Int64(bitPattern: try number(record)))
        case .productID, .trialID, .featureID: fact.label = try name(record, &names)
        case .nextProductID: fact.nextProductID = try name(record, &names)
        case .tier: fact.tier = try name(record, &names)
        case .productKind: fact.productKind = try productKind(record)
        case .autoRenew: fact.autoRenew = try mark(record) != 0
        case .method: fact.method = try method(record)
        case .features:
            if case .texts(let ids) = try value(of: field, record) {
                fact.features = names.list(ids)
            }
        default: try skip(field, record)
        }
    }

    private mutating func productKind(_ bytes: Span<UInt8>) throws(DecodingFault) -> ProductKind {
        // A choice is written as its place, from 0; the kinds count from 1.
        guard let kind = ProductKind(rawValue: try mark(bytes) &+ 1) else {
            throw .newerWord(at: self)
        }
        return kind
    }

    private mutating func method(
        _ bytes: Span<UInt8>
    ) throws(DecodingFault) -> VerificationMethod {
        let methods = VerificationMethod.allCases
        let place = Int(try mark(bytes))
        guard place < methods.count else { throw .newerWord(at: self) }
        return methods[place]
    }
}
