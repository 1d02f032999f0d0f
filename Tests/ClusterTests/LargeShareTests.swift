import EventLog
import LMDBStorage
import PostgresStorage
import Testing

@testable import LedgerOperations

/// Webhooks in a cluster: much that was noticed is written in parts, of which some may be missing.
extension `A cluster's journal in PostgreSQL` {
    // A state says how far all have the same notices.
    @Test func `holds for certain no part of a share that was broken off`() async throws {
        try await withLossy { first, second, lossy, _ in
            try Self.notice(1500, 1, at: first)
            lossy.take(only: 1)
            #expect(throws: JournalFault.self) { try first.share.share() }
            // Others under the same numbers, in pages that begin elsewhere.
            try await Self.change(first, second)
            for count in [700, 900] {
                try Self.notice(count, 2, at: second)
                try second.share.share()
            }
            lossy.take(only: .max)
            #expect { try first.share.share() } throws: {
                ($0 as? LogStorageFault)?.code == .noLeader
            }
            try first.share.follow()
            let kept = try second.notices()
            #expect(kept.count == 1600)
            #expect(try first.notices() == kept)
        }
    }

    @Test func `holds each notice once of a share that was begun again`() async throws {
        try await withLossy { first, second, lossy, journal in
            try Self.notice(1500, 1, at: first)
            lossy.take(only: 1)
            #expect(throws: JournalFault.self) { try first.share.share() }
            #expect(try journal.noticePages(from: 0, limit: .max).map(\.first) == [0])
            // Old ones are forgotten meanwhile.
            #expect(try first.webhooks.store.forgetNotices(before: 1, limit: 5))
            lossy.take(only: .max)
            try first.share.share()
            #expect(try journal.noticePages(from: 0, limit: .max).map(\.first) == [5, 1005])
            try second.share.follow()
            let kept = try first.notices()
            #expect(kept.count == 1495)
            #expect(try second.notices() == kept)
        }
    }

    /// Notes something of two kilobytes each, as a look does.
    private static func notice(
        _ count: Int,
        _ mark: UInt8,
        at teller: TellingMachine
    ) throws {
        let found = (0..<count).map { _ in [UInt8](repeating: mark, count: 2048) }
        try teller.webhooks.store.note(nil, looks: [], found, at: 0)
    }
}
