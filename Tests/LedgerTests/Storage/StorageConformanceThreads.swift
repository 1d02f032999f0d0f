import EventLog
import Foundation
import ModelSupport
import Synchronization
import Testing

/// Readers beside the writer.
struct `Conformance of a log under threads` {
    private static let readerCount = 8

    // law 1, E3
    @Test(arguments: StorageBackend.allCases)
    func `readers beside an append see no gap and no other record`(
        backend: StorageBackend
    ) async throws {
        var random = SplitMix64(seed: 7)
        let sizes = (0..<120).map { _ in random.pick([1, 2, 3, 20, 100]) }
        let sample = try SampleLog(sizes)
        try await run(backend, sample) { log in
            for (batch, end) in zip(sample.batches, sample.ends) {
                let appended = try log.append(batch)
                #expect(appended == end)
            }
        }
    }

    @Test(arguments: StorageBackend.allCases)
    func `readers do not notice that the log is opened again`(
        backend: StorageBackend
    ) async throws {
        let sample = try SampleLog([200, 200, 1, 1, 40] + Array(repeating: 1, count: 30))
        try await run(backend, sample) { log in
            for (batch, end) in zip(sample.batches, sample.ends) {
                #expect(try log.append(batch) == end)
                try log.reopen()
                #expect(try log.end() == end)
            }
        }
    }

    /// Runs the writer on one thread and readers on others until it ends.
    private func run(
        _ backend: StorageBackend,
        _ sample: SampleLog,
        writer: @escaping @Sendable (any LogStorage) throws -> Void
    ) async throws {
        let isWriting = WritingFlag()
        try await ScratchStorage.with(backend) { storage in
            let log = storage.log
            let reads = try Concurrently.run(Self.readerCount + 1) { thread in
                guard thread > 0 else {
                    defer { isWriting.end() }
                    try writer(log)
                    return 0
                }
                var reader = Reader(log: log, sample: sample, seed: UInt64(thread))
                while isWriting.isTrue { try reader.read() }
                // Once more, when all stands.
                try reader.read()
                #expect(reader.sizeSeen == sample.end.size)
                return reader.reads
            }
            #expect(reads.count { $0 > 0 } == Self.readerCount)
        }
    }
}

/// Whether the writer still writes.
private final class WritingFlag: Sendable {
    private let flag = Atomic(true)

    var isTrue: Bool { flag.load(ordering: .sequentiallyConsistent) }

    func end() { flag.store(false, ordering: .sequentiallyConsistent) }
}

/// Reads what stands and compares it with what was laid out.
private struct Reader {
    let log: any LogStorage
    let sample: SampleLog
    private(set) var sizeSeen: UInt64 = 0
    private(set) var reads = 0
    private var random: SplitMix64

    init(log: any LogStorage, sample: SampleLog, seed: UInt64) {
        self.log = log
        self.sample = sample
        random = SplitMix64(seed: seed)
    }

    mutating func read() throws {
        let end = try log.end()
        #expect(end.size >= sizeSeen, "the log does not shrink")
        #expect(end == .empty || sample.ends.contains(end), "an end between two commits")
        sizeSeen = end.size
        reads += 1
        guard end.size > 0 else { return }
        let first = UInt64.random(in: 0..<end.size, using: &random)
        let blocks = try log.recordsByBlock(from: first, upTo: end.size)
        let areSame = blocks.allSatisfy { sample.records[Int($0.key)] == $0.value }
        let haveNoGap = (first..<end.size).allSatisfy { blocks[$0] != nil }
        #expect(areSame && haveNoGap, "\(first)..<\(end.size)")
        let asked = (0..<20).map { _ in UInt64.random(in: 0..<end.size, using: &random) }
        let records = try log.records(asked)
        #expect(records.map(\.0) == asked)
        #expect(records.map(\.1) == asked.map { sample.records[Int($0)] }, "\(asked)")
        for sequence in asked {
            #expect(try log.attached(at: sequence) == sample.attached[sequence])
        }
    }
}
