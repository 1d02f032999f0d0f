import EventLog
import Foundation
import ModelSupport
import Testing

/// Records, in and out.
struct `Conformance of a log's records` {
    @Test(arguments: StorageBackend.allCases)
    func `an empty log has an empty end and nothing to read`(backend: StorageBackend) async throws {
        try await ScratchStorage.with(backend) { storage in
            let end = try storage.log.end()
            #expect(end == .empty)
            #expect(end.edge.root == TreeHash.emptyRoot)
            #expect(try storage.log.recordsByBlock(from: 0, upTo: 0).isEmpty)
            #expect(try storage.log.records([]).isEmpty)
            #expect(try storage.log.attached(at: 0) == nil)
            #expect(try storage.log.tile(level: 0, index: 0) == nil)
            #expect(try storage.log.checkpoints().isEmpty)
        }
    }

    // law 1
    @Test(arguments: StorageBackend.allCases, SampleLog.layouts)
    func `every record comes back by sequence and by block`(
        backend: StorageBackend,
        sizes: [Int]
    ) async throws {
        let sample = try SampleLog(sizes)
        try await ScratchStorage.with(backend) { storage in
            try storage.append(sample)
            try expectAll(sample, storage.log)
            try storage.reopen()
            try expectAll(sample, storage.log)
        }
    }

