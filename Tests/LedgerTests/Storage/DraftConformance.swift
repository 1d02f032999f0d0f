import EventLog
import Synchronization
import Testing

/// A log in memory that goes on as a draft behind the first batch that is appended: every record is
/// read over the seam.
final class DraftAmid: LogStorage {
    private let base = MemoryLog()
    private let draft = Mutex<DraftLog?>(nil)

    private var current: any LogStorage { draft.withLock { $0 } ?? base }

    func append(_ batch: LogBatch) throws -> LogEnd {
        let isFirst = draft.withLock { $0 == nil }
        let end = try current.append(batch)
        if isFirst {
            let draft = try DraftLog(on: base)
            self.draft.withLock { $0 = draft }
        }
        return end
    }

    func end() throws -> LogEnd { try current.end() }
    func reopen() throws { try current.reopen() }

    func readBlocks(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (UInt64, Span<UInt8>) throws -> Bool
    ) throws {
        try current.readBlocks(from: first, upTo: end, body)
    }

    func readRecords(
        _ sequences: [UInt64],
        _ body: (UInt64, Span<UInt8>) throws -> Void
    ) throws {
        try current.readRecords(sequences, body)
    }

    func attached(at sequence: UInt64) throws -> [UInt8]? { try current.attached(at: sequence) }
    func sharedPart(_ digest: Digest) throws -> [UInt8]? { try current.sharedPart(digest) }
    func tile(level: Int, index: UInt64) throws -> [UInt8]? {
        try current.tile(level: level, index: index)
    }
    func keepCheckpoint(size: UInt64, note: String) throws {
        try current.keepCheckpoint(size: size, note: note)
    }
    func checkpoints() throws -> [(size: UInt64, note: String)] { try current.checkpoints() }
}

/// What a draft promises beside what every storage does: nothing beneath it changes (E4).
struct `Conformance of a draft` {
    @Test func `what is appended stands in the draft alone`() throws {
        let sample = try SampleLog([20, 30, 50])
        let base: any LogStorage = MemoryLog()
        _ = try base.append(sample.batches[0])
        try base.keepCheckpoint(size: 20, note: "signed")
        let draft: any LogStorage = try DraftLog(on: base)
        var part = sample.batches[1]
        part.sharedParts = [(TreeHash.attached([1].span), [2])]
        #expect(try draft.append(part) == sample.ends[1])
        #expect(try base.end() == sample.ends[0])
        #expect(try base.sharedPart(TreeHash.attached([1].span)) == nil)
        #expect(throws: LogStorageFault.self) { try base.records([20]) }
        // A draft is never signed, and shows what was signed before it began.
        #expect(throws: LogStorageFault.self) { try draft.keepCheckpoint(size: 50, note: "no") }
        try base.keepCheckpoint(size: 50, note: "later")
        #expect(try draft.checkpoints().map(\.note) == ["signed"])
    }

    // Another writer goes on with the base; the draft does not see what it records.
    @Test func `what the base records later is not seen`() throws {
        let (sample, other) = try (SampleLog([20, 30]), SampleLog([20, 9], longest: 50))
        let base: any LogStorage = MemoryLog()
        _ = try base.append(sample.batches[0])
        let draft: any LogStorage = try DraftLog(on: base)
        _ = try base.append(other.batches[1])
        #expect(try draft.end() == sample.ends[0])
        #expect(throws: LogStorageFault.self) { try draft.records([20]) }
        #expect(throws: LogStorageFault.self) { try draft.recordsByBlock(from: 0, upTo: 21) }
        _ = try draft.append(sample.batches[1])
        let read = try draft.recordsByBlock(from: 0, upTo: 50)
        #expect((0..<50).allSatisfy { read[UInt64($0)] == sample.records[$0] })
        #expect(read.count == 50)
    }

    @Test func `names and keys of the base are the draft's, and new ones are not the base's`()
        throws
    {
        let base: any Vault = try MemoryVault(randomness: .system)
        let (known, new) = (
            StreamName(environment: 1, subject: "customer/ann"),
            StreamName(environment: 1, subject: "customer/bob")
        )
        let number = try base.reserveStream(of: known)
        let draft: any Vault = DraftVault(on: base, randomness: .system)
        #expect(try draft.reserveStream(of: known) == number)
        #expect(try draft.name(of: number) == known)
        #expect(try draft.keys(of: number)?.tag("t") == base.keys(of: number)?.tag("t"))
        let own = try draft.reserveStream(of: new)
        #expect(own != number)
        try draft.commit(upTo: .max) { #expect($0.isEmpty) }
        #expect(try base.stream(of: new) == nil && base.name(of: own) == nil)
        #expect(try base.keys(of: own) == nil)
        // What the base gives next is no stream of the draft.
        #expect(try base.reserveStream(of: new) != own)
        #expect(try draft.stream(of: new) == own && draft.reserveStream(of: new) == own)
        #expect(throws: LogStorageFault.self) {
            let signal = SignalDigest(high: 1, low: 2)
            try draft.prepare(VaultErasure(streams: [number], signal: signal))
        }
    }
}
