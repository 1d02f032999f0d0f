import DurableFiles
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDB
import LedgerAPI
import Stores
import Testing

@testable import LMDBStorage
@testable import LedgerOperations

/// Copies that the product made: backups, the quarantine, exports, the journal (Z6).
struct `What an erasure reaches` {
    private static let masterKey = [UInt8](repeating: 7, count: 32)

    /// A ledger's directory with an open vault of customers.
    private struct Place {
        let path: String
        let directory: OpenLedgerDirectory
        let numbers: [UInt64]

        static func with(
            _ folder: String,
            count: Int = 60,
            _ body: (Place) throws -> Void
        ) throws {
            let path = folder + "/ledger"
            try LedgerDirectory.createSample(at: path, masterKey: masterKey)
            let directory = try OpenLedgerDirectory(
                at: path,
                masterKey: masterKey,
                forWriting: true,
                clock: { 1_780_000_000_000 },
                randomness: .system
            )
            defer { directory.close() }
            let numbers = try (0..<count).map { try directory.vault.reserveStream(of: name($0)) }
            try directory.vault.commitAll()
            try body(Place(path: path, directory: directory, numbers: numbers))
        }

        func erase(_ range: Range<Int>) throws {
            let erasure = VaultErasure(
                streams: numbers[range],
                signal: SignalDigest(high: UInt64(range.lowerBound), low: 0)
            )
            try directory.vault.prepare(erasure)
            try directory.vault.finishErasure()
        }

        func backUp(to path: String, at: String = "2026-06-01T00:00:00.000Z") throws {
            _ = try directory.copyVault(to: path + "/vault", masterKey: masterKey)
            try BackupList.note(BackupList.Entry(path: path, at: at), ledgerPath: self.path)
        }

        /// Which customers a vault made from a backup opens.
        func opened(from backup: String, in folder: String) throws -> [Bool] {
            let path = folder + "/" + UUID().uuidString
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true
            )
            let vault = backup + "/vault"
            let keyFile = EpochKeyFile(vaultPath: vault, masterKey: masterKey)
            _ = try VaultCopy.make(
                at: path,
                from: vault + "/journal",
                epochKeys: keyFile.read(),
                erased: []
            )
            let log = path + "-log"
            try FileManager.default.createDirectory(
                atPath: log,
                withIntermediateDirectories: true
            )
            let made = try LMDBVault(
                path: path,
                keyFile: keyFile,
                log: LMDBLog(path: log, isReadOnly: false),
                isReadOnly: false,
                clock: { 0 },
                randomness: .system
            )
            defer { made.close() }
            try made.check()
            return try numbers.indices.map { index in
                let name = try made.name(of: numbers[index])
                #expect(name == nil || name == Self.name(index))
                #expect(try made.isErased(numbers[index]) == (name == nil))
                return name != nil
            }
        }

