import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import Testing

/// Audit finds what is planted, and nothing where nothing is.
struct `An audit` {
    private static func filled(_ body: (ScratchLedger) async throws -> Void) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                try Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "c", source: Source.catalog, environment: .production)
            )
            let lines = (0..<200).flatMap { Sample.ownedPurchase("u\($0)", "app_store/\($0)") }
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            for index in 0..<5 {
                _ = try scratch.ledger.appender.record(
                    RevenueCatBody.submission(
                        id: "s\(index)",
                        user: "r\(index)",
                        expiration: 1_799_904_000_000
                    )
                )
            }
            _ = try scratch.ledger.prover.checkpoint()
            try await body(scratch)
        }
    }

    // The negative control
    @Test func `finds an untouched ledger sound`() async throws {
        try await Self.filled { scratch in
            for _ in 0..<2 {
                for scope in AuditScope.allCases {
                    let report = try scratch.ledger.auditor.audit(scope)
                    #expect(report.faults.isEmpty, "\(scope)")
                    #expect(report.records == (try scratch.ledger.questions.size()))
                    #expect(report.checkpoints == 1)
                }
                try scratch.reopenWithoutViews()
            }
        }
    }

    // law 4: views against the log
    @Test(arguments: ["streams", "signals"])
    func `finds a byte of the views that is another one`(_ table: String) async throws {
        try await Self.filled { scratch in
            // Closed and opened again, so that everything stands in the files.
            try scratch.reopen()
            for file in try ViewFiles(below: scratch.viewsPath).files
            where file.name.hasPrefix(table) {
                try file.change { $0[$0.count / 3] ^= 1 }
            }
            let faults = try scratch.ledger.auditor.audit().faults
            #expect(!faults.isEmpty)
            #expect(faults.allSatisfy { $0.kind == .view })
            _ = try scratch.ledger.auditor.rebuild()
            #expect(try scratch.ledger.auditor.audit().isOK)
        }
    }

    // row 3.6: whatever byte of a record is another one, an audit in a process of its own says so
    @Test(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
    func `never finds a ledger sound in which a byte of a record is another one`() async throws {
        try await Self.filled { scratch in
            var random = SystemRandomNumberGenerator()
            let size = try scratch.ledger.questions.size()
            // The last one too: the tail has no stored tile, its hashes are made from its records.
            let records =
                try (0..<8).map { _ in
                    try scratch.record(at: UInt64.random(in: 0..<size, using: &random))
                } + [scratch.record(at: size - 1)]
            try scratch.close()
            let file = URL(filePath: scratch.path + "/log/data.mdb")
            let whole = try Data(contentsOf: file)
            var ends: [Int32] = []
            for record in records {
                // In each of its copies: freed pages hold superseded ones.
                let offset = Int.random(in: record.indices, using: &random)
                var damaged = whole
                for copy in Self.copies(of: Data(record), in: whole) {
                    damaged[copy + offset] ^= 0x10
                }
                #expect(damaged != whole)
                try damaged.write(to: file)
                let outcome = try await Self.audit(scratch.path)
                #expect(outcome.code != 0, "byte \(offset) of a record")
                #expect(outcome.code < 0 || outcome.json?["ok"]?.bool == false, "\(outcome)")
                ends.append(outcome.code)
            }
            try whole.write(to: file)
            let outcome = try await Self.audit(scratch.path)
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(outcome.json?["ok"]?.bool == true)
            // 3, or a death by signal (negated): LMDB has no checksums of its own.
            #expect(ends.allSatisfy { $0 == 3 || $0 < 0 }, "\(ends)")
            #expect(ends.contains(3), "\(ends)")
        }
    }

    private static func audit(_ path: String) async throws -> EntitleCommand.Outcome {
        try await EntitleCommand.run(["audit", "--ledger", path, "--json"])
    }

    private static func copies(of record: Data, in data: Data) -> [Int] {
        var copies: [Int] = []
        var start = data.startIndex
        while let found = data.range(of: record, in: start..<data.endIndex) {
            copies.append(found.lowerBound)
            start = found.upperBound
        }
        return copies
    }
}
