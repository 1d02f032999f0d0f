import EventLog
import LMDB
import Synchronization

/// What an import refused may name those who are erased: these items go, and what stays of their day
/// is sealed under a new key.
extension LMDBVault {
    /// See `Vault`.
    package func quarantined(_ subjects: [String]) throws -> [String] {
        guard !subjects.isEmpty else { return [] }
        guard try !quarantine(.system).days().isEmpty else { return [] }
        // It may have been changed meanwhile, and days are wrapped by the new one.
        try requireMasterKey(turn.withLock(\.journal))
        // Only looked through: nothing is drawn, and nobody who writes to the vault waits.
        let quarantine = quarantine(.system)
        let named = subjects.map { (subject: $0, id: StreamName(environment: 0, subject: $0).id) }
        let ids = NamedIDs(named.compactMap(\.id))
        var found: Set<[UInt8]> = []
        for day in try quarantine.days() {
            for item in try quarantine.openItems(of: day) ?? [] {
                found.formUnion(ids.found(in: item))
            }
        }
        return named.filter { found.contains(NamedIDs.key($0.id ?? [])) }.map(\.subject)
    }

    /// Takes items out of the quarantine that name one of these streams, while their names are known.
    ///
    /// - Throws: `LedgerOpenFault.locked` where an import goes on having its files, `FileFault`.
    func clearQuarantine(of gone: [UInt64], _ writer: inout Writer) throws {
        var quarantine = quarantine(writer.randomness)
        guard try !quarantine.days().isEmpty else { return }
        let ids = NamedIDs(try gone.compactMap { try storedName(of: $0)?.id })
        try quarantine.clear { !ids.found(in: $0).isEmpty }
    }

    private func quarantine(_ randomness: RandomSource) -> Quarantine {
        Quarantine(ledgerPath: ledgerPath, masterKey: keyFile.key, randomness: randomness)
    }

    /// A stream's name in the table, also where the stream is closed.
    private func storedName(of stream: UInt64) throws -> StreamName? {
        let epochs = epochs
        return try environment.read { transaction in
            try transaction.get(streams, Key(stream)) { value -> StreamName? in
                if try VaultEntry.isTombstone(value, of: stream) { return nil }
                guard let entry = try VaultEntry(opening: value, epochKeys: epochs) else {
                    throw DecodingFault.unopened
                }
                return entry.name
            } ?? nil
        }
    }
}

extension Quarantine {
    /// The items of a day; nil: they do not open.
    fileprivate func openItems(of day: String) throws -> [[UInt8]]? {
        do { return try items(of: day) } catch is DecodingFault { return nil }
    }
}

extension StreamName {
    /// What follows `customer/` or `purchase/STORE/`; nil for other names.
    fileprivate var id: [UInt8]? {
        var rest = Substring(subject)
        let isPurchase = rest.hasPrefix("purchase/")
        guard isPurchase || rest.hasPrefix("customer/") else { return nil }
        for _ in 0..<(isPurchase ? 2 : 1) {
            guard let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
            rest = rest[rest.utf8.index(after: slash)...]
        }
        return Array(rest.utf8)
    }
}
