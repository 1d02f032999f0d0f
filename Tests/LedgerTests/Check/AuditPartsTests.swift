import Encodings
import EntitlementLedger
import EventLog
import Foundation
import LedgerAPI
import Synchronization
import Testing

/// A log of two parts that are read at once, and a rest.
struct `An audit in parts` {
    /// A part of the audit, three bundles of the next one, and some records.
    private static let count = 65_536 + 3 * 256 + 17
    private static let log = Result { try MemoryLog(recordCount: count) }

    private static func audit(
        _ scope: AuditScope,
        of log: MemoryLog? = nil,
        _ changes: AlteredLog.Changes
    ) async throws -> AuditAnswer {
        try await withScratchDirectory { folder in
            let ledger = try Ledger.reading(log ?? Self.log.get(), changes, viewsIn: folder)
            return try ledger.auditor.audit(scope)
        }
    }

    // The control, for the sizes around the seams too
    @Test(arguments: [0, 1, 255, 256, 257, 5000, count])
    func `finds nothing in a sound log and states its root`(_ count: Int) async throws {
        let log = try count == Self.count ? Self.log.get() : MemoryLog(recordCount: count)
        for scope in [AuditScope.hashes, .quick] {
            let report = try await Self.audit(scope, of: log, .init())
            #expect(report.faults.isEmpty, "\(scope)")
            #expect(report.treeSize == UInt64(count))
            #expect(report.rootHash == log.end().edge.root.base64)
            #expect(scope == .quick || report.records == UInt64(count))
        }
    }

    // The control: the same log is read to its end where nobody ends it.
    @Test(arguments: [true, false])
    func `is ended between two blocks, and comes to nothing`(_ isEnded: Bool) async throws {
        let log = try Self.log.get()
        let ends = Mutex<Ledger?>(nil)
        let reads = Mutex(0)
        try await withScratchDirectory { folder in
            let ledger = try Ledger.reading(
                log,
                .init(record: { sequence, record in
                    reads.withLock { $0 += 1 }
                    if isEnded, sequence == 1000 { ends.withLock { $0?.endWalks() } }
                    return record
                }),
                viewsIn: folder
            )
            ends.withLock { $0 = ledger }
            reads.withLock { $0 = 0 }
            if isEnded {
                #expect(throws: CancellationError.self) { try ledger.auditor.audit(.hashes) }
                // The block of that record, the rest's, and what another core read meanwhile.
                #expect(reads.withLock(\.self) < Self.count / 2)
            } else {
                #expect(try ledger.auditor.audit(.hashes).isOK)
                #expect(reads.withLock(\.self) >= Self.count)
            }
            ends.withLock { $0 = nil }
        }
    }

    /// Places in the first part, at the seams, and in the rest.
    static let places: [UInt64] = [0, 255, 256, 40_000, 65_535, 65_536, 66_303, 66_304, 66_320]

    @Test(arguments: places)
    func `finds a byte of a record that is another one`(_ place: UInt64) async throws {
        let report = try await Self.audit(
            .hashes,
            .init(record: { sequence, record in
                var record = record
                if sequence == place { record[40] ^= 1 }
                return record
            })
        )
        #expect(report.faults.contains { $0.sequence == place && $0.kind == .tree })
        #expect(report.faults.contains { $0.kind == .tree && $0.sequence == nil })
        #expect(report.records == UInt64(Self.count))
    }

    // The rest of the log is read all the same.
    @Test func `names where the log cannot be read on`() async throws {
        let report = try await Self.audit(.hashes, .init(unreadable: 100))
        #expect(report.faults.map(\.kind) == [.record])
        #expect(report.faults.first?.sequence == 25_600)
        #expect(report.records == UInt64(Self.count - 65_536 + 25_600))
    }

    // Tiles above the leaves, full and partial: proofs and checkpoints come from them.
    @Test(arguments: [(1, 0), (1, 1), (2, 0)] as [(Int, UInt64)])
    func `finds a tile that is another one`(_ level: Int, _ index: UInt64) async throws {
        let report = try await Self.audit(
            .hashes,
            .init(tile: { atLevel, at, tile in
                guard (atLevel, at) == (level, index) else { return tile }
                return [tile[0] ^ 1] + tile.dropFirst()
            })
        )
        #expect(report.faults.map(\.kind) == [.tree])
    }

    // The root of no records, or of some, would pass for the log's.
    @Test func `states no root of a tree that cannot be read`() async throws {
        let reports = try await [
            Self.audit(.quick, .init(tile: { _, _, _ in nil })),
            Self.audit(.hashes, .init(unreadable: 100)), AuditAnswer.unreadable,
        ]
        for report in reports {
            #expect(!report.isOK && report.rootHash == nil)
            let text = AnswerText(report)
            #expect(text.description.contains(#""rootHash":null,"#))
            #expect(try AuditAnswer.fields.read(JSONValue(parsing: text.bytes)) == report)
        }
    }

    @Test func `finds an end that states another time or another root`() async throws {
        for scope in [AuditScope.hashes, .quick] {
            let later = try await Self.audit(
                scope,
                .init(end: { end in
                    LogEnd(edge: end.edge, lastRecordedAt: 1 << 40, highestCounter: 0)
                })
            )
            #expect(later.faults.map(\.kind) == [.order], "\(scope)")
            var other = TreeEdge()
            for _ in 0..<Self.count { other.append(TreeHash.emptyRoot) }
            let elsewhere = try await Self.audit(
                scope,
                .init(end: { [other] end in
                    LogEnd(edge: other, lastRecordedAt: end.lastRecordedAt, highestCounter: 0)
                })
            )
            #expect(elsewhere.faults.contains { $0.kind == .tree }, "\(scope)")
        }
    }

    // T3 goes by it, and it has no checksum: whichever byte is another one, no event was recorded then.
    @Test func `finds an end that states another time of its own`() async throws {
        let own = try #require(try Self.log.get().end().lastOwnRecordedAt)
        for byte in 0..<8 {
            let other = own ^ Int64(0x41) << (8 * byte)
            for scope in byte == 5 ? [AuditScope.quick, .hashes] : [.quick] {
                let report = try await Self.audit(
                    scope,
                    .init(end: { end in
                        var end = end
                        end.lastOwnRecordedAt = other
                        return end
                    })
                )
                #expect(report.faults.map(\.kind) == [.order], "byte \(byte), \(scope)")
            }
        }
    }

    // What a writer that was stopped may leave half-written stands at the log's end.
    @Test func `finds damage among the last records when it is quick`() async throws {
        let place = UInt64(Self.count - 1)
        let report = try await Self.audit(
            .quick,
            .init(record: { sequence, record in
                var record = record
                if sequence == place { record[40] ^= 1 }
                return record
            })
        )
        #expect(Set(report.faults.filter { $0.sequence == place }.map(\.kind)) == [.record, .tree])
        #expect(report.records < place, "it reads the last records only")
    }
}
