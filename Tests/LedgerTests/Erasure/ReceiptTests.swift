import Crypto
import Encodings
import Entitlements
import EventLog
import LedgerAPI
import Testing

@testable import EntitlementLedger

/// The text of an erasure's receipt (C6; schemas/log-format.md, "Receipt").
struct `A receipt of an erasure` {
    private static func receipt(streams count: UInt64) -> ErasureReceipt {
        ErasureReceipt(
            origin: "ledger.test/log",
            sequence: 7,
            events: 1,
            recordedAt: Sample.newYear,
            streams: (0..<count).map { UInt64.max - $0 }.reversed(),
            evidence: [3, 5],
            treeSize: 8,
            rootHash: "root",
            generation: 1,
            backups: ErasureReceipt.Backups(reached: [], missed: []),
            exports: ["/exports/a\nb"],
            machines: [],
            database: [],
            note: ""
        )
    }

    /// The lines behind those that say which erasure it is.
    private static func lists(_ receipt: ErasureReceipt) throws -> [String] {
        let signer = try NoteSigner(name: receipt.origin, privateKey: .init())
        // A note takes it: keys are destroyed before it is signed.
        let note = try signer.sign(ErasureReceipt.text(receipt))
        return note.text.split(separator: "\n").dropFirst(7).map { String($0) }
    }

    @Test func `names each that is gone`() throws {
        let receipt = Self.receipt(streams: 2000)
        let expected =
            receipt.streams.map { "erased \($0)" } + ["evidence 3", "evidence 5"]
            + ["export /exports/a\u{FFFD}b"]
        #expect(try Self.lists(receipt) == expected)
    }

    @Test func `sums up where there are more than a note holds`() throws {
        let receipt = Self.receipt(streams: 60_000)
        func sum(_ lines: [String]) -> String {
            Hexadecimal.encode(SHA256.hash(data: Array(lines.map { $0 + "\n" }.joined().utf8)))
        }
        let erased = receipt.streams.map { "erased \($0)" }
        let expected = [
            "erased all 60000 sha256 " + sum(erased),
            "evidence all 2 sha256 " + sum(["evidence 3", "evidence 5"]),
            "export all 1 sha256 " + sum(["export /exports/a\u{FFFD}b"]),
        ]
        #expect(try Self.lists(receipt) == expected)
        // The control: so many lines are no note.
        let signer = try NoteSigner(name: receipt.origin, privateKey: .init())
        #expect(throws: NoteFault.self) {
            try signer.sign(erased.map { $0 + "\n" }.joined())
        }
    }
}
