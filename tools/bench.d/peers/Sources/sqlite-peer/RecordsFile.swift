import CRecords
import Foundation

/// The columns of an event, from what stands in clear in its record.
struct RecordColumns: Sendable {
    var stream: Int64
    var kind: Int64
    var time: Int64
    /// The end of the period, if there is one.
    var ends: Int64?
    /// Another stream that the facts name, such as a claimed purchase.
    var other: Int64?
    var digest: Data
    /// The whole record.
    var body: Data

    /// `customer.claimed` (schemas/log-format.md).
    static let claimed: Int64 = 21

    init(_ record: record) {
        stream = Int64(bitPattern: record_stream(record))
        kind = Int64(record_kind(record))
        time = record_time(record)
        digest = Data(bytes: record_digest(record), count: Int(RECORD_DIGEST_BYTES))
        body = Data(bytes: record.bytes, count: Int(record.length))
        var facts = record_facts_of(record)
        var fact = record_fact()
        while record_facts_next(&facts, &fact) {
            switch fact.mark {
            case 4: ends = fact.number
            case 22: other = fact.number
            default: break
            }
        }
    }

    /// All records of a file.
    static func all(in path: String) throws -> [RecordColumns] {
        let file = records_open(path)
        guard file.bytes != nil else { throw PeerFault("\(path): no records") }
        var columns: [RecordColumns] = []
        columns.reserveCapacity(file.records)
        var offset = 0
        var next = record()
        while records_next(file, &offset, &next) { columns.append(RecordColumns(next)) }
        return columns
    }
}

/// Something that must not happen in a measurement.
struct PeerFault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
