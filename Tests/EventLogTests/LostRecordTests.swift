import EventLog
import Testing

/// What stands in the place of a record that is lost (schemas/log-format.md, "A gap").
struct `A gap` {
    /// What some bytes are read as; apart, for no test expects of a span.
    private static func read(_ bytes: [UInt8]) -> LostRecord? { LostRecord(bytes.span) }

    private static let leaf = TreeHash.leaf(Array("a record".utf8).span)

    @Test(arguments: LostRecord.Cause.allCases)
    func `is read as it was written`(_ cause: LostRecord.Cause) {
        for leaf in [nil, Self.leaf] {
            let gap = LostRecord(sequence: 7, recordedAt: -1, cause: cause, leaf: leaf)
            #expect(gap.bytes.count == LostRecord.byteCount)
            #expect(Self.read(gap.bytes) == gap)
        }
    }

    @Test func `is not read where a byte is another one`() {
        let bytes = LostRecord(sequence: 7, recordedAt: 1, cause: .zeroed, leaf: Self.leaf).bytes
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 1
            #expect(Self.read(changed) == nil, "byte \(place)")
        }
        #expect(Self.read([]) == nil)
    }

    @Test func `counts in the tree as the record that is lost`() {
        let known = LostRecord(sequence: 7, recordedAt: 1, cause: .missing, leaf: Self.leaf).bytes
        let unknown = LostRecord(sequence: 7, recordedAt: 1, cause: .missing, leaf: nil).bytes
        let own = TreeHash.leaf(unknown.span)
        let leaves = [known, unknown, Array("a record".utf8)].map {
            TreeHash.leaf(ofEntry: $0.span)
        }
        #expect(leaves == [Self.leaf, own, Self.leaf])
    }
}
