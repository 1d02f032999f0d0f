import DurableFiles
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import Glibc
import Synchronization
import Testing

@testable import LMDBStorage

/// What an import refused, kept until somebody has looked at it.
struct `The quarantine` {
    private let day = "2026-05-30"

    private func opened(_ folder: String) throws -> Quarantine {
        try Quarantine(
            ledgerPath: folder,
            masterKey: [UInt8](repeating: 7, count: 32),
            oldest: "2026-01-01",
            randomness: .system
        )
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder + "/quarantine").sorted()
    }

    @Test func `adds to a day without touching the parts that are full`() async throws {
        try await withScratchDirectory { folder in
            var quarantine = try opened(folder)
            let items = (0..<40).map { [UInt8](repeating: UInt8($0), count: 100_000) }
            try quarantine.add(Array(items[..<11]), day: day)
            let first = folder + "/quarantine/\(day).items"
            let full = try #require(try DurableFile.read(first))
            for item in items[11...] { try quarantine.add([item], day: day) }
            #expect(try DurableFile.read(first) == full, "what is sealed once is not sealed again")
            let parts = try names(folder).filter { $0.hasSuffix(".items") }
            #expect(
                parts == ["\(day).1.items", "\(day).2.items", "\(day).3.items", "\(day).items"]
            )
            for part in parts {
                let bytes = try #require(try DurableFile.read(folder + "/quarantine/" + part))
                #expect(bytes.count < Quarantine.partLimit + 200_000, "\(part)")
            }
            #expect(try quarantine.items(of: day) == items, "in the order in which they came")
            #expect(try quarantine.days() == [day])
        }
    }

    // What stays of a day after an erasure is under a new key, and stands before the old one goes.
    @Test func `seals what stays of a day anew, beside what an earlier erasure left of it`()
        async throws
    {
        try await withScratchDirectory { folder in
            var quarantine = try opened(folder)
            try quarantine.add([[1], [2]], day: day)
            let key = folder + "/quarantine/\(day).key"
            let old = try #require(try DurableFile.read(key))
            try quarantine.clear { $0 == [1] }
            #expect(!DurableFile.exists(key))
            try quarantine.add([[3], [4]], day: day)
            #expect(try DurableFile.read(key) != old)
            try quarantine.clear { $0 == [3] }
            let items = try quarantine.days().flatMap { try quarantine.items(of: $0) }
            #expect(items.sorted { $0[0] < $1[0] } == [[2], [4]])
            // Another erasure: nothing of theirs is left.
            try quarantine.clear { _ in true }
            #expect(try names(folder).isEmpty)
            try quarantine.add([[5], [6]], day: day)
            try quarantine.clear { $0 == [5] }
            #expect(try quarantine.days() == [day + "+"])
        }
        // The day is as old under whatever name.
        try await withScratchDirectory { folder in
            do {
                var quarantine = try opened(folder)
                try quarantine.add([[5], [6]], day: day)
                try quarantine.clear { $0 == [5] }
            }
            for (oldest, count) in [(day, 1), ("2026-05-31", 0)] {
                let later = try Quarantine(
                    ledgerPath: folder,
                    masterKey: [UInt8](repeating: 7, count: 32),
                    oldest: oldest,
                    randomness: .system
                )
                #expect(try later.days().count == count)
            }
        }
    }

    @Test func `keeps of a day what it is told to, and nothing of one that is done with`()
        async throws
    {
        try await withScratchDirectory { folder in
            var quarantine = try opened(folder)
            let item = [UInt8](repeating: 1, count: Quarantine.partLimit)
            for _ in 0..<3 { try quarantine.add([item], day: day) }
            #expect(try names(folder).count == 4)
            try quarantine.replace([item, item, item], of: day, with: [[2]])
            #expect(try names(folder) == ["\(day).items", "\(day).key"])
            #expect(try quarantine.items(of: day) == [[2]])
            // What was read before somebody else changed it.
            try quarantine.replace([item], of: day, with: [[3]])
            #expect(try quarantine.items(of: day) == [[2]])
            try quarantine.replace([[2]], of: day, with: [])
            #expect(try names(folder).isEmpty)
        }
    }

    // Else a part would stand without its key, or two keys would be one day's.
    @Test func `lets an importer and an erasure have its files one after the other`()
        async throws
    {
        try await withScratchDirectory { folder in
            let isFree: @Sendable () -> Bool = {
                do {
                    guard let lock = try DurableFile.lock(folder + "/quarantine.files.lock") else {
                        return false
                    }
                    close(lock)
                } catch {
                    Issue.record(error)
                }
                return true
            }
            let seen = Mutex<[Bool]>([])
            var quarantine = try Quarantine(
                ledgerPath: folder,
                masterKey: [UInt8](repeating: 7, count: 32),
                randomness: RandomSource {
                    seen.withLock { $0.append(isFree()) }
                    return UInt64.random(in: 0 ... .max)
                }
            )
            try quarantine.add([[1], [2]], day: day)
            let added = seen.withLock { $0 }
            #expect(!added.isEmpty && !added.contains(true), "while it adds")
            #expect(try Self.becomesFree(folder), "and not to its end")
            try quarantine.clear { item in
                seen.withLock { $0.append(isFree()) }
                return item == [1]
            }
            let cleared = seen.withLock { $0 }.dropFirst(added.count)
            #expect(cleared.count > 2 && !cleared.contains(true), "while it looks and seals anew")
            #expect(try Self.becomesFree(folder))
        }
    }

    /// A child of another test may have the lock for a moment, between fork and exec.
    private static func becomesFree(_ folder: String) throws -> Bool {
        let path = folder + "/quarantine.files.lock"
        guard let lock = try DurableFile.whenFree({ try DurableFile.lock(path) }) else {
            return false
        }
        close(lock)
        return true
    }

    // Who destroys a day is stopped when its key is gone.
    @Test func `begins a day anew of which the key was destroyed, and not yet the items`()
        async throws
    {
        try await withScratchDirectory { folder in
            var quarantine = try opened(folder)
            try quarantine.add([[1]], day: day)
            DurableFile.remove(folder + "/quarantine/\(day).key")
            #expect(try quarantine.days() == [day], "it is found, and destroyed in time")
            #expect(try quarantine.items(of: day) == [])
            try quarantine.add([[2]], day: day)
            #expect(try quarantine.items(of: day) == [[2]])
        }
    }

    // Where nobody imports any more nobody has its master key at hand either.
    @Test func `destroys a day once it is too old, without its key`() async throws {
        try await withScratchDirectory { folder in
            // The last millisecond of 2026-06-29, thirty days later.
            let end: Int64 = 1_782_777_599_999
            try Quarantine.destroyOld(ledgerPath: folder, now: end)
            #expect(!DurableFile.exists(folder + "/quarantine.lock"), "there is nothing to look at")
            do {
                var quarantine = try opened(folder)
                try quarantine.add([[1]], day: day)
                #expect { try Quarantine.destroyOld(ledgerPath: folder, now: end + 1) } throws: {
                    ($0 as? LedgerOpenFault)?.code == .locked
                }
            }
            try Quarantine.destroyOld(ledgerPath: folder, now: end)
            #expect(try names(folder) == ["\(day).items", "\(day).key"])
            try Quarantine.destroyOld(ledgerPath: folder, now: end + 1)
            #expect(try names(folder).isEmpty)
        }
    }

    // T3: a clock that ran ahead would destroy what stands nowhere else.
    @Test func `is looked through when the ledger is opened for writing, by a believed clock`()
        async throws
    {
        try await ScratchLedger.with { scratch in
            let event = try Sample.event("own", "sync.completed", "store/app_store")
            _ = try scratch.ledger.appender.record(Submission(event: event))
            try DurableFile.makeFolder(scratch.path + "/quarantine")
            // Thirty-one days old and thirty.
            for day in ["2026-05-01", "2026-05-02"] {
                try DurableFile.replace(scratch.path + "/quarantine/\(day).items", with: [0])
            }
            let start = scratch.clock.now
            scratch.clock.witness { $0.isSynchronized = false }
            scratch.clock.now = start.advanced(byMilliseconds: 401 * Instant.millisecondsPerDay)
            try scratch.reopen()
            #expect(try names(scratch.path).count == 2, "nobody vouches for the clock")
            scratch.clock.now = start
            try scratch.reopen()
            #expect(try names(scratch.path) == ["2026-05-02.items"])
            scratch.clock.witness { $0.isSynchronized = true }
            scratch.clock.now = start.advanced(byMilliseconds: 401 * Instant.millisecondsPerDay)
            try scratch.reopen()
            #expect(try names(scratch.path).isEmpty, "the control")
        }
    }

    @Test func `passes over files that are no part of a day`() async throws {
        try await withScratchDirectory { folder in
            var quarantine = try opened(folder)
            try quarantine.add([[1]], day: day)
            for name in [".items", "..items", "\(day).x.items", "\(day).1.2.items"] {
                try DurableFile.replace(folder + "/quarantine/" + name, with: [0])
            }
            #expect(try quarantine.days() == [day])
            #expect(try quarantine.items(of: day) == [[1]])
        }
    }
}
