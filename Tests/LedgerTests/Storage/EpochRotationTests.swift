import Crypto
import DurableFiles
import Encodings
import EventLog
import Foundation
import LedgerAPI
import Salvage
import Synchronization
import Testing

@testable import LMDBStorage

/// What an erasure does to the vault's files (Z6).
struct `Epoch keys of a vault` {
    private static let masterKey = [UInt8](repeating: 7, count: 32)

    /// A vault in a ledger's directory, opened and closed at will.
    private struct Place {
        let path: String
        var vaultPath: String { path + "/vault" }

        init(_ folder: String) throws {
            path = folder + "/ledger"
            try LedgerDirectory.createSample(at: path, masterKey: masterKey)
        }

        init(madeAt path: String) { self.path = path }

        func open<Result>(
            isReadOnly: Bool = false,
            _ body: (LMDBVault) throws -> Result
        ) throws -> Result {
            let log = try LMDBLog(path: path + "/log", isReadOnly: isReadOnly)
            defer { log.close() }
            let vault = try LMDBVault(
                path: vaultPath,
                keyFile: EpochKeyFile(vaultPath: vaultPath, masterKey: masterKey),
                log: log,
                isReadOnly: isReadOnly,
                clock: { 1_780_000_000_000 },
                randomness: .system
            )
            defer { vault.close() }
            return try body(vault)
        }

        func keys() throws -> EpochKeys {
            try EpochKeyFile(vaultPath: vaultPath, masterKey: masterKey).read()
        }

        /// Every item in the bytes of a file, superseded ones in freed pages included.
        func items(in name: String, of folder: String? = nil) throws -> [VaultItem] {
            let bytes = try #require(try DurableFile.read((folder ?? vaultPath) + "/" + name))
            var items: [VaultItem] = []
            VaultJournalReader.read(bytes.span) { _, part in
                if case .item(let item) = part { items.append(item) }
            }
            return items
        }
    }

    private static func name(_ number: Int) -> StreamName {
        StreamName(environment: 0, subject: "customer/somebody-\(number)")
    }

    private static func fill(_ vault: LMDBVault, _ count: Int) throws -> [UInt64] {
        let numbers = try (0..<count).map { try vault.reserveStream(of: name($0)) }
        try vault.commitAll()
        return numbers
    }

    private static let signal = SignalDigest(high: 1, low: 2)

    private static func erase(_ streams: [UInt64], in vault: LMDBVault) throws {
        try vault.prepare(VaultErasure(streams: streams, signal: signal))
        try vault.finishErasure()
    }

    private static func opens(_ items: [VaultItem], of gone: Set<UInt64>, by keys: EpochKeys) -> Int
    {
        items.count { item in
            guard case .entry(let stream, _, let bytes) = item, gone.contains(stream) else {
                return false
            }
            return (try? VaultEntry(opening: bytes.span, epochKeys: keys)) != nil
        }
    }

    @Test func `open nothing of an erased stream, in freed pages, journal or older copies`()
        async throws
    {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            let numbers = try place.open { try Self.fill($0, 3000) }
            let gone = Set(numbers.prefix(40))
            let older = folder + "/older"
            try FileManager.default.copyItem(atPath: place.vaultPath, toPath: older)
            let before = try place.keys()
            let secrets = try place.items(in: "journal").compactMap { item -> [UInt8]? in
                guard case .entry(let stream, _, let bytes) = item, gone.contains(stream) else {
                    return nil
                }
                return try VaultEntry(opening: bytes.span, epochKeys: before)?.key
            }
            #expect(secrets.count == gone.count)
            try place.open { try Self.erase(Array(gone), in: $0) }
            let after = try place.keys()
            #expect(after.generation == 1 && after.replaced.isEmpty)
            for name in ["data.mdb", "journal"] {
                let items = try place.items(in: name)
                let isThere = items.contains { gone.contains($0.stream) }
                #expect(isThere, "the search finds superseded entries in \(name)")
                #expect(Self.opens(items, of: gone, by: after) == 0, "\(name)")
                #expect(Self.opens(items, of: gone, by: before) > 0, "the control, \(name)")
                let old = try place.items(in: name, of: older)
                #expect(Self.opens(old, of: gone, by: after) == 0, "older \(name)")
                #expect(Self.opens(old, of: gone, by: before) >= gone.count, "the control")
                let kept = Set(numbers).subtracting(gone)
                #expect(Self.opens(items, of: kept, by: after) >= kept.count)
            }
            for name in try FileManager.default.contentsOfDirectory(atPath: place.vaultPath) {
                let file = URL(filePath: place.vaultPath + "/" + name)
                let bytes = try Data(contentsOf: file)
                for secret in secrets { #expect(bytes.range(of: Data(secret)) == nil) }
            }
            try place.open(isReadOnly: true) { vault in
                try vault.check()
                for (index, number) in numbers.enumerated() {
                    let isGone = gone.contains(number)
                    #expect(try vault.stream(of: Self.name(index)) == (isGone ? nil : number))
                    #expect(try (vault.keys(of: number) == nil) == isGone)
                    #expect(try vault.isErased(number) == isGone)
                }
            }
        }
    }

