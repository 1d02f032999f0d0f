/// A value that goes to PostgreSQL, in its binary form.
package enum PostgresValue: Sendable, Equatable {
    /// `bigint`.
    case integer(Int64)
    /// `text`.
    case text(String)
    /// `bytea`; nil: NULL.
    case bytes([UInt8]?)
    /// `bigint[]`.
    case integers([Int64])
    /// `bytea[]`.
    case byteArrays([[UInt8]])

    /// PostgreSQL's number of the type.
    var type: UInt32 {
        switch self {
        case .integer: 20
        case .text: 25
        case .bytes: 17
        case .integers: 1016
        case .byteArrays: 1001
        }
    }

    /// What is sent; nil: NULL.
    var encoded: [UInt8]? {
        switch self {
        case .integer(let number): number.networkBytes
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        case .integers(let numbers):
            Self.array(of: 20, numbers.map(\.networkBytes))
        case .byteArrays(let arrays): Self.array(of: 17, arrays)
        }
    }

    /// An array of one dimension: dimensions, no NULL, the elements' type, count, lower bound, elements
    /// behind their lengths.
    private static func array(of type: Int32, _ elements: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        // Fits: elements of one commit, which stand in memory.
        let dimensions: Int32 = elements.isEmpty ? 0 : 1
        bytes += dimensions.networkBytes + Int32(0).networkBytes + type.networkBytes
        guard !elements.isEmpty else { return bytes }
        bytes += Int32(elements.count).networkBytes + Int32(1).networkBytes
        for element in elements {
            bytes += Int32(element.count).networkBytes
            bytes += element
        }
        return bytes
    }
}

/// A row that came back, its columns in their binary form; nil: NULL.
package struct PostgresRow: Sendable, Equatable {
    /// The columns.
    package var columns: [[UInt8]?]

    /// A `bigint`.
    ///
    /// - Throws: ``PostgresFault`` where the column is none.
    package func integer(_ column: Int) throws(PostgresFault) -> Int64 {
        let bytes = try self.bytes(column)
        guard bytes.count == 8 else { throw Self.fault }
        return bytes.reduce(0) { $0 << 8 | Int64($1) }
    }

    /// A number that counts.
    ///
    /// - Throws: ``PostgresFault`` where the column is none, or is negative.
    package func count(_ column: Int) throws(PostgresFault) -> UInt64 {
        guard let count = UInt64(exactly: try integer(column)) else { throw Self.fault }
        return count
    }

    /// A `bytea`.
    ///
    /// - Throws: ``PostgresFault`` for NULL.
    package func bytes(_ column: Int) throws(PostgresFault) -> [UInt8] {
        guard columns.indices.contains(column), let bytes = columns[column] else {
            throw Self.fault
        }
        return bytes
    }

    /// A `text`.
    ///
    /// - Throws: ``PostgresFault`` for NULL.
    package func text(_ column: Int) throws(PostgresFault) -> String {
        String(decoding: try bytes(column), as: UTF8.self)
    }

    /// A `boolean`.
    ///
    /// - Throws: ``PostgresFault`` for NULL.
    package func isTrue(_ column: Int) throws(PostgresFault) -> Bool {
        try bytes(column) == [1]
    }

    private static var fault: PostgresFault {
        PostgresFault(.unexpected, "a column is not of the type that was asked for")
    }
}

extension FixedWidthInteger {
    /// The bytes, the highest first.
    fileprivate var networkBytes: [UInt8] {
        (0..<Self.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }
}
