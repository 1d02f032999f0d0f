import EventLog
import Foundation
import LMDB
import LedgerOperations
import StoreSimulator

/// LMDB with nothing on top, synchronous: what the ledger is measured against.
struct RawLMDB {
    private let path: String
    private let environment: LMDB.Environment
    private let log: Table
    private let byDigest: Table
    private let byStream: Table
    private var next: UInt64 = 0

    /// Makes an empty environment.
    init(making path: String) throws {
        self.path = path
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true
        )
        let environment = try LMDB.Environment(path: path, options: .init())
        self.environment = environment
        func table(_ name: String) throws -> Table {
            guard let table = try environment.table(name, create: true) else {
                throw OperationFault(wrongAnswer: "a table is made")
            }
            return table
        }
        log = try table("log")
        byDigest = try table("digest")
        byStream = try table("stream")
    }

    /// Closes the environment and removes its files.
    func discard() throws {
        environment.close()
        try FileManager.default.removeItem(atPath: path)
    }

    /// Puts records under ascending numbers, in one commit.
    mutating func append(_ records: some Collection<[UInt8]>) throws {
        let first = next
        try environment.write { transaction in
            for (index, record) in records.enumerated() {
                try transaction.append(log, Key(first + UInt64(index)), record.span)
            }
        }
        next += UInt64(records.count)
    }

    /// Puts records and two B-tree indexes of them, in one commit: digest to sequence, and
    /// (stream, sequence).
    mutating func appendIndexed(_ records: some Collection<[UInt8]>) throws {
        let first = next
        try environment.write { transaction in
            for (index, record) in records.enumerated() {
                let sequence = first + UInt64(index)
                let header = try RecordHeader(reading: record.span)
                try transaction.append(log, Key(sequence), record.span)
                let digest = Key(header.signal.high, header.signal.low)
                try transaction.reserve(byDigest, digest, count: 8, appending: false) {
                    $0.storeUInt64(sequence, at: 0)
                }
                let kind = [header.kind]
                try transaction.put(byStream, Key(header.stream, sequence), kind.span)
            }
        }
        next += UInt64(records.count)
    }

    // MARK: Look-ups

    /// Fills the digest table with so many keys of 16 bytes and values of 64.
    func fill(count: Int) throws {
        let value = [UInt8](repeating: 1, count: 64)
        try environment.write { transaction in
            for number in 0..<count { try transaction.put(byDigest, Self.key(number), value.span) }
        }
    }

    private static func key(_ number: Int) -> Key {
        let word = SeededWords.mix(UInt64(number))
        return Key(word, SeededWords.mix(word))
    }

    /// Nanoseconds of one `mdb_get` for each number, all in one transaction.
    func lookUpTimes(_ numbers: [Int]) throws -> Samples {
        var samples = Samples()
        try environment.read { transaction in
            for number in numbers {
                let key = Self.key(number)
                let start = Stopwatch.now()
                let first = try transaction.get(byDigest, key) { $0[0] }
                samples.add(Double(Stopwatch.now() - start))
                precondition(first == 1, "every key is there")
            }
        }
        return samples
    }
}
