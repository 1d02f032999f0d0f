import DurableFiles
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import Stores
import Synchronization
import Testing

@testable import LMDBStorage

/// New streams are drawn in before an erasure says anything, so that no key stands outside of the
/// vault (Z6).
struct `An erasure of streams on their way` {
    private static let signal = SignalDigest(high: 1, low: 2)

    private static func with(_ body: (StreamPlace) throws -> Void) async throws {
        try await withScratchDirectory { folder in
            let place = try StreamPlace(folder)
            defer { place.directory.close() }
            try body(place)
        }
    }

    // Freed pages of the log hold the entries still: only their epoch keys are gone.
    @Test func `leaves no usable key in any file`() async throws {
        try await ScratchLedger.with { scratch in
            let vault = scratch.directory.vault
            let before = vault.epochs
            try vault.writer.withLock { _ in
                for number in 0..<8 {
                    let lines = Sample.ownedPurchase("u\(number)", "app_store/\(number)")
                    _ = try scratch.ledger.appender.record(Sample.submissions(lines))
                }
            }
            #expect(try !scratch.directory.log.newStreams(from: 0).isEmpty)
            let outcome = try scratch.ledger.eraser.erase(
                ["u0", "u1"],
                Request(id: "e", source: Source.support, environment: .production),
                reading: StoredEvidenceNames()
            )
            guard case .erased(let receipt) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            let after = vault.epochs
            let gone = Set(receipt.streams)
            #expect(gone.count == 4)
            #expect(try scratch.directory.log.newStreams(from: 0).isEmpty)
            #expect(try scratch.ledger.auditor.audit().isOK)
            try scratch.close()
            var secrets: Set<[UInt8]> = []
            for file in ["log/data.mdb", "vault/data.mdb", "vault/journal"] {
                let items = try VaultItem.all(in: scratch.path + "/" + file)
                let theirs = items.filter { gone.contains($0.stream) }
                let keys = theirs.compactMap { $0.key(under: before) }
                #expect(!keys.isEmpty, "the control: the search finds them in \(file)")
                #expect(theirs.allSatisfy { $0.key(under: after) == nil }, "\(file)")
                #expect(items.contains { $0.key(under: after) != nil }, "others open in \(file)")
                secrets.formUnion(keys)
            }
            #expect(secrets.count == gone.count)
            for file in try files(below: scratch.path) {
                let holdsNone = secrets.allSatisfy { file.bytes.range(of: Data($0)) == nil }
                #expect(holdsNone, "\(file.path)")
            }
        }
    }

    // A machine that follows, whose log took a batch at the second attempt only.
    @Test func `passes over those that the vault had before the log`() async throws {
        try await Self.with { place in
            let numbers = try place.commit(0..<3)
            let new = try place.log.newStreams(from: 0)
            try place.vault.drawIn()
            try place.log.add(new)
            try place.vault.prepare(VaultErasure(streams: numbers.prefix(1), signal: Self.signal))
            #expect(try place.log.newStreams(from: 0).isEmpty)

            // The control: one that the vault never had is a fault.
            let stranger = NewStream(
                stream: StreamNumber.number(counter: 99, shard: 0),
                bytes: new[0].bytes
            )
            try place.log.add([stranger])
            #expect(throws: LogStorageFault.self) { try place.vault.drawIn() }
        }
    }

    @Test func `has drawn them in before it is noted`() async throws {
        try await Self.with { place in
            let numbers = try place.commit(0..<6)
            try place.vault.prepare(VaultErasure(streams: numbers.prefix(2), signal: Self.signal))
            #expect(try place.log.newStreams(from: 0).isEmpty)
            #expect(try numbers.allSatisfy { try place.kept($0) != nil })
            #expect(Set(try place.journal().map(\.stream)) == Set(numbers))
        }
    }

    @Test func `is refused where they cannot be drawn in`() async throws {
        try await Self.with { place in
            let numbers = try place.commit(0..<2)
            let erasure = VaultErasure(streams: numbers, signal: Self.signal)
            try place.whileVaultRefuses { () throws in
                #expect(throws: LogStorageFault.self) { try place.vault.prepare(erasure) }
                #expect(place.vault.preparedErasure == nil)
                #expect(!DurableFile.exists(place.path + "/vault/erasure"))
                #expect(try place.vault.name(of: numbers[0]) == StreamPlace.name(0))
            }
            // The control.
            try place.vault.prepare(erasure)
            try place.vault.finishErasure()
            #expect(try place.vault.isErased(numbers[0]))
        }
    }

