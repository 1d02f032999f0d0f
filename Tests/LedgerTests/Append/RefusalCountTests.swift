import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import Testing

/// Signals that fail verification (Stores, rule 5).
struct `Refused signals` {
    private static let hour: Int64 = 3_600_000

    /// What the log holds of them: the code and count of each note.
    private static func notes(_ ledger: Ledger) throws -> [String] {
        try (0..<ledger.questions.size()).map { sequence in
            let event = try #require(try ledger.questions.event(at: sequence)).event
            #expect(event.kind == .signalNoted)
            #expect(event.data.text(.name) == "verification_refused")
            #expect(event.source == Source.ledger)
            return "\(event.subject) \(event.environment) \(event.data.text(.detail) ?? "")"
        }
    }

    private static let note = "store/app_store production code bad_signature"

    // Stores, rule 5
    @Test func `are noted once an hour and reason, with their count`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            let start = scratch.clock.now
            func refuse(_ code: String, minute: Int64, _ times: Int = 1) throws {
                scratch.clock.now = start.advanced(byMilliseconds: minute * 60_000)
                for _ in 0..<times {
                    try ledger.appender.countRefusal(
                        code,
                        of: "app_store",
                        environment: .production
                    )
                }
            }
            try refuse("bad_signature", minute: 0, 1000)
            let notes = try Self.notes(ledger)
            #expect(notes == [Self.note + ", count 1"])
            try refuse("bad_signature", minute: 59, 10)
            #expect(try ledger.questions.size() == 1)
            try refuse("bad_signature", minute: 60, 2)
            #expect(try Self.notes(ledger).last == Self.note + ", count 1010")
            try refuse("bad_chain", minute: 61)
            try refuse("bad_signature", minute: 500)
            #expect(
                try Self.notes(ledger).suffix(2) == [
                    "store/app_store production code bad_chain, count 1",
                    "\(Self.note), count 2",
                ]
            )
        }
    }

    @Test func `of each store and environment are counted apart`() async throws {
        try await ScratchLedger.with { scratch in
            for store in ["app_store", "play_store"] {
                for environment in StoreEnvironment.allCases {
                    try scratch.ledger.appender.countRefusal(
                        "x",
                        of: store,
                        environment: environment
                    )
                }
            }
            let notes = try Self.notes(scratch.ledger)
            #expect(Set(notes).count == 6)
        }
    }

    // A client that crashes us, or waits for a restart, gets no more notes out of it.
    @Test func `are not noted again in the same hour after a restart`() async throws {
        try await ScratchLedger.with { scratch in
            func refuse() throws {
                try scratch.ledger.appender.countRefusal(
                    "bad_signature",
                    of: "app_store",
                    environment: .production
                )
            }
            try refuse()
            try scratch.reopen()
            try refuse()
            let size = try scratch.ledger.questions.size()
            #expect(size == 1)
            scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: Self.hour)
            try refuse()
            #expect(try Self.notes(scratch.ledger).last == Self.note + ", count 2")
        }
    }

    // No count is lost between those who come at once.
    @Test func `are all counted in a flood from many threads`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            _ = try Concurrently.run(16) { thread in
                for index in 0..<5000 {
                    try ledger.appender.countRefusal(
                        "code\((thread + index) % 5)",
                        of: "app_store",
                        environment: .production
                    )
                }
            }
            #expect(try ledger.questions.size() == 5)
            scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: Self.hour)
            for code in 0..<5 {
                try ledger.appender.countRefusal(
                    "code\(code)",
                    of: "app_store",
                    environment: .production
                )
            }
            let counts = try Self.notes(ledger).compactMap { note in
                note.split(separator: " ").last.flatMap { Int($0) }
            }
            #expect(counts.count == 10)
            let total = counts.reduce(0, +)
            #expect(total == 16 * 5000 + 5)
        }
    }

    @Test func `for more reasons than there are stay bounded`() async throws {
        try await ScratchLedger.with { scratch in
            for index in 0..<1000 {
                try scratch.ledger.appender.countRefusal(
                    "c\(index)",
                    of: "app_store",
                    environment: .production
                )
            }
            let notes = try Self.notes(scratch.ledger)
            #expect(notes.count == 256)
            #expect(notes.last == "store/app_store production code other, count 1")
        }
    }

    // Stores, rule 5: what an earlier process counted is not lost, and is noted without another refusal.
    @Test(arguments: [true, false])
    func `that were kept are noted by the next process`(_ isKept: Bool) async throws {
        try await ScratchLedger.with { scratch in
            func refuse(_ times: Int) throws {
                for _ in 0..<times {
                    try scratch.ledger.appender.countRefusal(
                        "bad_signature",
                        of: "app_store",
                        environment: .production
                    )
                }
            }
            try refuse(8)
            let waiting = try scratch.ledger.appender.refusalsToNote
            #expect(waiting == [RefusalCount("app_store", .production, "bad_signature", 7)])
            try scratch.reopen()
            // The control: what nobody kept is gone.
            if isKept { try scratch.ledger.appender.takeUp(waiting) }
            let isNoted = try scratch.ledger.appender.noteRefusals()
            #expect(!isNoted, "this hour's note stands")
            scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: Self.hour)
            #expect(try scratch.ledger.appender.noteRefusals() == isKept)
            let notes = try Self.notes(scratch.ledger)
            #expect(notes == ["1", "7"].prefix(isKept ? 2 : 1).map { "\(Self.note), count \($0)" })
            #expect(try scratch.ledger.appender.refusalsToNote == [])
        }
    }

    @Test func `that somebody wrote as being kept are checked`() {
        func kept(_ store: String, _ code: String, _ count: Int) -> RefusalCount? {
            RefusalCount(keptOf: store, .production, code, count)
        }
        #expect(kept("app_store", "bad_chain", 1) != nil)
        #expect(kept("somebody", "bad_chain", 1) == nil)
        #expect(kept("app_store", "somebody@example.com", 1) == nil)
        #expect(kept("app_store", "bad_chain", 0) == nil)
        #expect(kept("app_store", "bad_chain", .max) == nil)
    }
}
