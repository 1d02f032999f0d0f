import DurableFiles
import EventLog
import Foundation
import Synchronization
import Testing

@testable import LMDBStorage

/// Streams on their way from the log's commit into the vault (Storage, "Append").
struct `A new stream` {
    private static func with(_ body: (StreamPlace) throws -> Void) async throws {
        try await withScratchDirectory { folder in
            let place = try StreamPlace(folder)
            defer { place.directory.close() }
            try body(place)
        }
    }

    // The vault's files are busy meanwhile: nobody waits for them.
    @Test func `is committed by the log alone, and the vault keeps the very bytes`() async throws {
        try await Self.with { place in
            let data = URL(filePath: place.path + "/vault/data.mdb")
            let before = try Data(contentsOf: data)
            let (numbers, new) = try place.vault.writer.withLock { _ in
                let numbers = try place.commit(0..<3)
                for (index, number) in numbers.enumerated() {
                    #expect(try place.vault.stream(of: StreamPlace.name(index)) == number)
                    #expect(try place.vault.name(of: number) == StreamPlace.name(index))
                    #expect(try place.vault.keys(of: number) != nil)
                    #expect(try place.kept(number) == nil)
                }
                #expect(try Data(contentsOf: data) == before)
                #expect(try place.journal().isEmpty)
                return (numbers, try place.log.newStreams(from: 0))
            }
            #expect(new.map(\.stream) == numbers)
            try place.vault.drawIn()
            #expect(try place.log.newStreams(from: 0).isEmpty)
            #expect(try numbers.map { try place.kept($0) } == new.map(\.bytes))
            #expect(try place.journal().map(\.bytes) == new.map(\.bytes))
            #expect(try place.vault.check() == 3)
        }
    }

    @Test func `is taken over behind, and removed though nobody commits`() async throws {
        try await Self.with { place in
            let number = try place.commit(0..<1)[0]
            var rounds = 0
            while try !place.log.newStreams(from: 0).isEmpty, rounds < 600 {
                usleep(50_000)
                rounds += 1
            }
            #expect(try place.log.newStreams(from: 0).isEmpty)
            #expect(try place.kept(number) != nil)
            #expect(try place.journal().map(\.stream) == [number])
        }
    }

    @Test func `stands in two places until a later commit of the log`() async throws {
        try await Self.with { place in
            let number = try place.commit(0..<1)[0]
            try place.vault.takeOver()
            try place.vault.writer.withLock { _ in
                #expect(try place.kept(number) != nil)
                #expect(try place.log.newStreams(from: 0).map(\.stream) == [number])
                let later = try place.commit(1..<2)
                #expect(try place.log.newStreams(from: 0).map(\.stream) == later)
            }
        }
    }

    @Test func `waits nowhere once the ledger was closed`() async throws {
        try await Self.with { place in
            let numbers = try place.commit(0..<5)
            try place.reopen()
            #expect(try place.log.newStreams(from: 0).isEmpty)
            #expect(try numbers.allSatisfy { try place.kept($0) != nil })
            #expect(try place.journal().map(\.stream) == numbers)
        }
    }

    // What did not get into the vault waits for the next opening, and its number stays taken.
    @Test func `waits on where the vault takes nothing`() async throws {
        try await Self.with { place in
            var numbers: [UInt64] = []
            try place.whileVaultRefuses {
                numbers = try place.commit(0..<2)
                #expect(throws: LogStorageFault.self) { try place.vault.drawIn() }
                numbers += try place.commit(2..<4)
                #expect(try place.log.newStreams(from: 0).map(\.stream) == numbers)
                place.directory.close()
            }
            #expect(DurableFile.exists(place.path + "/unclean"), "it was not closed cleanly")
            try place.reopen()
            #expect(try place.vault.stream(of: StreamPlace.name(3)) == numbers[3])
            #expect(try numbers.allSatisfy { try place.kept($0) != nil })
            let next = try place.vault.reserveStream(of: StreamPlace.name(9))
            #expect(StreamNumber.counter(of: next) == 5)
            #expect(try place.vault.check() == 4)
        }
    }

    // The vault has committed, and its second copy takes nothing: the log keeps the key.
    @Test func `is not removed before the journal has it`() async throws {
        try await Self.with { place in
            let number = try place.commit(0..<1)[0]
            try place.vault.writer.withLock { $0.journal = try VaultJournal(path: "/dev/full") }
            #expect(throws: (any Error).self) { try place.vault.takeOver() }
            #expect(try place.kept(number) != nil)
            #expect(try place.vault.stream(of: StreamPlace.name(0)) == number)
            let later = try place.commit(1..<2)[0]
            #expect(try place.log.newStreams(from: 0).map(\.stream) == [number, later])
            try place.vault.writer.withLock {
                $0.journal = try VaultJournal(path: place.path + "/vault/journal")
            }
            try place.vault.drawIn()
            #expect(try place.log.newStreams(from: 0).isEmpty)
            let journal = try place.journal()
            #expect(try journal.map(\.bytes) == [place.kept(number), place.kept(later)])
            #expect(try place.vault.check() == 2)
        }
    }

