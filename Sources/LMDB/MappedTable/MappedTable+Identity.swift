// What a table says it holds.

extension MappedTable {
    /// The prefix of a log that a table was derived from.
    public struct Identity: Sendable, Equatable {
        /// The ledger, 16 bytes.
        public var ledgerID: [UInt8]
        /// The number of records.
        public var treeSize: UInt64
        /// The root of the Merkle tree over them, 32 bytes.
        public var root: [UInt8]

        /// Names a prefix of a log.
        ///
        /// - Precondition: `ledgerID` has 16 bytes and `root` 32.
        public init(ledgerID: [UInt8], treeSize: UInt64, root: [UInt8]) {
            precondition(ledgerID.count == 16, "a ledger id has 16 bytes")
            precondition(root.count == 32, "a root has 32 bytes")
            self.ledgerID = ledgerID
            self.treeSize = treeSize
            self.root = root
        }

        init(words: [UInt64]) {
            precondition(words.count == Identity.wordCount, "the words of an identity")
            self.init(
                ledgerID: Identity.bytes(words[0..<2]),
                treeSize: words[2],
                root: Identity.bytes(words[3..<7])
            )
        }

        static let wordCount = 7

        /// As the header of the file holds it.
        var words: [UInt64] {
            precondition(ledgerID.count == 16, "a ledger id has 16 bytes")
            precondition(root.count == 32, "a root has 32 bytes")
            return [
                ledgerID.span.loadUInt64(at: 0),
                ledgerID.span.loadUInt64(at: 8),
                treeSize,
                root.span.loadUInt64(at: 0),
                root.span.loadUInt64(at: 8),
                root.span.loadUInt64(at: 16),
                root.span.loadUInt64(at: 24),
            ]
        }

        private static func bytes(_ words: ArraySlice<UInt64>) -> [UInt8] {
            words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
        }
    }
}
