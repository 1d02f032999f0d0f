import Entitlements
import EventLog

/// Makes tags of merged streams comparable.
///
/// Tags compare within a stream; where several streams are one subject (C2, P13), their ids are
/// unsealed and tagged anew under the key of the name at the end of the links.
struct ComparableTags {
    let log: any LogReader
    let vault: any VaultReader

    /// These facts with tags that compare; as they are where nothing is linked.
    ///
    /// `facts`: all links of the subjects among them, ascending by sequence.
    func facts(_ facts: [Fact]) throws -> [Fact] {
        let links = facts.filter { $0.kind == .customerLinked || $0.kind == .purchaseLinked }
        guard !links.isEmpty else { return facts }
        // No stream is both a customer's and a purchase's.
        let customers = Links(links, of: .customerLinked)
        let purchases = Links(links, of: .purchaseLinked)
        return try facts.map { fact in
            let canonical = customers.canonical(purchases.canonical(fact.subject))
            guard canonical != fact.subject, fact.transaction != nil || fact.item != nil,
                let keys = try vault.keys(of: canonical)
            else { return fact }
            return try retagged(fact, keys)
        }
    }

    private func retagged(_ fact: Fact, _ keys: StreamKeys) throws -> Fact {
        var fact = fact
        let opener = EventOpener(vault: vault, log: log)
        let itemField: Field =
            switch fact.kind {
            case .usageRecorded, .usageReversed: .useID
            default: .grantID
            }
        try log.readRecords([fact.sequence]) { _, record in
            let header = try RecordHeader(checking: record)
            if fact.transaction != nil,
                let id = try opener.id(.transactionID, of: record, header)
            {
                fact.transaction = keys.tag(id)
            }
            if fact.item != nil, let id = try opener.id(itemField, of: record, header) {
                fact.item = keys.tag(id)
            }
        }
        return fact
    }
}
