import EventLog
import Testing

/// New streams ride in the log's commit, and stand there until the vault has them.
struct `Conformance of a log's new streams` {
    /// Storages whose vault takes them over from the log, or could.
    private static let backends = StorageBackend.ofLedgers

    private static func new(_ counters: Range<UInt64>) -> [NewStream] {
        counters.map {
            let stream = StreamNumber.number(counter: $0, shard: 7)
            return NewStream(stream: stream, bytes: [UInt8](repeating: UInt8($0), count: 90))
        }
    }

    /// Batches with the streams 1 to 3, none, and 4 to 5.
    private static func sample() throws -> SampleLog {
        var sample = try SampleLog([2, 3, 1])
        sample.add(new(1..<4), to: 0)
        sample.add(new(4..<6), to: 2)
        return sample
    }

    @Test(arguments: backends)
    func `stand from the batch that brings them, also after it is opened again`(
        backend: StorageBackend
    ) async throws {
        let sample = try Self.sample()
        try await ScratchStorage.with(backend) { storage in
            let log = storage.log
            let standing = [Self.new(1..<4), Self.new(1..<4), Self.new(1..<6)]
            for (place, batch) in sample.batches.enumerated() {
                #expect(try log.append(batch) == sample.ends[place])
                #expect(try log.newStreams(from: 0) == standing[place])
            }
            try log.reopen()
            #expect(try log.newStreams(from: 0) == Self.new(1..<6))
            #expect(try log.newStreams(from: Self.new(3..<4)[0].stream) == Self.new(3..<6))
            try Self.end(log)
        }
    }

    // E2: a batch that is refused leaves nothing behind
    @Test(arguments: backends)
    func `come with a batch or not at all`(backend: StorageBackend) async throws {
        let sample = try Self.sample()
        try await ScratchStorage.with(backend) { storage in
            #expect(throws: LogStorageFault.self) { try storage.log.append(sample.batches[2]) }
            let standing = try storage.log.newStreams(from: 0)
            #expect(standing.isEmpty)
        }
    }

    @Test(arguments: backends)
    func `go with the next batch once they were taken over, or at once`(
        backend: StorageBackend
    ) async throws {
        let sample = try Self.sample()
        try await ScratchStorage.with(backend) { storage in
            let log = storage.log
            _ = try log.append(sample.batches[0])
            log.tookOver(upTo: Self.new(2..<3)[0].stream)
            #expect(try log.newStreams(from: 0) == Self.new(1..<4), "no commit of its own")
            _ = try log.append(sample.batches[1])
            #expect(try log.newStreams(from: 0) == Self.new(3..<4), "no more than was taken over")
            _ = try log.append(sample.batches[2])
            #expect(try log.newStreams(from: 0) == Self.new(3..<6), "each is removed once")
            log.tookOver(upTo: Self.new(4..<5)[0].stream)
            try log.removeTakenOver()
            #expect(try log.newStreams(from: 0) == Self.new(5..<6))
            #expect(try log.end() == sample.ends[2], "nothing else changed")
            try Self.end(log)
        }
    }

    // A commit of unknown outcome is made again.
    @Test(arguments: backends)
    func `stand once, whatever stood before`(backend: StorageBackend) async throws {
        var sample = try Self.sample()
        sample.add(Self.new(2..<6), to: 1)
        try await ScratchStorage.with(backend) { storage in
            for batch in sample.batches { _ = try storage.log.append(batch) }
            #expect(try storage.log.newStreams(from: 0) == Self.new(1..<6))
            try Self.end(storage.log)
        }
    }

    /// No vault knows these streams: they go before it is closed.
    private static func end(_ log: any LogStorage) throws {
        log.tookOver(upTo: .max)
        try log.removeTakenOver()
        #expect(try log.newStreams(from: 0).isEmpty)
    }
}

/// What a vault gives a commit of the log.
struct `Conformance of a vault's new streams` {
    private struct NotCommitted: Error {}

    private static func name(_ number: Int) -> StreamName {
        StreamName(environment: 1, subject: "customer/\(number)")
    }

    @Test(arguments: StorageBackend.allCases.filter(\.isDurable))
    func `are all that were reserved up to a counter, ascending, once`(
        backend: StorageBackend
    ) async throws {
        try await ScratchStorage.with(backend) { storage in
            let (log, vault) = (storage.log, storage.vault)
            let numbers = try (0..<4).map { try vault.reserveStream(of: Self.name($0)) }
            for (upTo, expected) in [(2, 0..<3), (1, 0..<0), (3, 3..<4), (3, 0..<0)] {
                let counter = StreamNumber.counter(of: numbers[upTo])
                let given = try vault.commit(upTo: counter) { new in
                    _ = try log.append(storage.batch(carrying: new))
                    return new.map(\.stream)
                }
                #expect(given == Array(numbers[expected]))
            }
        }
    }

    @Test(arguments: StorageBackend.allCases)
    func `stay reserved where the commit throws`(backend: StorageBackend) async throws {
        try await ScratchStorage.with(backend) { storage in
            let vault = storage.vault
            let number = try vault.reserveStream(of: Self.name(0))
            let tag = try vault.keys(of: number)?.tag("t")
            #expect(throws: NotCommitted.self) {
                try vault.commit(upTo: .max) { _ in throw NotCommitted() }
            }
            #expect(try vault.stream(of: Self.name(0)) == number)
            #expect(try vault.keys(of: number)?.tag("t") == tag)
            try storage.commit(upTo: .max)
            try storage.reopen()
            #expect(try storage.vault.stream(of: Self.name(0)) == number)
            #expect(try storage.vault.keys(of: number)?.tag("t") == tag)
        }
    }

    // The log says that it does not know, and opening it again tells.
    @Test(arguments: StorageBackend.allCases, [true, false])
    func `stand once where the commit's outcome was unknown`(
        backend: StorageBackend,
        stands: Bool
    ) async throws {
        try await ScratchStorage.with(backend) { storage in
            let vault = storage.vault
            let number = try vault.reserveStream(of: Self.name(0))
            #expect(throws: LogStorageFault.self) {
                try vault.commit(upTo: .max) { new in
                    let batch = try storage.batch(carrying: new)
                    if stands { _ = try storage.log.append(batch) }
                    throw LogStorageFault(.outcomeUnknown, "the commit failed")
                }
            }
            try storage.log.reopen()
            let next = try vault.reserveStream(of: Self.name(1))
            #expect(next != number)
            try storage.commit(upTo: .max)
            try vault.drawIn()
            #expect(try storage.log.newStreams(from: 0).isEmpty)
            try storage.reopen()
            #expect(try storage.vault.stream(of: Self.name(0)) == number)
            #expect(try storage.vault.stream(of: Self.name(1)) == next)
            #expect(try storage.vault.keys(of: number) != nil)
        }
    }
}

extension SampleLog {
    /// Adds new streams to a batch.
    mutating func add(_ new: [NewStream], to batch: Int) { batches[batch].newStreams = new }
}
