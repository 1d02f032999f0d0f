import Entitlements
import EventLog

extension RecordHeader {
    /// The record as the fold reads it; nothing is unsealed.
    func fact(_ record: Span<UInt8>) throws(DecodingFault) -> Fact {
        var fact = Fact(
            sequence: sequence,
            kind: try eventKind(),
            time: Instant(milliseconds: time),
            observedAt: Instant(milliseconds: observedAt),
            subject: stream
        )
        var reader = FactsReader(facts)
        while !reader.isAtEnd {
            let mark = try reader.mark(record)
            switch mark {
            case RecordMark.store: fact.store = try reader.text(record)
            case RecordMark.id, RecordMark.source: _ = try reader.text(record)
            default: try reader.read(FactsReader.field(mark), into: &fact, record)
            }
        }
        return fact
    }
}

extension FactsReader {
    fileprivate mutating func read(
        _ field: Field,
        into fact: inout Fact,
        _ record: Span<UInt8>
    ) throws(DecodingFault) {
        switch field {
        case .transactionID: fact.transaction = try number(record)
        case .grantID, .useID: fact.item = try number(record)
        case .flowID: _ = try number(record)
        case .purchase, .alias: fact.other = try streams(record).first
        case .from: fact.from = try streams(record)
        default:
            switch (field, try value(of: field, record)) {
            case (.expiresAt, .instant(let end)), (.graceUntil, .instant(let end)): fact.end = end
            case (.productID, .text(let id)), (.trialID, .text(let id)),
                (.featureID, .text(let id)):
                fact.label = id
            case (.nextProductID, .text(let id)): fact.nextProductID = id
            case (.productKind, .text(let name)): fact.productKind = ProductKind(name: name)
            case (.autoRenew, .flag(let flag)): fact.autoRenew = flag
            case (.features, .texts(let features)): fact.features = features
            case (.tier, .text(let tier)): fact.tier = tier
            default: break
            }
        }
    }
}
