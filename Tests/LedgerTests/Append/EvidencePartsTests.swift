import Crypto
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDB
import LedgerAPI
import ModelSupport
import Testing

/// Evidence whose certificate chains are kept once (Storage, "Evidence").
struct `Evidence in parts` {
    private static func submission(_ id: String, _ parts: [EvidencePart]) throws -> Submission {
        let event = try Sample.event(
            id,
            "signal.noted",
            "store/app_store",
            data: #"{"name":"test"}"#
        )
        return Submission(
            id: id,
            source: Source.appStore,
            environment: .production,
            nature: .signal,
            drafts: [event.draft],
            evidenceParts: parts
        )
    }

    private static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
    }

    /// Standard base64 of random bytes: what a certificate looks like in a header.
    private static func text(_ count: Int, seed: UInt64) -> [UInt8] {
        Array(Base64.encode(bytes(count, seed: seed).span).utf8)
    }

    private static let trees: [[EvidencePart]] = [
        [], [.bytes([])], [.bytes([1, 2, 3])], [.shared([])], [.shared([9]), .shared([9])],
        [.base64URL([])],
        [.base64URL([.bytes([0xFF])]), .bytes([46]), .base64URL([.bytes([1, 2])])],
        [.base64URL([.shared([1, 2, 3, 4]), .base64URL([.bytes(Array("inner".utf8))])])],
        (0..<300).map { .shared([UInt8($0 % 200), 1]) },
        (0..<5000).map { .base64URL([.bytes([UInt8($0 % 256)])]) },
        [(0..<20).reduce(.bytes(Array("deep".utf8))) { inner, _ in .base64URL([inner]) }],
        [.shared(Array(repeating: 65, count: 100_000)), .bytes(Array("tail".utf8))],
    ]

    // row 7.6, row CL7: byte for byte, also where a limit is passed and it is kept in one piece
    @Test(arguments: trees.indices)
    func `comes back as it was received`(index: Int) async throws {
        let parts = Self.trees[index]
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.record(Self.submission("1", parts))
            _ = try scratch.ledger.appender.record(Self.submission("2", parts))
            for _ in 0..<2 {
                #expect(try scratch.ledger.questions.evidence(of: 0) == parts.flattened)
                #expect(try scratch.ledger.questions.evidence(of: 1) == parts.flattened)
                #expect(try scratch.ledger.auditor.audit().isOK)
                try scratch.reopen()
            }
        }
    }

    // RFC 4648, section 5, against Foundation's encoder
    @Test func `is encoded again in canonical base64url`() {
        for count in 0..<70 {
            let bytes = Self.bytes(count, seed: UInt64(count))
            let expected = Data(bytes).base64EncodedString()
                .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
                .replacingOccurrences(of: "=", with: "")
            let part = EvidencePart.base64URL([.bytes(bytes)])
            #expect(String(decoding: part.flattened, as: UTF8.self) == expected)
            #expect(part.flattenedCount == expected.utf8.count)
        }
    }

    @Test func `has the limit of evidence, whatever its parts share`() async throws {
        try await ScratchLedger.with { scratch in
            let part = EvidencePart.shared(Array(repeating: 1, count: SealedEvidence.byteLimit / 4))
            let fitting = try Self.submission("1", Array(repeating: part, count: 4))
            #expect(try scratch.ledger.appender.record(fitting) == .appended(first: 0, count: 1))
            #expect(try scratch.ledger.questions.evidence(of: 0)?.count == SealedEvidence.byteLimit)
            let receipt = try scratch.ledger.appender.record(
                Self.submission("2", Array(repeating: part, count: 4) + [.bytes([1])])
            )
            guard case .refused(let refusal) = receipt else {
                Issue.record("\(receipt)")
                return
            }
            #expect(refusal.code == .tooLarge)
        }
    }

    /// A notification of about 20 KB: three signatures with one chain.
    private static func notification(_ number: Int, chain: [UInt8]) -> [EvidencePart] {
        let seed = UInt64(number) &* 31
        func signature(_ place: UInt64) -> EvidencePart {
            .base64URL([.bytes(bytes(64, seed: seed &+ place))])
        }
        func signed(_ payload: [EvidencePart], _ place: UInt64) -> [EvidencePart] {
            [
                .shared(chain), .bytes([46]), .base64URL(payload), .bytes([46]), signature(place),
            ]
        }
        let facts = (0..<18).map {
            "\"field\($0)\":\"\(number &* ($0 + 7919))\""
        }.joined(separator: ",")
        let inner = [EvidencePart.bytes(Array("{\(facts)}".utf8))]
        return [.bytes(Array(#"{"signedPayload":""#.utf8))]
            + signed(
                [.bytes(Array(#"{"signedTransactionInfo":""#.utf8))] + signed(inner, 1)
                    + [.bytes(Array(#"","signedRenewalInfo":""#.utf8))] + signed(inner, 2)
                    + [.bytes(Array(#"","notificationUUID":"\#(number)"}"#.utf8))],
                3
            ) + [.bytes(Array(#""}"#.utf8))]
    }

    // Storage, "Evidence"; the same bytes in one piece are the control
    @Test func `of a store's notification takes little room after the first`() async throws {
        let count = 1000
        let chain = Self.text(3900, seed: 1)
        func bytesPerNotification(inParts: Bool) async throws -> Int {
            try await ScratchLedger.with { scratch in
                let submissions = try (0..<count).map { number in
                    let parts = Self.notification(number, chain: chain)
                    #expect((18_000...25_000).contains(parts.flattenedCount))
                    return try Self.submission(
                        "\(number)",
                        inParts ? parts : [.bytes(parts.flattened)]
                    )
                }
                _ = try scratch.ledger.appender.record(submissions)
                var total = 0
                for number in [0, 1, count - 1] {
                    #expect(
                        try scratch.ledger.questions.evidence(of: UInt64(number))
                            == Self.notification(number, chain: chain).flattened
                    )
                }
                try scratch.close()
                let log = try files(below: scratch.path + "/log").filter {
                    $0.path.hasSuffix("data.mdb")
                }
                for file in log { total += file.bytes.count }
                return total / count
            }
        }
        let whole = try await bytesPerNotification(inParts: false)
        let parts = try await bytesPerNotification(inParts: true)
        let sizes = Self.notification(1, chain: chain).flattenedCount
        print("evidence of \(sizes) bytes takes \(parts) in parts, \(whole) in one piece")
        #expect(parts < 2048)
        #expect(whole > 3 * parts)
    }

    // law 6 does not reach them: they name nobody, and an audit reads them without a key
    @Test func `shares parts among streams that are erased apart`() async throws {
        let chain = Self.text(300, seed: 2)
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.record(Self.submission("1", [.shared(chain)]))
            try scratch.close()
            try Self.shared(scratch) { transaction, table in
                var keys: [[UInt8]] = []
                try transaction.scan(table, from: nil) { key, value in
                    keys.append((0..<key.count).map { key[$0] })
                    #expect(value.count < chain.count)
                    return true
                }
                #expect(keys == [Array(SHA256.hash(data: chain))])
            }
            try scratch.reopen()
        }
    }

    /// Lends the table of shared parts of a closed ledger.
    private static func shared(
        _ scratch: ScratchLedger,
        _ body: (borrowing WriteTransaction, Table) throws -> Void
    ) throws {
        let environment = try LMDB.Environment(path: scratch.path + "/log", options: .init())
        defer { environment.close() }
        let table = try #require(try environment.table("shared", create: false))
        try environment.write { try body($0, table) }
    }

    /// What may happen to a shared part.
    enum Damage: CaseIterable {
        case none, missing, altered, another
    }

    // row 3.6: an audit names the part; the control is the ledger before and one left alone
    @Test(arguments: Damage.allCases)
    func `whose shared part is missing or altered is found by an audit`(
        damage: Damage
    ) async throws {
        let (chain, other) = (Self.text(300, seed: 3), Self.text(300, seed: 4))
        try await ScratchLedger.with { scratch in
            for number in 0..<3 {
                _ = try scratch.ledger.appender.record(
                    Self.submission("\(number)", [.shared(chain), .bytes([UInt8(number)])])
                )
            }
            _ = try scratch.ledger.appender.record(Self.submission("other", [.shared(other)]))
            #expect(try scratch.ledger.auditor.audit().isOK)
            try scratch.close()
            try Self.shared(scratch) { try Self.harm($0, $1, chain, other, damage) }
            try scratch.reopen()
            let faults = try scratch.ledger.auditor.audit().faults
            #expect(try scratch.ledger.questions.evidence(of: 3) == other)
            guard damage != .none else {
                #expect(faults.isEmpty)
                #expect(try scratch.ledger.questions.evidence(of: 0) == chain + [0])
                return
            }
            #expect(faults.map(\.kind) == [.evidence])
            #expect(faults.first?.sequence == 0)
            let digest = Hexadecimal.encode(SHA256.hash(data: chain))
            #expect(faults.first?.detail.contains(digest) == true)
            let fault = #expect(throws: LogStorageFault.self) {
                try scratch.ledger.questions.evidence(of: 1)
            }
            #expect(fault?.code == .damaged)
        }
    }

    private static func harm(
        _ transaction: borrowing WriteTransaction,
        _ table: Table,
        _ chain: [UInt8],
        _ other: [UInt8],
        _ damage: Damage
    ) throws {
        let key = Key(Array(SHA256.hash(data: chain)).span)
        let otherKey = Key(Array(SHA256.hash(data: other)).span)
        var value = try transaction.get(table, key) { $0.copy() } ?? []
        switch damage {
        case .none: return
        case .missing: #expect(try transaction.delete(table, key))
        case .altered:
            value[value.count / 2] ^= 1
            try transaction.put(table, key, value.span)
        case .another:
            value = try transaction.get(table, otherKey) { $0.copy() } ?? []
            try transaction.put(table, key, value.span)
        }
    }
}
