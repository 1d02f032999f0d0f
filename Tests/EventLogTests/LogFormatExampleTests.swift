import Crypto
import Encodings
import EventLog
import Foundation
import Synchronization
import Testing

/// The worked example of schemas/log-format.md: what the page says is what the program does.
@Suite
struct LogFormatExampleTests {
    private let example: Example

    init() throws { example = try Example() }

    @Test
    func `the record of the page decodes to the values of the page`() throws {
        let record = example.record
        let header = try RecordHeader(checking: record.span)
        #expect(header.length == Int(try example.number("length")))
        #expect(header.sequence == UInt64(try example.number("sequence")))
        #expect(header.recordedAt == (try example.instant("recorded")))
        #expect(header.time == (try example.instant("effective")))
        #expect(header.observedAt == (try example.instant("observed")))
        #expect(header.stream == UInt64(try example.number("stream")))
        #expect(Int64(header.kind) == (try example.number("kind")))
        #expect(Int64(header.source) == (try example.number("source")))
        #expect(Int64(header.environment) == (try example.number("environment")))
        #expect(header.attached == .none)
        #expect(header.signal == (try example.signal))
        #expect(Hexadecimal.encode(Array(record[56..<72])) == (try example.text("signal")))
        #expect(record.span.copy(header.facts) == (try example.facts))
        #expect(TreeHash.leaf(record.span).bytes == (try example.bytes("leaf hash")))
    }

    @Test
    func `the sealed part opens with the page's key`() throws {
        let header = try RecordHeader(checking: example.record.span)
        let identity = try header.identity(of: example.record.span, keys: example.keys)
        #expect(identity == (try example.identity))
        let others = StreamKeys(SymmetricKey(data: try example.bytes("digest secret")))
        #expect(header.identity(of: example.record.span, keys: others) == nil)
    }

    @Test
    func `the program makes the bytes of the page`() throws {
        var edge = TreeEdge()
        for _ in 0..<(try example.number("sequence")) {
            edge.append(TreeHash.leaf([UInt8]().span))
        }
        let submission = SealedSubmission(records: [try example.sealed()])
        let decision = try GroupDecision(
            [submission],
            end: LogEnd(edge: edge, lastRecordedAt: .min, highestCounter: 0),
            index: EmptyIndex(),
            clock: example.instant("recorded")
        )
        #expect(Array(decision.batch.records) == [example.record])
    }

    @Test
    func `one changed digit anywhere is seen`() throws {
        for digit in 0..<example.record.count * 2 {
            var altered = example.record
            altered[digit / 2] ^= digit.isMultiple(of: 2) ? 0x10 : 0x01
            #expect(throws: DecodingFault.self, "digit \(digit)") {
                try RecordHeader(checking: altered.span)
            }
        }
    }

    @Test
    func `a changed fact with a new checksum does not open`() throws {
        var altered = example.record
        altered[72 + 3] ^= 0x01
        let end = altered.count - 4
        var checksum = ByteWriter()
        checksum.append(CRC32C.checksum(altered.span.extracting(0..<end)))
        altered.replaceSubrange(end..., with: checksum.bytes)
        let header = try RecordHeader(checking: altered.span)
        let keys = try example.keys
        #expect(header.identity(of: altered.span, keys: keys) == nil)
    }
}

/// A log that knows nothing yet.
private struct EmptyIndex: LogIndex {
    func sequence(of signal: SignalDigest) -> UInt64? { nil }
    func lastSequence(of stream: UInt64) -> UInt64? { nil }
}

/// What the page states: names with values, and the record's bytes.
private struct Example {
    let record: [UInt8]
    private let values: [String: String]

    init() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../schemas/log-format.md")
        let lines = try String(contentsOf: page, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        values = Dictionary(
            uniqueKeysWithValues: Self.block("values", lines).map { line in
                (
                    String(line.prefix(16)).trimmingCharacters(in: .whitespaces),
                    String(line.dropFirst(16))
                )
            }
        )
        // Each line: four digits of the offset, two spaces, the bytes.
        let digits = Self.block("record", lines).map { $0.dropFirst(6) }.joined()
        record = try #require(Hexadecimal.decode(digits.filter { $0 != " " }))
    }

    private static func block(_ name: String, _ lines: [Substring]) -> ArraySlice<Substring> {
        lines.drop { $0 != "```text \(name)" }.dropFirst().prefix { $0 != "```" }
    }

    func text(_ name: String) throws -> String { try #require(values[name], "\(name)") }

    func bytes(_ name: String) throws -> [UInt8] {
        try #require(Hexadecimal.decode(text(name)), "\(name)")
    }

    func number(_ name: String) throws -> Int64 { try #require(Int64(text(name)), "\(name)") }

    func instant(_ name: String) throws -> Int64 {
        let date = try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text(name))
        return Int64((date.timeIntervalSince1970 * 1000).rounded())
    }

    var keys: StreamKeys {
        get throws { StreamKeys(SymmetricKey(data: try bytes("stream key"))) }
    }

    var signal: SignalDigest {
        get throws {
            KeyedHash(SymmetricKey(data: try bytes("digest secret"))).signal(
                environment: 0,
                source: "app_store",
                id: try text("event id")
            )
        }
    }

    /// The facts as the page's tables lay them out.
    var facts: [UInt8] {
        get throws {
            var writer = ByteWriter()
            writer.append(UInt8(200))
            writer.append(try text("store"))
            writer.append(UInt8(1))
            let tag = try keys.tag(text("transactionId"))
            writer.append(tag)
            #expect(Array(writer.bytes.suffix(8)) == (try bytes("tag")))
            writer.append(UInt8(2))
            writer.append(try text("productId"))
            let kinds = ["non_consumable", "consumable", "auto_renewable", "non_renewing"]
            writer.append(UInt8(3))
            writer.append(UInt8(try #require(kinds.firstIndex(of: text("productKind")))))
            writer.append(UInt8(4))
            writer.append(try instant("expiresAt"))
            writer.append(UInt8(5))
            writer.append(try number("priceMicros"))
            writer.append(UInt8(6))
            writer.append(try text("currencyCode"))
            return writer.bytes
        }
    }

    /// The sealed part in clear.
    var identity: [UInt8] {
        get throws {
            var writer = ByteWriter()
            writer.append(UInt8(202))
            writer.append(try text("event id"))
            writer.append(UInt8(1))
            writer.append(try text("transactionId"))
            return writer.bytes
        }
    }

    func sealed() throws -> SealedRecord {
        let nonce = try bytes("nonce")
        let words = Mutex(
            [8, 0].map { start in
                nonce.dropFirst(start).prefix(8).reversed()
                    .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            }
        )
        var source = RandomSource { words.withLock { $0.popLast() ?? 0 } }
        return try #require(
            try SealedRecord(
                header: .init(
                    time: instant("effective"),
                    observedAt: instant("observed"),
                    stream: UInt64(number("stream")),
                    kind: UInt8(number("kind")),
                    source: UInt8(number("source")),
                    environment: UInt8(number("environment"))
                ),
                signal: signal,
                facts: facts,
                identity: identity,
                key: keys,
                nonce: SealingNonce(using: &source),
                attached: .none,
                attachedDigest: nil,
                otherStreams: []
            )
        )
    }
}