    // Whoever reads beside an erasure is told of no damage.
    @Test(arguments: [true, false])
    func `are read again where an erasure ended while a vault was opened`(
        _ hasEnded: Bool
    ) async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            let numbers = try place.open { try Self.fill($0, 3) }
            let file = place.vaultPath + "/" + EpochKeys.fileName
            let before = try #require(try DurableFile.read(file))
            try place.open { try Self.erase([numbers[0]], in: $0) }
            let after = try #require(try DurableFile.read(file))
            try DurableFile.replace(file, with: before)
            // Asked for the key with the old content in its hands, while the new one takes its place.
            let keyFile = EpochKeyFile(
                vaultPath: place.vaultPath,
                masterKey: [UInt8](repeating: 8, count: 32),
                renewedKey: {
                    if hasEnded { try DurableFile.replace(file, with: after) }
                    return Self.masterKey
                }
            )
            let log = try LMDBLog(path: place.path + "/log", isReadOnly: true)
            defer { log.close() }
            func open() throws -> LMDBVault {
                try LMDBVault(
                    path: place.vaultPath,
                    keyFile: keyFile,
                    log: log,
                    isReadOnly: true,
                    clock: { 1_780_000_000_000 },
                    randomness: .system
                )
            }
            if hasEnded {
                let vault = try open()
                defer { vault.close() }
                #expect(try vault.name(of: numbers[1]) != nil)
                #expect(try vault.name(of: numbers[0]) == nil)
            } else {
                // The control: the old keys open nothing.
                #expect { _ = try open() } throws: {
                    ($0 as? LogStorageFault)?.code == .damaged
                }
            }
        }
    }

    // A machine that slept through erasures goes over several generations at once.
    @Test func `open a vault of several generations before, while it is sealed anew`() throws {
        var randomness = RandomSource.system
        let first = EpochKeys(using: &randomness)
        let second = first.rotating([1], using: &randomness).rotated
        let third = second.rotating([2], using: &randomness).rotated
        let file = third.beside(first)
        #expect(file.keys(of: 0)?.shards == first.shards)
        #expect(file.keys(of: 2)?.shards == third.shards)
        // Ones that no key is left of.
        #expect(third.keys(of: 0) == nil && third.keys(of: 3) == nil)
        #expect(third.beside(second).keys(of: 0) == nil)
    }

    // An erasure that a power cut stopped: the vault stands under the keys of before.
    @Test(arguments: [true, false])
    func `that were about to be replaced open what a salvage or a restore finds`(
        _ isSalvage: Bool
    ) async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            let numbers = try place.open { try Self.fill($0, 300) }
            var randomness = RandomSource.system
            let keys = try place.keys()
                .rotating(
                    Set(numbers.prefix(20).map { StreamNumber.shard(of: $0) }),
                    using: &randomness
                )
            try EpochKeyFile(vaultPath: place.vaultPath, masterKey: Self.masterKey)
                .write(keys, using: &randomness)
            // Its event is not in what is left of the log.
            try DurableFile.replace(
                place.vaultPath + "/" + ErasureNote.fileName,
                with: ErasureNote.bytes(
                    of: VaultErasure(streams: [numbers[0]], signal: Self.signal)
                )
            )
            let new = Place(madeAt: folder + "/new")
            if isSalvage {
                let rules = SalvageRules(
                    sharedPartDigest: { _ in nil },
                    namedStreams: { _ in [] },
                    erasedStreams: { _ in [] },
                    deletedEvidence: { _ in [] }
                )
                let report = try LedgerSalvage(
                    of: place.path,
                    masterKey: Self.masterKey,
                    rules: rules
                )
                .rescue(into: new.path)
                #expect(report.vault.streams == 299 && report.vault.lostCount == 0)
            } else {
                let manifest = try DurableFile.read(place.path + "/ledger.json")
                let counts = try LedgerDirectory.restore(
                    at: new.path,
                    from: LedgerDirectory.Restoration(
                        manifest: try #require(manifest),
                        vault: place.vaultPath,
                        published: nil,
                        loss: nil
                    ),
                    masterKey: Self.masterKey
                ) { _ in [] }
                #expect(counts == VaultCounts(streams: 300, erased: 1))
            }
            // Nothing opens by the keys of before any more.
            #expect(try new.keys().replaced.isEmpty)
            #expect(try new.keys().shards == keys.shards)
            try new.open { vault in
                try vault.check()
                for (index, number) in numbers.enumerated() {
                    let isGone = index == 0
                    #expect(try vault.stream(of: Self.name(index)) == (isGone ? nil : number))
                    #expect(try (vault.keys(of: number) == nil) == isGone)
                }
                try Self.erase([numbers[1]], in: vault)
                #expect(try vault.isErased(numbers[1]))
            }
            #expect(try new.keys().generation == keys.generation + 1)
        }
    }

    @Test func `turn again and again, while numbers are never given twice`() async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            var met: Set<UInt64> = []
            for round in 1...5 as ClosedRange<UInt64> {
                try place.open { vault in
                    let numbers = try Self.fill(vault, 200)
                    #expect(met.isDisjoint(with: numbers.prefix(50)))
                    met.formUnion(numbers)
                    try Self.erase(Array(numbers.prefix(50)), in: vault)
                    try vault.check()
                    #expect(try vault.erasedCopies(of: []).generation == round)
                    #expect(try vault.stream(of: Self.name(0)) == nil)
                    #expect(try vault.stream(of: Self.name(199)) == numbers[199])
                }
            }
            #expect(met.count == 200 + 4 * 50)
        }
    }

    @Test func `are taken up where another process rotated them meanwhile`() async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            let before = try place.keys()
            try place.open { vault in
                let numbers = try Self.fill(vault, 3000)
                let shards = Dictionary(grouping: numbers.indices) {
                    StreamNumber.shard(of: numbers[$0])
                }
                let (shard, beside) = try #require(shards.first { $0.value.count > 2 })
                try Self.erase([numbers[beside[0]]], in: vault)
                let after = vault.epochs
                #expect(after.generation == before.generation + 1)
                #expect(after.shards[shard] != before.shards[shard])
                // As a reader has them that opened the vault before.
                vault.use(before)
                #expect(try vault.name(of: numbers[beside[1]]) == Self.name(beside[1]))
                #expect(vault.epochs.generation == after.generation)
                vault.use(before)
                #expect(try vault.keys(of: numbers[beside[2]]) != nil)
                vault.use(before)
                #expect(try vault.name(of: numbers[beside[0]]) == nil)
            }
        }
    }

    @Test func `are wrapped by another master key, and only by that`() async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            let numbers = try place.open { try Self.fill($0, 20) }
            let other = [UInt8](repeating: 9, count: 32)
            let renewed = Mutex(Self.masterKey)
            let keyFile = EpochKeyFile(vaultPath: place.vaultPath, masterKey: Self.masterKey) {
                renewed.withLock { $0 }
            }
            let log = try LMDBLog(path: place.path + "/log", isReadOnly: false)
            defer { log.close() }
            let vault = try LMDBVault(
                path: place.vaultPath,
                keyFile: keyFile,
                log: log,
                isReadOnly: false,
                clock: { 0 },
                randomness: .system
            )
            for _ in 0..<2 {
                // The second time it is done already.
                let missed = try LedgerDirectory.rotateMasterKey(
                    at: place.path,
                    from: Self.masterKey,
                    to: other,
                    randomness: .system
                )
                #expect(missed.isEmpty)
            }
            #expect(throws: LedgerOpenFault.self) { try place.keys() }
            // What is open goes on, and asks for the key when it needs it.
            #expect(try vault.stream(of: Self.name(3)) == numbers[3])
            #expect(throws: LogStorageFault.self, "the source gives the old one") {
                try Self.erase([numbers[0]], in: vault)
            }
            #expect(vault.preparedErasure == nil, "nothing is begun")
            renewed.withLock { $0 = other }
            try Self.erase([numbers[0]], in: vault)
            #expect(try vault.isErased(numbers[0]))
            vault.close()
            let keys = try EpochKeyFile(vaultPath: place.vaultPath, masterKey: other).read()
            #expect(keys.generation == 1)
            #expect(throws: LedgerOpenFault.self, "neither opens it") {
                try LedgerDirectory.rotateMasterKey(
                    at: place.path,
                    from: Self.masterKey,
                    to: [UInt8](repeating: 1, count: 32),
                    randomness: .system
                )
            }
        }
    }

    @Test func `are damaged where a bit of the file differs`() async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            let file = place.vaultPath + "/" + EpochKeys.fileName
            let bytes = try #require(try DurableFile.read(file))
            for offset in [0, 3, 4, 11, 12, 30, bytes.count - 1] {
                var damaged = bytes
                damaged[offset] ^= 1
                try DurableFile.replace(file, with: damaged)
                #expect(throws: LedgerOpenFault.self, "\(offset)") { try place.keys() }
            }
            for count in [0, 3, 4, 11, 12, 40, bytes.count - 1] {
                try DurableFile.replace(file, with: Array(bytes.prefix(count)))
                #expect(throws: LedgerOpenFault.self, "\(count)") { try place.keys() }
            }
            try DurableFile.replace(file, with: bytes)
            #expect(throws: Never.self) { try place.keys() }
        }
    }
}