        static func name(_ number: Int) -> StreamName {
            StreamName(environment: 0, subject: "customer/somebody-\(number)")
        }
    }

    @Test func `backups forget too, also one that was away for a while`() async throws {
        try await withScratchDirectory { folder in
            try Place.with(folder) { place in
                let (near, far) = (folder + "/near", folder + "/far")
                try place.backUp(to: near)
                try place.backUp(to: far, at: "2026-06-02T00:00:00.000Z")
                #expect(try place.opened(from: near, in: folder).allSatisfy { $0 }, "the control")
                try place.erase(0..<3)
                // The mount is gone when the next one goes, and comes back for the last.
                try FileManager.default.moveItem(atPath: far, toPath: far + "-away")
                try place.erase(3..<6)
                var copies = try place.directory.vault.erasedCopies(of: [])
                #expect(copies.generation == 2)
                #expect(copies.reached == [near])
                #expect(copies.missed.map(\.path) == [far])
                #expect(copies.missed.map(\.until) == [1_782_950_400_000], "30 days on")
                try FileManager.default.moveItem(atPath: far + "-away", toPath: far)
                #expect(
                    try place.opened(from: far, in: folder).dropFirst(3).allSatisfy { $0 },
                    "the control: what it missed still opens"
                )
                try place.erase(6..<9)
                copies = try place.directory.vault.erasedCopies(of: [])
                #expect(copies.reached == [near, far] && copies.missed.isEmpty)
                for backup in [near, far] {
                    let opened = try place.opened(from: backup, in: folder)
                    #expect(opened == (0..<60).map { $0 >= 9 }, "\(backup)")
                    #expect(try place.directory.isCurrent(vaultCopy: backup + "/vault"))
                }
            }
        }
    }

    // A full disk, or a power cut, comes between any two of its files.
    @Test func `a backup that is gone on with opens for all who stay, wherever it is stopped`()
        async throws
    {
        try await withScratchDirectory { folder in
            try Place.with(folder, count: 1500) { place in
                let backup = folder + "/backup"
                try place.backUp(to: backup)
                // It is away while somebody goes whose key others have.
                try FileManager.default.moveItem(atPath: backup, toPath: backup + "-away")
                let shards = Dictionary(grouping: place.numbers.indices) {
                    StreamNumber.shard(of: place.numbers[$0])
                }
                let together = try #require(shards.values.first { $0.count > 1 })
                let gone = together[0]
                try place.erase(gone..<(gone + 1))
                try FileManager.default.moveItem(atPath: backup + "-away", toPath: backup)
                let stay = place.numbers.indices.map { $0 != gone }
                let blocked = backup + "/vault/epoch-keys.new"
                try DurableFile.makeFolder(blocked)
                #expect(throws: FileFault.self) { try place.backUp(to: backup) }
                #expect(try place.opened(from: backup, in: folder) == stay)
                try FileManager.default.removeItem(atPath: blocked)
                try place.backUp(to: backup)
                #expect(try place.opened(from: backup, in: folder) == stay)
                #expect(try place.directory.isCurrent(vaultCopy: backup + "/vault"))
            }
        }
    }

    @Test func `exports are named that hold somebody, or everything`() async throws {
        try await withScratchDirectory { folder in
            try Place.with(folder) { place in
                let lines = [
                    #"{"path":"/a","streams":[\#(place.numbers[0]),\#(place.numbers[1])]}"#,
                    #"{"path":"/b","streams":[\#(place.numbers[2])]}"#,
                    #"{"path":"/c","streams":null}"#,
                ]
                try LedgerDirectory.noteExports(lines, at: place.path)
                let vault = place.directory.vault
                #expect(try vault.erasedCopies(of: [place.numbers[1]]).exports == ["/a", "/c"])
                #expect(try vault.erasedCopies(of: [place.numbers[9]]).exports == ["/c"])
                // A line that cannot be read may be of an export that holds them.
                try LedgerDirectory.noteExports(["not a line"], at: place.path)
                let named = try vault.erasedCopies(of: [place.numbers[9]]).exports
                #expect(named.count == 2 && named.contains("/c"))
                let list = try #require(named.first { $0 != "/c" })
                #expect(list.hasSuffix("/exports.ndjson") && DurableFile.exists(list))
            }
        }
    }

    @Test func `refused items that name somebody go, whatever they are wrapped in`() async throws {
        try await withScratchDirectory { folder in
            try Place.with(folder) { place in
                func item(_ text: String) -> [UInt8] { Array(text.utf8) }
                let inner = Base64.encode(item(#"{"appAccountToken":"somebody-0"}"#).span, .url)
                let middle = Base64.encode(
                    item(#"{"signedTransactionInfo":"e30.\#(inner).c2ln"}"#).span,
                    .url
                )
                let outer = Base64.encode(item(#"{"data":"\#(middle)"}"#).span, .url)
                let gone = [
                    item(#"{"subject":"x","data":{"alias":"somebody-0"}}"#),
                    item(#"{"subject":"customer/somebody-0","type":"no.such"}"#),
                    item(#"{"app_user_id":"\u0073omebody-0"}"#), item("1;somebody-0;2026-01-01"),
                    item("somebody-0"), item("{\"id\":\"somebody-0"),
                    item("https://example.org/?user=Somebody%2D0&x=1"),
                    item(#"{"metadata":"{\"user\":\"somebody-0\"}"}"#),
                    item(#"{"message":{"data":"\#(outer)"}}"#),
                    item(Data(item(#"{"a":"somebody-0"}"#)).base64EncodedString()),
                    item(#"{"signedPayload":"e30.\#(middle).c2ln"}"#),
                ]
                let kept = [
                    item(#"{"alias":"somebody-01"}"#), item(#"{"alias":"somebody-7"}"#),
                    item("not json"), [],
                ]
                var quarantine = try Quarantine(
                    ledgerPath: place.path,
                    masterKey: Self.masterKey,
                    oldest: "2026-01-01",
                    randomness: .system
                )
                try quarantine.add(gone + kept, day: "2026-05-30")
                try quarantine.add(gone, day: "2026-05-31")
                let key = place.path + "/quarantine/2026-05-30.key"
                let before = try DurableFile.read(key)
                try place.erase(1..<2)
                #expect(try quarantine.items(of: "2026-05-30").count == gone.count + 4, "others'")
                try place.erase(0..<1)
                #expect(before != nil && !DurableFile.exists(key), "its key went")
                #expect(try quarantine.days() == ["2026-05-30+"], "what stays is under another key")
                #expect(try quarantine.items(of: "2026-05-30+") == kept)
            }
        }
    }

    // What somebody asks a server meanwhile is not written back over what it took.
    @Test func `refused items that are tried again beside it name nobody, and stand once`()
        async throws
    {
        try await withScratchDirectory { folder in
            try Place.with(folder) { place in
                var quarantine = try ImportQuarantine(
                    ofLedgerAt: place.path,
                    masterKey: Self.masterKey,
                    clock: { Instant(milliseconds: 1_780_000_000_000) }
                )
                let items = (0..<3).map { Array(#"{"app_user_id":"somebody-\#($0)"}"#.utf8) }
                try quarantine.add(items)
                // Of an erasure that takes none of them it knows nothing: the last one was recorded.
                try quarantine.replaceEachDay { lines in
                    try place.erase(9..<10)
                    return lines.compactMap(\.bytes).dropLast()
                }
                try quarantine.replaceEachDay { lines in
                    try place.erase(0..<1)
                    return lines.compactMap(\.bytes)
                }
                var standing: [[UInt8]] = []
                try quarantine.replaceEachDay { lines in
                    standing += lines.compactMap(\.bytes)
                    return []
                }
                #expect(standing == [items[1]])
            }
        }
    }

    // Nothing else is known of them: their ids stand in what no event was made of.
    @Test func `somebody who waits in refused items alone is erased there`() async throws {
        try await ScratchLedger.with { scratch in
            var quarantine = try Quarantine(
                ledgerPath: scratch.path,
                masterKey: (0..<32).map { UInt8($0) },
                oldest: "2026-01-01",
                randomness: .system
            )
            let others = Array(#"{"app_user_id":"bob-1234"}"#.utf8)
            let theirs = Array(#"{"app_user_id":"Ann-1234"}"#.utf8)
            try quarantine.add([theirs, others], day: "2026-05-30")
            func erase(_ customer: CustomerID) throws -> ErasureOutcome {
                try scratch.ledger.eraser.erase(
                    [customer],
                    Request(id: customer.text, source: Source.support, environment: .production),
                    reading: StoredEvidenceNames()
                )
            }
            let plan = try scratch.ledger.eraser.plannedErasure(of: ["ann-1234", "cat-1234"])
            #expect(plan.unknown == ["cat-1234"] && plan.streams.isEmpty)
            let ann = StreamName(
                environment: StoreEnvironment.production.rawValue,
                subject: "customer/ann-1234"
            )
            #expect(try scratch.directory.vault.stream(of: ann) == nil, "none is reserved")
            guard case .unknown = try erase("cat-1234") else {
                Issue.record("somebody whom nothing names was erased")
                return
            }
            guard case .erased = try erase("ann-1234") else {
                Issue.record("somebody whom an item names is unknown")
                return
            }
            #expect(try quarantine.days().map { try quarantine.items(of: $0) } == [[others]])
        }
    }

    // What is damaged would be passed over where the copy is read, without a word.
    @Test func `a copy is made of whole items alone`() async throws {
        try await withScratchDirectory { folder in
            try Place.with(folder) { place in
                try place.backUp(to: folder + "/sound")
                let (vault, key) = (place.directory.vault, Key(place.numbers[3]))
                try vault.environment.write { transaction in
                    var value = try #require(
                        try transaction.get(vault.streams, key) { $0.copy() }
                    )
                    value[value.count / 2] ^= 1
                    try transaction.put(vault.streams, key, value.span)
                }
                let fault = #expect(throws: LogStorageFault.self) {
                    try place.backUp(to: folder + "/damaged")
                }
                #expect(fault?.code == .damaged)
            }
        }
    }

    @Test func `the journal is written anew once half of it is dead`() async throws {
        try await withScratchDirectory { folder in
            try Place.with(folder) { place in
                let vault = place.directory.vault
                let more = try (0..<20_000).map {
                    try vault.reserveStream(
                        of: StreamName(environment: 1, subject: "customer/\($0)")
                    )
                }
                try vault.commitAll()
                let journal = place.path + "/vault/journal"
                func size() throws -> Int { try #require(try DurableFile.read(journal)).count }
                let whole = try size()
                // Every shard is rotated each time.
                for round in 0..<3 {
                    let range = round * 6000..<(round + 1) * 6000
                    try vault.prepare(
                        VaultErasure(
                            streams: more[range],
                            signal: SignalDigest(high: UInt64(round), low: 1)
                        )
                    )
                    try vault.finishErasure()
                    vault.compacting.sync {}
                }
                #expect(try size() < whole / 2)
                var items: [UInt64: VaultItem] = [:]
                try VaultJournalReader.read(journal) { _, part in
                    guard case .item(let item) = part else {
                        Issue.record("it has unreadable bytes")
                        return
                    }
                    items[item.stream] = item
                }
                #expect(items.count == 20_060)
                #expect(more.prefix(18_000).allSatisfy { items[$0] == .tombstone(stream: $0) })
                #expect(!FileManager.default.fileExists(atPath: journal + ".new"))
                // What comes later goes to the new one.
                let late = try vault.reserveStream(of: Place.name(77))
                try vault.commitAll()
                var isThere = false
                try VaultJournalReader.read(journal) { _, part in
                    if case .item(let item) = part, item.stream == late { isThere = true }
                }
                #expect(isThere)
            }
        }
    }
}