    // A log that was put back from a copy has entries that an erasure has overtaken.
    @Test func `counts as the vault has it, a tombstone too`() async throws {
        try await Self.with { place in
            let numbers = try place.commit(0..<20)
            let older = try place.log.newStreams(from: 0)
            let erasure = VaultErasure(
                streams: numbers.prefix(1),
                signal: SignalDigest(high: 1, low: 2)
            )
            try place.vault.prepare(erasure)
            try place.vault.finishErasure()
            var batch = LogBatch(after: try place.log.end())
            batch.newStreams = older
            _ = try place.log.append(batch)
            place.directory.close()
            for isReadOnly in [true, false, true] {
                let directory = try StreamPlace.open(place.path, isReadOnly: isReadOnly)
                defer { directory.close() }
                let vault = directory.vault
                #expect(try vault.isErased(numbers[0]))
                #expect(try vault.name(of: numbers[0]) == nil)
                #expect(try vault.keys(of: numbers[0]) == nil)
                #expect(try vault.stream(of: StreamPlace.name(0)) == nil)
                for number in 1..<20 {
                    #expect(try vault.name(of: numbers[number]) == StreamPlace.name(number))
                    #expect(try vault.stream(of: StreamPlace.name(number)) == numbers[number])
                }
                #expect(try vault.check() == 20)
            }
            try place.reopen()
            #expect(try place.log.newStreams(from: 0).isEmpty)
            #expect(try place.kept(numbers[0]) == VaultItem.tombstone(stream: numbers[0]).bytes)
        }
    }

    // Made and erased while a machine was away: the cluster's journal has what stands by now (row 9.5).
    @Test func `is followed as a tombstone where it was erased before`() async throws {
        try await Self.with { place in
            let numbers = try place.commit(0..<2)
            try place.vault.drawIn()
            let gone = StreamNumber.number(counter: 3, shard: 7)
            let new = [NewStream(stream: gone, bytes: VaultItem.tombstone(stream: gone).bytes)]
            let copy = place.path + "-stopped"
            try place.vault.writer.withLock { _ in
                try place.vault.follow(new)
                try place.log.add(new)
                #expect(try place.vault.isErased(gone))
                #expect(try place.vault.keys(of: gone) == nil)
                try FileManager.default.copyItem(atPath: place.path, toPath: copy)
            }
            // Before it was taken over, and after.
            for isReadOnly in [true, false, true] {
                let directory = try StreamPlace.open(copy, isReadOnly: isReadOnly)
                defer { directory.close() }
                #expect(try directory.vault.isErased(gone))
                #expect(try directory.vault.name(of: gone) == nil)
                #expect(try directory.vault.keys(of: gone) == nil)
                #expect(try directory.vault.check() == 3)
            }
            let next = try place.commit(2..<3)[0]
            #expect(StreamNumber.counter(of: next) == 4)
            try place.vault.drawIn()
            #expect(try place.kept(gone) == new[0].bytes)
            #expect(try place.vault.stream(of: StreamPlace.name(1)) == numbers[1])
            #expect(try place.vault.check() == 4)
        }
    }

    // A leader's own log has it once a renewal told what the cluster's journal took.
    @Test func `is committed once where the log has it behind a look`() async throws {
        try await Self.with { place in
            let number = try place.vault.reserveStream(of: StreamPlace.name(0))
            var inDoubt: [NewStream] = []
            #expect(throws: LogStorageFault.self) {
                try place.vault.commit(upTo: .max) { new in
                    inDoubt = new
                    throw LogStorageFault(.outcomeUnknown, "the journal did not answer")
                }
            }
            #expect(inDoubt.map(\.stream) == [number])
            // An erasure that waits, say, has its turn before the renewal.
            try place.vault.drawIn()
            try place.log.add(inDoubt)
            let next = try place.vault.reserveStream(of: StreamPlace.name(1))
            try place.vault.commit(upTo: .max) { new in
                #expect(new.map(\.stream) == [next])
                try place.log.add(new)
            }
            try place.vault.drawIn()
            #expect(try place.journal().map(\.stream) == [number, next])
            #expect(try place.vault.check() == 2)
        }
    }

    @Test func `is refused as on a full disk where too many wait`() async throws {
        try await Self.with { place in
            try place.whileVaultRefuses {
                try place.commit(0..<NewStream.waitingLimit)
                let fault = #expect(throws: LogStorageFault.self) { try place.commit(-1..<0) }
                #expect(fault?.code == .full)
                #expect(try place.vault.stream(of: StreamPlace.name(7)) != nil, "it reads on")
                // What needs no new stream is not refused.
                try place.vault.commit(upTo: 5) { #expect($0.isEmpty) }
            }
            try place.commit(-2 ..< -1)
            #expect(try place.vault.check() == UInt64(NewStream.waitingLimit) + 2)
        }
    }

    @Test func `is found by its name by who only reads, before and after it was taken over`()
        async throws
    {
        try await Self.with { place in
            let names = NewStreamNames(place.log)
            func find(_ number: Int) throws -> UInt64? {
                let digest = place.vault.epochs.digest(
                    of: StreamPlace.name(number),
                    shard: StreamNumber.shard(
                        of: try place.vault.reserveStream(of: StreamPlace.name(number))
                    )
                )
                return try names.stream(of: digest)
            }
            #expect(try find(0) == nil)
            let first = try place.commit(0..<2)
            #expect(try [find(0), find(1)] == first)
            #expect(try find(2) == nil)
            try place.vault.drawIn()
            #expect(try [find(0), find(1)] == first)
            let second = try place.commit(2..<4)
            #expect(try [find(2), find(3)] == second)
        }
    }
}
