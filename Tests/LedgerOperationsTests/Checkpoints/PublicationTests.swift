import EntitlementLedger
import Entitlements
import Foundation
import LedgerOperations
import Testing

/// A checkpoint that was published is what shows that history was changed.
struct `A published checkpoint` {
    /// Two ledgers with one history, under one key, up to two events, and another third one each;
    /// in the end both have three.
    private static func forked(_ body: (_ one: Ledger, _ other: Ledger) throws -> Void) throws {
        try FileLedger.with { ledger throws in
            _ = try ledger.importing([FileLedger.grant("a")])
            let copy = ledger.folder + "/copy"
            try FileManager.default.copyItem(atPath: ledger.path, toPath: copy)
            _ = try ledger.importing([FileLedger.grant("b")])
            try ledger.open { one in
                try ledger.open(at: copy) { other in
                    _ = try other.appender.grant(
                        "c",
                        to: "ann",
                        features: [],
                        tier: "pro",
                        expiresAt: nil,
                        reason: nil,
                        Request(id: "c", source: "support", environment: .production)
                    )
                    try body(one, other)
                }
            }
        }
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }

    @Test func `is followed by one that extends it, in a file`() throws {
        try withTemporaryFolder { folder in
            try FileLedger.with { ledger throws in
                let file = folder + "/published"
                try ledger.open { try Publication.put($0.prover.checkpoint(), at: file, of: $0) }
                let first = try Self.text(file)
                _ = try ledger.importing([FileLedger.grant("a")])
                try ledger.open { try Publication.put($0.prover.checkpoint(), at: file, of: $0) }
                #expect(try Self.text(file) != first)
            }
        }
    }

    @Test func `stands in a directory as the newest and under its size`() throws {
        try withTemporaryFolder { folder in
            try FileLedger.with { ledger throws in
                for id in ["a", "b"] {
                    _ = try ledger.importing([FileLedger.grant(id)])
                    try ledger.open {
                        try Publication.put($0.prover.checkpoint(), at: folder, of: $0)
                    }
                }
                let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
                #expect(names == ["2", "3", "checkpoint"])
                #expect(try Self.text(folder + "/3") == Self.text(folder + "/checkpoint"))
            }
        }
    }

    // A witness that answers late
    @Test(arguments: ["file", "directory"])
    func `is not replaced by an older one`(_ place: String) throws {
        try withTemporaryFolder { folder in
            try FileLedger.with { ledger throws in
                let path = place == "file" ? folder + "/published" : folder
                let newest = place == "file" ? path : folder + "/checkpoint"
                var older = ""
                try ledger.open { older = try $0.prover.checkpoint() }
                _ = try ledger.importing([FileLedger.grant("a")])
                try ledger.open { try Publication.put($0.prover.checkpoint(), at: path, of: $0) }
                let standing = try Self.text(newest)
                if place == "file" {
                    #expect {
                        try ledger.open { try Publication.put(older, at: path, of: $0) }
                    } throws: {
                        ($0 as? OperationFault)?.code == .forked
                    }
                } else {
                    try ledger.open { try Publication.put(older, at: path, of: $0) }
                    #expect(try Self.text(folder + "/1") == older)
                }
                #expect(try Self.text(newest) == standing)
            }
        }
    }

    @Test(arguments: ["file", "directory"])
    func `is not replaced by one of a fork`(_ place: String) throws {
        try withTemporaryFolder { folder in
            try Self.forked { one, other in
                let path = place == "file" ? folder + "/published" : folder
                try Publication.put(one.prover.checkpoint(), at: path, of: one)
                let file = place == "file" ? path : folder + "/checkpoint"
                let published = try Self.text(file)
                let fault = #expect(throws: OperationFault.self) {
                    try Publication.put(other.prover.checkpoint(), at: path, of: other)
                }
                #expect(fault?.code == .forked && fault?.place == file)
                #expect(try Self.text(file) == published)
                // The control
                try Publication.put(one.prover.checkpoint(), at: path, of: one)
            }
        }
    }

    @Test func `that cannot be read stops publishing`() throws {
        try withTemporaryFolder { folder in
            try FileLedger.with { ledger throws in
                let file = folder + "/published"
                try Data([0xFF, 0xFE]).write(to: URL(filePath: file))
                let fault = #expect(throws: OperationFault.self) {
                    try ledger.open {
                        try Publication.put($0.prover.checkpoint(), at: file, of: $0)
                    }
                }
                #expect(fault?.code == .notText)
                #expect(try Data(contentsOf: URL(filePath: file)) == Data([0xFF, 0xFE]))
            }
        }
    }
}
