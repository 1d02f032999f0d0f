import Encodings
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import Testing

@testable import EntitlementLedger
@testable import PostingIndex

/// Views are made anew beside the old, and whoever is stopped meanwhile goes on.
struct `A rebuild` {
    private struct Stopped: Error {}

    /// Sizes that a rebuild told; stops it after the first one.
    private static func stop(_ ledger: Ledger) -> UInt64 {
        var told: UInt64 = 0
        #expect(throws: Stopped.self) {
            try ledger.auditor.rebuild { done, _ in
                told = done
                throw Stopped()
            }
        }
        return told
    }

    /// How often a rebuild told how far it is: once for each part that it makes.
    private static func parts(of ledger: Ledger) throws -> Int {
        var parts = 0
        _ = try ledger.auditor.rebuild { _, _ in parts += 1 }
        return parts
    }

    private static let customers = 0..<12

    /// All that an index lists, in its order.
    private static func postings(_ tables: IndexTables) throws -> [[Posting]] {
        try IndexRun.Part.allCases.map { part in
            var postings: [Posting] = []
            for run in tables.runs {
                var next = 0
                while true {
                    let count = try run.table(part).read(blocksFrom: next) { postings.append($0) }
                    guard count > 0 else { break }
                    next += count
                }
            }
            return postings
        }
    }

    @Test func `of many parts lists what one of one part does`() async throws {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            try viewed.fill(customers: Self.customers, publishing: true)
            let ledger = try viewed.open()
            let views = ledger.questions.views
            let size = try ledger.questions.size()
            func load(_ partSize: UInt64) throws -> IndexTables {
                var load = BulkLoad(log: viewed.log, size: size) {
                    try views.viewPosition($0, bootID: "test")
                }
                load.partSize = partSize
                let generation = IndexGeneration(path: nil, seal: views.seal)
                return try load.run(in: generation, from: nil) { _, _ in }
            }
            let whole = try Self.postings(load(size))
            // More than are joined at once.
            #expect(size > 20 && whole.allSatisfy { !$0.isEmpty })
            for partSize in [1, 2, size - 1] as [UInt64] {
                let tables = try load(partSize)
                #expect(tables.runs.map(\.sequences) == [0..<size])
                #expect(try Self.postings(tables) == whole)
            }
            try ledger.close()
        }
    }

    // Law 4: readers and the writer are not disturbed by what is half-made.
    @Test func `that was stopped goes on with what it made`() async throws {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            try viewed.fill(customers: Self.customers, publishing: true)
            let ledger = try viewed.open()
            let expected = try Answers(ledger, customers: Self.customers)
            let size = try ledger.questions.size()
            let before = try viewed.open(isReadOnly: true)
            let read = try Answers(before, customers: Self.customers)
            #expect(Self.stop(ledger) == size)
            #expect(try Answers(ledger, customers: Self.customers) == expected)
            let after = try viewed.open(isReadOnly: true)
            for reader in [before, after] {
                #expect(try Answers(reader, customers: Self.customers) == read)
                try reader.close()
            }
            #expect(try Self.parts(of: ledger) == 0)
            #expect(try Answers(ledger, customers: Self.customers) == expected)
            #expect(try ledger.auditor.audit().isOK)
            // The control: without anything half-made all of it is made.
            #expect(try Self.parts(of: ledger) == 1)
            try ledger.close()
        }
    }

    @Test func `that was stopped makes what came since`() async throws {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            try viewed.fill(customers: Self.customers, publishing: true)
            let stopped = try viewed.open()
            #expect(Self.stop(stopped) > 0)
            try stopped.close()
            try viewed.fill(customers: 12..<20, publishing: false)
            let ledger = try viewed.open()
            let expected = try Answers(ledger, customers: 0..<20)
            #expect(try Self.parts(of: ledger) == 1)
            #expect(try Answers(ledger, customers: 0..<20) == expected)
            #expect(try ledger.auditor.audit().isOK)
            try ledger.close()
        }
    }

    @Test(arguments: ["index", "streams-1", "signals-1"])
    func `begins anew where what was made is damaged`(_ name: String) async throws {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            try viewed.fill(customers: Self.customers, publishing: true)
            let ledger = try viewed.open()
            let expected = try Answers(ledger, customers: Self.customers)
            #expect(Self.stop(ledger) > 0)
            let half = try #require(
                try ViewFiles(below: viewed.path).files.filter { $0.name == name }
                    .max { $0.url.path < $1.url.path }
            )
            try half.change { $0.removeLast($0.count / 2) }
            #expect(try Self.parts(of: ledger) == 1)
            #expect(try Answers(ledger, customers: Self.customers) == expected)
            #expect(try ledger.auditor.audit().isOK)
            try ledger.close()
        }
    }

    // What the old ones answer, new ones of a damaged log could not.
    @Test func `of a damaged log leaves the views as they were`() async throws {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            try viewed.fill(customers: Self.customers, publishing: true)
            func current() throws -> String {
                try String(contentsOfFile: viewed.path + "/current", encoding: .utf8)
            }
            let before = try current()
            let damaged = try viewed.open(
                .init(record: { sequence, record in
                    guard sequence == 31 else { return record }
                    var record = record
                    record[record.count - 10] ^= 1
                    return record
                })
            )
            #expect(throws: DecodingFault.self) { try damaged.auditor.rebuild() }
            #expect(try current() == before)
            try damaged.close()
            let sound = try viewed.open()
            _ = try sound.auditor.rebuild()
            #expect(try current() != before, "the control")
            try sound.close()
        }
    }

    // row 8.4
    @Test(arguments: Recovery.allCases)
    func `locks writers out and says so`(_ recovery: Recovery) async throws {
        try await ScratchLedger.with { scratch in
            func refusal() -> LedgerOpenFault? {
                do {
                    try scratch.openBeside().close()
                    return nil
                } catch {
                    return error as? LedgerOpenFault
                }
            }
            #expect(refusal()?.code == .locked)
            scratch.announce(recovery)
            #expect(refusal()?.code == .recovering)
            scratch.announce(nil)
            #expect(refusal()?.code == .locked)
            scratch.announce(recovery)
            try scratch.close()
            // What was announced ends with its process, however that ended.
            #expect(refusal() == nil)
        }
    }
}
