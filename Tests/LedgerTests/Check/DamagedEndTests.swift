import EntitlementLedger
import Entitlements
import EventLog
import LMDB
import Testing

@testable import LMDBStorage

/// What a log says of its end, and what was acknowledged of it.
struct `The end of a log` {
    private static func with(_ body: (LMDBLog) throws -> Void) async throws {
        try await withScratchDirectory { folder in
            let log = try LMDBLog(path: folder, isReadOnly: false)
            defer { log.close() }
            for batch in try SampleLog([3, 4]).batches { _ = try log.append(batch) }
            try body(log)
        }
    }

    // E2; Storage, "Append" 6
    @Test func `is held against the last record where it is opened again`() async throws {
        try await Self.with { log in
            try log.reopen()
            // The control
            #expect(try log.end().size == 7)
            try log.withEnvironment { opened in
                try opened.environment.write { try $0.clear(opened.tables.tail) }
            }
            // Nobody reads it from there on either.
            let looks: [() throws -> Void] = [{ try log.reopen() }, { _ = try log.end() }]
            for look in looks {
                let fault = #expect(throws: LogStorageFault.self) { try look() }
                #expect(fault?.code == .damaged)
            }
        }
    }

    // T3
    @Test func `has no time of its own behind its last event's`() async throws {
        try await Self.with { log in
            var batch = LogBatch(after: try log.end())
            batch.lastOwnRecordedAt = batch.lastRecordedAt + 1
            _ = try log.append(batch)
            let fault = #expect(throws: LogStorageFault.self) { try log.end() }
            #expect(fault?.code == .damaged)
        }
    }

    // E2; Storage, "Append" 6: a commit failed, and who reads again finds less than callers were told of.
    @Test(arguments: [true, false])
    func `has what was acknowledged once it is opened again, or takes nothing`(
        _ isShorter: Bool
    ) async throws {
        try await withScratchDirectory { folder in
            let log = HeldLog()
            let ledger = try Ledger(over: log, viewsIn: folder)
            func record(_ id: String) throws -> Receipt {
                try ledger.appender.record(
                    Submission(event: try Sample.event(id, "sync.completed", "store/app_store"))
                )
            }
            #expect(try record("e0") == .appended(first: 0, count: 1))
            log.fail(true)
            if isShorter { log.comeBack(as: MemoryLog()) }
            #expect(throws: LogStorageFault.self) { try record("e1") }
            log.fail(false)
            guard isShorter else {
                // The control
                #expect(try record("e1") == .appended(first: 1, count: 1))
                return try ledger.close()
            }
            for _ in 0..<2 {
                let fault = #expect(throws: LogStorageFault.self) { try record("e1") }
                #expect(fault?.code == .damaged)
            }
            #expect(log.end().size == 0)
        }
    }
}