    // Others go on between its event and its end; whoever goes on with it draws in theirs too.
    @Test(arguments: [true, false])
    func `draws in again what came since, also after a stop`(isStopped: Bool) async throws {
        try await Self.with { place in
            let numbers = try place.commit(0..<6)
            let before = try place.keys()
            try place.vault.prepare(VaultErasure(streams: numbers.prefix(2), signal: Self.signal))
            let later = try place.vault.writer.withLock { _ in
                let later = try place.commit(6..<40)
                if isStopped {
                    try FileManager.default.copyItem(
                        atPath: place.path,
                        toPath: place.path + "-stopped"
                    )
                }
                return later
            }
            var path = place.path
            if isStopped {
                path += "-stopped"
                place.directory.close()
            }
            let directory = isStopped ? try StreamPlace.open(path) : place.directory
            defer { if isStopped { directory.close() } }
            let vault = directory.vault
            try vault.finishErasure()
            #expect(try directory.log.newStreams(from: 0).isEmpty)
            for (index, number) in (numbers + later).enumerated() {
                #expect(try vault.isErased(number) == (index < 2))
                #expect(try vault.name(of: number) == (index < 2 ? nil : StreamPlace.name(index)))
                #expect(try vault.stream(of: StreamPlace.name(index)) == (index < 2 ? nil : number))
            }
            #expect(try vault.check() == 40)
            let gone = Set(numbers.prefix(2))
            var theirs: [VaultItem] = []
            for file in ["log/data.mdb", "vault/data.mdb", "vault/journal"] {
                theirs += try VaultItem.all(in: path + "/" + file).filter {
                    gone.contains($0.stream)
                }
            }
            #expect(theirs.contains { $0.key(under: before) != nil }, "the control")
            #expect(theirs.allSatisfy { $0.key(under: vault.epochs) == nil })
        }
    }

    // What was committed in doubt stands in the log under the old keys.
    @Test func `draws in what a commit of unknown outcome left`() async throws {
        try await Self.with { place in
            let number = try place.vault.reserveStream(of: StreamPlace.name(0))
            #expect(throws: LogStorageFault.self) {
                try place.vault.commit(upTo: .max) { new in
                    var batch = LogBatch(after: try place.log.end())
                    batch.newStreams = new
                    _ = try place.log.append(batch)
                    throw LogStorageFault(.outcomeUnknown, "the commit failed")
                }
            }
            try place.log.reopen()
            func opened() throws -> Set<UInt64> {
                let items = try VaultItem.all(in: place.path + "/log/data.mdb")
                return Set(
                    items.filter { $0.key(under: place.vault.epochs) != nil }.map(\.stream)
                )
            }
            #expect(try opened() == [number], "the control")
            try place.vault.prepare(VaultErasure(streams: [number], signal: Self.signal))
            try place.vault.finishErasure()
            #expect(try place.vault.isErased(number))
            let others = try place.commit(1..<3)
            #expect(try opened() == Set(others))
            try place.vault.drawIn()
            #expect(try place.vault.check() == 3)
        }
    }

    // A name that is free again is given when the stream that had it is gone, not before.
    @Test func `has its turn before a name that it freed is given again`() async throws {
        try await Self.with { place in
            let old = try place.commit(0..<1)[0]
            try place.vault.prepare(VaultErasure(streams: [old], signal: Self.signal))
            // As the log's event does.
            place.vault.close([old])
            #expect(try place.vault.stream(of: StreamPlace.name(0)) == nil)
            let new = try place.vault.reserveStream(of: StreamPlace.name(0))
            #expect(new != old)
            try place.vault.commit(upTo: .max) { streams in
                #expect(streams.map(\.stream) == [new])
                #expect(try place.kept(old) == VaultItem.tombstone(stream: old).bytes)
                var batch = LogBatch(after: try place.log.end())
                batch.newStreams = streams
                _ = try place.log.append(batch)
            }
            // It is noted until whoever erases has deleted the evidence, too.
            #expect(place.vault.preparedErasure != nil)
            #expect(try place.vault.stream(of: StreamPlace.name(0)) == new)
            try place.vault.finishErasure()
            #expect(place.vault.preparedErasure == nil)
            #expect(try place.vault.stream(of: StreamPlace.name(0)) == new)
            #expect(try place.vault.check() == 2)
        }
    }

    // Nobody was told whether the event stands that names a stream of its own commit.
    @Test func `frees the name of a stream whose commit was in doubt`() async throws {
        try await Self.with { place in
            let (vault, name) = (place.vault, StreamPlace.name(0))
            let old = try vault.reserveStream(of: name)
            try vault.prepare(VaultErasure(streams: [old], signal: Self.signal))
            #expect(throws: LogStorageFault.self) {
                try vault.commit(upTo: .max) { new in
                    var batch = LogBatch(after: try place.log.end())
                    batch.newStreams = new
                    _ = try place.log.append(batch)
                    throw LogStorageFault(.outcomeUnknown, "the commit failed")
                }
            }
            try place.log.reopen()
            vault.close([old])
            #expect(try vault.stream(of: name) == nil)
            let new = try place.commit(0..<1)[0]
            #expect(new != old)
            #expect(try vault.isErased(old))
            #expect(try vault.stream(of: name) == new)
            try place.reopen()
            #expect(try place.vault.stream(of: name) == new)
            #expect(try place.vault.isErased(old))
            #expect(try place.vault.check() == 2)
        }
    }
}
