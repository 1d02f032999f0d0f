import EventLog
import Foundation
import Testing

/// Names and keys.
struct `Conformance of a vault` {
    private static let ann = StreamName(environment: 1, subject: "customer/ann")

    @Test(arguments: StorageBackend.allCases)
    func `an unknown name has no stream, an unknown stream no name and no keys`(
        backend: StorageBackend
    ) async throws {
        try await ScratchStorage.with(backend) { storage in
            let found = try storage.vault.stream(of: Self.ann)
            #expect(found == nil)
            for stream in [StreamNumber.catalog, 4097, .max] {
                #expect(try storage.vault.name(of: stream) == nil)
                #expect(try storage.vault.keys(of: stream) == nil)
            }
        }
    }

    @Test(arguments: StorageBackend.allCases)
    func `reserving a name again gives the same number`(backend: StorageBackend) async throws {
        try await ScratchStorage.with(backend) { storage in
            let number = try storage.vault.reserveStream(of: Self.ann)
            #expect(try storage.vault.reserveStream(of: Self.ann) == number)
            try storage.commit(upTo: StreamNumber.counter(of: number))
            #expect(try storage.vault.reserveStream(of: Self.ann) == number)
            #expect(try storage.vault.stream(of: Self.ann) == number)
            try storage.reopen()
            #expect(try storage.vault.reserveStream(of: Self.ann) == number)
        }
    }

    @Test(arguments: StorageBackend.allCases)
    func `a reserved stream has its name and keys at once`(backend: StorageBackend) async throws {
        try await ScratchStorage.with(backend) { storage in
            let number = try storage.vault.reserveStream(of: Self.ann)
            #expect(try storage.vault.name(of: number) == Self.ann)
            let tag = try #require(try storage.vault.keys(of: number)).tag("t1")
            try storage.commit(upTo: StreamNumber.counter(of: number))
            #expect(try storage.vault.keys(of: number)?.tag("t1") == tag)
        }
    }

    // E3
    @Test(arguments: StorageBackend.allCases)
    func `names and keys come back after a commit, tags stay`(
        backend: StorageBackend
    ) async throws {
        let names = (0..<300).map { StreamName(environment: 1, subject: "customer/\($0)") }
        try await ScratchStorage.with(backend) { storage in
            let numbers = try names.map { try storage.vault.reserveStream(of: $0) }
            #expect(Set(numbers).count == names.count)
            let tags = try numbers.map { try storage.vault.keys(of: $0)?.tag("t1") }
            #expect(Set(tags).count == names.count, "a tag compares within its stream only")
            let counters = numbers.map { StreamNumber.counter(of: $0) }
            #expect(counters == counters.sorted(), "what is reserved later has a higher counter")
            // Those that stand already, and those that are none of the vault's, are passed over.
            for counter in [counters[299], counters[1], 0, counters[299] + 7] {
                try storage.commit(upTo: counter)
            }
            for _ in 0..<2 {
                #expect(try names.map { try storage.vault.stream(of: $0) } == numbers)
                #expect(try numbers.map { try storage.vault.name(of: $0) } == names)
                #expect(try numbers.map { try storage.vault.keys(of: $0)?.tag("t1") } == tags)
                try storage.reopen()
            }
        }
    }

    @Test(arguments: StorageBackend.allCases.filter(\.isDurable))
    func `nothing is durable before its commit`(backend: StorageBackend) async throws {
        try await ScratchStorage.with(backend) { storage in
            let other = StreamName(environment: 1, subject: "customer/bob")
            let kept = try storage.vault.reserveStream(of: other)
            let lost = try storage.vault.reserveStream(of: Self.ann)
            try storage.commit(upTo: StreamNumber.counter(of: kept))
            try storage.reopen()
            #expect(try storage.vault.stream(of: other) == kept)
            #expect(try storage.vault.stream(of: Self.ann) == nil)
            #expect(try storage.vault.name(of: lost) == nil)
            #expect(try storage.vault.keys(of: lost) == nil)
        }
    }

