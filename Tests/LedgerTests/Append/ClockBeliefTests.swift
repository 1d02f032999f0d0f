import Encodings
import EntitlementLedger
import Entitlements
import Testing

/// T3: a clock that ran ahead once would block the log until then, so not every clock is believed.
struct `A clock that ran ahead` {
    private static let hour: Int64 = 3_600_000
    private static let day = Instant.millisecondsPerDay

    private static func record(_ id: String, _ scratch: ScratchLedger) throws -> Receipt {
        try scratch.ledger.appender.record(
            Submission(event: try Sample.event(id, "sync.completed", "store/app_store"))
        )
    }

    private static func fault(_ id: String, _ scratch: ScratchLedger) -> LedgerFault? {
        do {
            _ = try record(id, scratch)
            return nil
        } catch {
            return error as? LedgerFault
        }
    }

    /// A ledger with an event of its own, and a clock that nobody vouches for.
    private static func with(
        _ body: (ScratchLedger, _ start: Instant) async throws -> Void
    ) async throws {
        try await ScratchLedger.with { scratch in
            scratch.clock.witness { $0.isSynchronized = false }
            #expect(try record("own", scratch) == .appended(first: 0, count: 1))
            try await body(scratch, scratch.clock.now)
        }
    }

    @Test func `is not believed 400 days after the last event, but by a witness`() async throws {
        try await Self.with { scratch, start in
            try scratch.reopen()
            scratch.clock.now = start.advanced(byMilliseconds: 401 * Self.day)
            for _ in 0..<2 {
                let fault = try #require(Self.fault("e1", scratch))
                #expect(fault.code == .clockAhead)
                #expect(fault.message.contains("the clock says \(scratch.clock.now)"))
                #expect(fault.message.contains("sequence 0, was recorded at \(start)"))
                #expect(fault.remedy?.contains("--accept-clock 2027-07-07") == true)
                #expect(fault.remedy?.contains("--until-sequence 1 --continue --origin") == true)
                try scratch.reopen()
            }
            _ = try scratch.show("ann")
            scratch.clock.witness { $0.isSynchronized = true }
            #expect(try Self.record("e1", scratch) == .appended(first: 1, count: 1))
            // From there on it is an hour like any other.
            scratch.clock.witness { $0.isSynchronized = false }
            #expect(try Self.record("e2", scratch) == .appended(first: 2, count: 1))
            scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: 400 * Self.day)
            try scratch.reopen()
            #expect(try Self.record("e3", scratch) == .appended(first: 3, count: 1))
        }
    }

    @Test func `is believed where its date is confirmed, for that last event`() async throws {
        try await Self.with { scratch, start in
            let later = start.advanced(byMilliseconds: 1000 * Self.day)
            try scratch.reopen()
            scratch.clock.now = later
            func confirm(_ days: Int64, _ size: UInt64) {
                scratch.clock.witness {
                    $0.confirmation = .init(
                        date: later.advanced(byMilliseconds: days * Self.day),
                        size: size
                    )
                }
            }
            for (days, size) in [(3, 1), (-3, 1), (0, 0), (0, 2)] as [(Int64, UInt64)] {
                confirm(days, size)
                #expect(Self.fault("e1", scratch)?.code == .clockAhead, "\(days), \(size)")
            }
            confirm(-1, 1)
            #expect(try Self.record("e1", scratch) == .appended(first: 1, count: 1))
            scratch.clock.now = later.advanced(byMilliseconds: Self.day + 1)
            #expect(Self.fault("e2", scratch)?.code == .clockAhead)
        }
    }

    @Test func `is not believed that goes faster than the time since boot`() async throws {
        try await Self.with { scratch, start in
            func step(_ clock: Int64, elapsed: Int64) {
                scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: clock)
                scratch.clock.witness { $0.elapsed += elapsed }
            }
            step(Self.hour, elapsed: 0)
            #expect(try Self.record("e1", scratch) == .appended(first: 1, count: 1))
            step(Self.hour + 2, elapsed: 1)
            #expect(Self.fault("e2", scratch)?.code == .clockAhead)
            step(-1, elapsed: 0)
            #expect(try Self.record("e2", scratch) == .appended(first: 2, count: 1))
            // A machine that slept.
            step(9 * Self.day, elapsed: 9 * Self.day)
            #expect(try Self.record("e3", scratch) == .appended(first: 3, count: 1))
            // What came before this process it cannot compare.
            step(9 * Self.day, elapsed: 0)
            try scratch.reopen()
            #expect(try Self.record("e4", scratch) == .appended(first: 4, count: 1))
        }
    }

    // What is imported with its time says nothing of the clock.
    @Test func `is measured against events that were recorded by a clock alone`() async throws {
        try await ScratchLedger.with { scratch in
            scratch.clock.witness { $0.isSynchronized = false }
            let now = scratch.clock.now
            func importing(_ id: String, _ days: Int64) throws -> Receipt {
                try scratch.ledger.appender.record(
                    [Submission(event: try Sample.event(id, "sync.completed", "store/app_store"))],
                    recordedAt: [now.advanced(byMilliseconds: days * Self.day)]
                )[0]
            }
            #expect(try importing("i0", -900) == .appended(first: 0, count: 1))
            try scratch.reopen()
            #expect(try Self.record("own", scratch) == .appended(first: 1, count: 1))
            scratch.clock.now = now.advanced(byMilliseconds: 399 * Self.day)
            scratch.clock.witness { $0.elapsed = 399 * Self.day }
            #expect(try importing("i2", 399) == .appended(first: 2, count: 1))
            scratch.clock.now = now.advanced(byMilliseconds: 401 * Self.day)
            try scratch.reopen()
            #expect(Self.fault("e3", scratch)?.code == .clockAhead)
        }
    }

    // The log's last event lies ahead: what is named as the way out is where the wrong clock began.
    @Test func `blocks with the way out in the error`() async throws {
        try await Self.with { scratch, start in
            scratch.clock.witness { $0.isSynchronized = true }
            scratch.clock.now = start.advanced(byMilliseconds: 3650 * Self.day)
            for id in ["e1", "e2"] { _ = try Self.record(id, scratch) }
            let ahead = scratch.clock.now
            scratch.clock.now = start
            let fault = try #require(Self.fault("e3", scratch))
            #expect(fault.code == .clockBehind)
            #expect(fault.message.contains("the clock says \(start)"))
            #expect(fault.message.contains("sequence 2, was recorded at \(ahead)"))
            #expect(fault.remedy?.contains("--until-sequence 1 --continue --origin NAME") == true)
            #expect(fault.remedy?.contains("--from 1") == true)
        }
    }
}