    // law 1
    @Test(arguments: StorageBackend.allCases)
    func `random batches come back from any start up to any end`(
        backend: StorageBackend
    ) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let sample = try SampleLog.random(seed: seed)
        let places: [UInt64] = [0, 1, 100, 254, 255, 256, 257, 400, 511, 512, 513, 599, 600]
        try await ScratchStorage.with(backend) { storage in
            try storage.append(sample)
            for first in places {
                for end in places {
                    let read = try storage.log.recordsByBlock(from: first, upTo: end)
                    let isRight =
                        read.allSatisfy { sample.records[Int($0.key)] == $0.value }
                        && (first..<max(first, end)).allSatisfy { read[$0] != nil }
                    #expect(isRight, "seed \(seed): \(first)..<\(end)")
                    #expect(first < end || read.isEmpty, "seed \(seed): \(first)..<\(end)")
                }
            }
        }
    }

    @Test(arguments: StorageBackend.allCases)
    func `the log can be read after each batch`(backend: StorageBackend) async throws {
        let sample = try SampleLog([200, 56, 1, 254, 1, 1, 87])
        try await ScratchStorage.with(backend) { storage in
            for (batch, end) in zip(sample.batches, sample.ends) {
                #expect(try storage.log.append(batch) == end)
                #expect(try storage.log.end() == end)
                let read = try storage.log.recordsByBlock(from: 0, upTo: end.size)
                #expect(read.count == Int(end.size))
                #expect(read.allSatisfy { sample.records[Int($0.key)] == $0.value })
            }
        }
    }

    @Test(arguments: StorageBackend.allCases)
    func `records of the greatest length come back`(backend: StorageBackend) async throws {
        let fixed = try #require(try SampleLog([1], longest: 0).records.first?.count)
        let longest = RecordHeader.lengthLimit - fixed
        let sample = try SampleLog([1, 3, 252, 4], longest: longest)
        try await ScratchStorage.with(backend) { storage in
            try storage.append(sample)
            try expectAll(sample, storage.log)
        }
    }

    @Test(arguments: StorageBackend.allCases)
    func `a body that wants no more gets no more`(backend: StorageBackend) async throws {
        let sample = try SampleLog([256, 256, 10, 10, 10])
        try await ScratchStorage.with(backend) { storage in
            try storage.append(sample)
            for limit in 1...5 {
                var starts: [UInt64] = []
                try storage.log.readBlocks(from: 0, upTo: 542) { first, _ in
                    starts.append(first)
                    return starts.count < limit
                }
                #expect(starts.count == limit)
                guard StorageBackend.ofLedgers.contains(backend) else { continue }
                #expect(starts == Array([0, 256, 512, 522, 532].prefix(limit)))
            }
        }
    }

    @Test(arguments: StorageBackend.allCases)
    func `what a body throws comes out and the log goes on`(
        backend: StorageBackend
    ) async throws {
        struct Stop: Error {}
        let sample = try SampleLog([300])
        try await ScratchStorage.with(backend) { storage in
            try storage.append(sample)
            #expect(throws: Stop.self) {
                try storage.log.readBlocks(from: 0, upTo: 300) { _, _ in throw Stop() }
            }
            #expect(throws: Stop.self) {
                try storage.log.readRecords([1, 2]) { _, _ in throw Stop() }
            }
            try expectAll(sample, storage.log)
        }
    }

    @Test(arguments: StorageBackend.allCases)
    func `a body may read again`(backend: StorageBackend) async throws {
        let sample = try SampleLog([256, 44])
        try await ScratchStorage.with(backend) { storage in
            try storage.append(sample)
            var (read, places) = ([[UInt8]](), [UInt64]())
            try storage.log.readBlocks(from: 0, upTo: 300) { first, _ in
                places += [first, 299 - first]
                read += try storage.log.records([first, 299 - first]).map(\.1)
                return true
            }
            #expect(places.count >= 4 && places.contains(256))
            #expect(read == places.map { sample.records[Int($0)] })
        }
    }

    @Test(arguments: StorageBackend.allCases)
    func `records come in the order asked, also twice`(backend: StorageBackend) async throws {
        let sample = try SampleLog([256, 256, 50, 38])
        let asked: [UInt64] = [599, 0, 255, 256, 256, 0, 511, 512, 561, 562, 300, 1]
        try await ScratchStorage.with(backend) { storage in
            try storage.append(sample)
            let read = try storage.log.records(asked)
            #expect(read.map(\.0) == asked)
            #expect(read.map(\.1) == asked.map { sample.records[Int($0)] })
        }
    }

    @Test(arguments: StorageBackend.allCases, [[1], [256], [257, 43], [100, 100, 56]])
    func `a record that is not there is a fault`(
        backend: StorageBackend,
        sizes: [Int]
    ) async throws {
        let sample = try SampleLog(sizes)
        let size = sample.end.size
        try await ScratchStorage.with(backend) { storage in
            for missing in [size, size + 1, size + 1000, UInt64.max - 1] {
                var lent: [UInt64] = []
                #expect(throws: LogStorageFault.self, "in the empty log: \(missing)") {
                    try storage.log.readRecords([missing]) { sequence, _ in lent.append(sequence) }
                }
                #expect(lent.isEmpty)
            }
            try storage.append(sample)
            for missing in [size, size + 1, size + 1000, UInt64.max - 1] {
                var lent: [UInt64] = []
                #expect(throws: LogStorageFault.self, "\(missing)") {
                    try storage.log.readRecords([0, missing, 0]) { sequence, _ in
                        lent.append(sequence)
                    }
                }
                #expect(lent == [0], "\(missing)")
                #expect(throws: LogStorageFault.self, "\(missing)") {
                    try storage.log.readBlocks(from: missing, upTo: .max) { _, _ in true }
                }
            }
            var last: UInt64 = 0
            #expect(throws: LogStorageFault.self) {
                try storage.log.readBlocks(from: 0, upTo: size + 1) { first, block in
                    last = first + UInt64(try Bundle.count(block))
                    return true
                }
            }
            #expect(last == size, "what is there was handed out")
        }
    }

    private func expectAll(_ sample: SampleLog, _ log: any LogStorage) throws {
        let size = sample.end.size
        #expect(try log.end() == sample.end)
        let read = try log.recordsByBlock(from: 0, upTo: size)
        #expect(read.count == sample.records.count)
        #expect(read.allSatisfy { sample.records[Int($0.key)] == $0.value })
        let lent = try log.records(Array(0..<size))
        #expect(lent.map(\.0) == Array(0..<size))
        #expect(lent.map(\.1) == sample.records)
    }
}
