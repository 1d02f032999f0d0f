import DurableFiles
import EventLog
import Foundation
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
            try quarantine.renew(day, with: [[2]])
            #expect(!DurableFile.exists(key))
            try quarantine.add([[3], [4]], day: day)
            #expect(try DurableFile.read(key) != old)
            try quarantine.renew(day, with: [[4]])
            let items = try quarantine.days().flatMap { try quarantine.items(of: $0) }
            #expect(items.sorted { $0[0] < $1[0] } == [[2], [4]])
            // Another erasure: nothing of theirs is left.
            for day in try quarantine.days() { try quarantine.renew(day, with: []) }
            #expect(try names(folder).isEmpty)
            try quarantine.add([[5], [6]], day: day)
            try quarantine.renew(day, with: [[6]])
            #expect(try quarantine.days() == [day + "+"])
        }
        // The day is as old under whatever name.
        try await withScratchDirectory { folder in
            do {
                var quarantine = try opened(folder)
                try quarantine.add([[5], [6]], day: day)
                try quarantine.renew(day, with: [[6]])
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
            try quarantine.replace(day, with: [[2]])
            #expect(try names(folder) == ["\(day).items", "\(day).key"])
            #expect(try quarantine.items(of: day) == [[2]])
            try quarantine.replace(day, with: [])
            #expect(try names(folder).isEmpty)
        }
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

    @Test func `is looked through whenever the ledger is opened for writing`() async throws {
        try await withScratchDirectory { folder in
            // By its clock it is 1970.
            let place = try StreamPlace(folder)
            defer { place.directory.close() }
            try DurableFile.makeFolder(place.path + "/quarantine")
            for day in ["1969-11-30", "1969-12-31"] {
                try DurableFile.replace(place.path + "/quarantine/\(day).items", with: [0])
            }
            #expect(try names(place.path).count == 2)
            try place.reopen()
            #expect(try names(place.path) == ["1969-12-31.items"])
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