    // Model, "Events": names are bytes
    @Test(arguments: StorageBackend.allCases)
    func `environments and spellings stay apart`(backend: StorageBackend) async throws {
        let names = [
            StreamName(environment: 1, subject: "customer/caf\u{E9}"),
            StreamName(environment: 2, subject: "customer/caf\u{E9}"),
            StreamName(environment: 1, subject: "customer/cafe\u{301}"),
            StreamName(environment: 2, subject: "customer/cafe\u{301}"),
            StreamName(environment: 1, subject: "customer/cafe"),
            StreamName(environment: 1, subject: "purchase/caf\u{E9}"),
        ]
        try await ScratchStorage.with(backend) { storage in
            let numbers = try names.map { try storage.vault.reserveStream(of: $0) }
            #expect(Set(numbers).count == names.count)
            try storage.commit(upTo: .max)
            try storage.reopen()
            for (name, number) in zip(names, numbers) {
                #expect(try storage.vault.stream(of: name) == number)
                let found = try #require(try storage.vault.name(of: number))
                #expect(found.environment == name.environment)
                #expect(Array(found.subject.utf8) == Array(name.subject.utf8))
            }
        }
    }

    @Test(arguments: StorageBackend.allCases)
    func `a number is a counter and a shard, and no counter comes twice`(
        backend: StorageBackend
    ) async throws {
        try await ScratchStorage.with(backend) { storage in
            var counters: Set<UInt64> = []
            var shards: Set<Int> = []
            for round in 0..<4 {
                let names = (0..<200).map {
                    StreamName(environment: 1, subject: "customer/\(round)-\($0)")
                }
                let numbers = try names.map { try storage.vault.reserveStream(of: $0) }
                try storage.commit(upTo: .max)
                for number in numbers {
                    let (counter, shard) = (
                        StreamNumber.counter(of: number), StreamNumber.shard(of: number)
                    )
                    #expect(number == counter * 4096 + UInt64(shard))
                    #expect(counter > 0, "0 is the catalog's")
                    #expect(counters.insert(counter).inserted, "counter \(counter)")
                    shards.insert(shard)
                }
                try storage.reopen()
            }
            guard StorageBackend.ofLedgers.contains(backend) else { return }
            // 800 names in 4 096 shards: 724 are expected, fewer than 600 never.
            #expect(shards.count > 600, "\(shards.count) shards")
        }
    }

    // A counter that the log names is not given again: where its stream is gone, none is given.
    @Test(arguments: StorageBackend.allCases.filter(\.isDurable))
    func `a vault that lacks streams of the log is damaged`(
        backend: StorageBackend
    ) async throws {
        let sample = try SampleLog([20])
        try await ScratchStorage.with(backend) { storage in
            #expect(throws: Never.self) { try storage.vault.check() }
            try storage.append(sample)
            try storage.reopen()
            #expect(throws: LogStorageFault.self) { try storage.vault.check() }
            #expect(throws: LogStorageFault.self) { try storage.vault.reserveStream(of: Self.ann) }
        }
    }

    @Test(arguments: StorageBackend.allCases)
    func `secrets stay and belong to one vault`(backend: StorageBackend) async throws {
        try await ScratchStorage.with(backend) { storage in
            let secrets = try Secrets(storage.vault)
            try storage.reopen()
            #expect(try Secrets(storage.vault) == secrets)
            try await ScratchStorage.with(backend) { other in
                let others = try Secrets(other.vault)
                #expect(others.signal != secrets.signal)
                #expect(others.verifierKey != secrets.verifierKey)
            }
        }
    }

    /// What the secrets make, instead of the secrets.
    private struct Secrets: Equatable {
        var signal: SignalDigest
        var verifierKey: String

        init(_ vault: any Vault) throws {
            signal = vault.digestSecret.signal(environment: 1, source: "support", id: "e1")
            let signer = try NoteSigner(name: "test", privateKey: vault.checkpointKey)
            verifierKey = signer.verifierKey.text
        }
    }
}
