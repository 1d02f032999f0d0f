import EventLog
import FoundationEssentials
import LMDB

/// What an import refused may name those who are erased: these items go, and what stays of their day
/// is sealed under a new key.
extension LMDBVault {
    /// Takes items out of the quarantine that name one of these streams, while their names are known.
    func clearQuarantine(of gone: [UInt64], _ writer: inout Writer) throws {
        let ledger = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
        var quarantine = Quarantine(
            ledgerPath: ledger,
            masterKey: keyFile.key,
            randomness: writer.randomness
        )
        let days = try quarantine.days()
        guard !days.isEmpty else { return }
        let ids = try gone.compactMap { try storedName(of: $0)?.quotedID }
        for day in days {
            let items = try quarantine.items(of: day)
            let kept = items.filter { !NamedIDs.names($0, oneOf: ids) }
            if kept.count < items.count { try quarantine.renew(day, with: kept) }
        }
    }

    /// A stream's name in the table, also where the stream is closed.
    private func storedName(of stream: UInt64) throws -> StreamName? {
        let epochs = epochs
        return try environment.read { transaction in
            try transaction.get(streams, Key(stream)) { value in
                try VaultEntry.isTombstone(value, of: stream)
                    ? nil : VaultEntry(opening: value, epochKeys: epochs).name
            } ?? nil
        }
    }
}

extension StreamName {
    /// What follows `customer/` or `purchase/STORE/`, as a text stands in JSON; nil for other names.
    fileprivate var quotedID: [UInt8]? {
        var rest = Substring(subject)
        let isPurchase = rest.hasPrefix("purchase/")
        guard isPurchase || rest.hasPrefix("customer/") else { return nil }
        for _ in 0..<(isPurchase ? 2 : 1) {
            guard let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
            rest = rest[rest.utf8.index(after: slash)...]
        }
        return [UInt8(ascii: "\"")] + Array(rest.utf8) + [UInt8(ascii: "\"")]
    }
}

/// Whether bytes name somebody, in JSON or in what JSON carries: the parts of a signed message are
/// base64url of JSON that may carry another one.
enum NamedIDs {
    /// A notification carries a transaction, which carries nothing.
    private static let depthLimit = 4
    /// Shorter texts carry no JSON worth a look.
    private static let leastCount = 16

    static func names(_ bytes: [UInt8], oneOf ids: [[UInt8]], depth: Int = 0) -> Bool {
        if ids.contains(where: { contains(bytes, $0) }) { return true }
        guard depth < depthLimit else { return false }
        return bytes.split(whereSeparator: { !isBase64URL($0) }).contains { run in
            guard run.count >= leastCount, let inner = Base64URL.decode(run) else { return false }
            return names(inner, oneOf: ids, depth: depth + 1)
        }
    }

    private static func contains(_ bytes: [UInt8], _ id: [UInt8]) -> Bool {
        guard let first = id.first, bytes.count >= id.count else { return false }
        return (0...(bytes.count - id.count)).contains { start in
            bytes[start] == first && bytes[start..<start + id.count].elementsEqual(id)
        }
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
