import Encodings
import Entitlements
import EventLog
import ModelSupport
import Testing

@testable import EntitlementLedger

/// What is kept of customers who were asked for.
struct `The cache of access` {
    private static let start = Instant(milliseconds: 0)

    private static func access(
        _ usable: Set<Name> = [],
        streams: [UInt64] = [],
        size: UInt64 = 0
    ) -> CachedAccess {
        CachedAccess(
            usable: usable,
            features: nil,
            from: start,
            validUntil: nil,
            size: size,
            streams: streams
        )
    }

    @Test func `finds each of many customers, and each environment's own`() {
        let cache = AccessCache(using: .system, byteLimit: 1 << 30)
        for number in 0..<20_000 {
            let access = Self.access([Name("f\(number)")])
            cache.keep(access, of: cache.hash(of: "c\(number)", .production), since: 0)
        }
        for number in 0..<20_000 {
            let access = cache[cache.hash(of: "c\(number)", .production)]
            #expect(access?.allows("f\(number)") == true && access?.allows("f") == false)
        }
        #expect(cache[cache.hash(of: "c20000", .production)] == nil)
        #expect(cache[cache.hash(of: "c1", .sandbox)] == nil)
        cache.removeAll()
        let hash = cache.hash(of: "c1", .production)
        #expect(cache[hash] == nil)
        // What was worked out before all were forgotten may be wrong.
        cache.keep(Self.access(), of: hash, since: 0)
        #expect(cache[hash] == nil)
        cache.keep(Self.access(), of: hash, since: cache.epoch)
        #expect(cache[hash] != nil)
    }

    // Row 9.4: what Unicode holds to be equivalent, and what fills a word or not.
    @Test func `keeps names apart by their bytes`() {
        let cache = AccessCache(using: .system, byteLimit: 1 << 20)
        let names: [CustomerID] = [
            "jos\u{E9}", "jose\u{301}", "a", "a ", "a       ", " a", "12345678", "12345678 ",
        ]
        #expect(Set(names.map { cache.hash(of: $0, .production) }).count == names.count)
        let other = AccessCache(using: .system, byteLimit: 1 << 20)
        #expect(other.hash(of: "a", .production) != cache.hash(of: "a", .production))
    }

    @Test func `lets the oldest go where its bytes are used up`() {
        let limit = 1 << 20
        let cache = AccessCache(using: .system, byteLimit: limit)
        let hashes = (0..<20_000).map { cache.hash(of: "c\($0)", .production) }
        for hash in hashes { cache.keep(Self.access(), of: hash, since: 0) }
        let kept = hashes.indices.filter { cache[hashes[$0]] != nil }
        let bytes = kept.count * Self.access().byteCount
        #expect(bytes <= limit && bytes > limit / 10 * 9)
        // Each shard forgets for itself: the last half of what is kept is whole.
        #expect(kept.suffix(kept.count / 2).first == hashes.count - kept.count / 2)
        // Keeping the same customer again takes no more.
        for _ in 0..<10_000 { cache.keep(Self.access(), of: hashes[hashes.count - 1], since: 0) }
        #expect(hashes.filter { cache[$0] != nil }.count == kept.count)
    }

    // Few customers have more streams than stand in place: the rest counts as much.
    @Test(arguments: [0, 1, 4, 5, 9])
    func `ends an answer when any of its streams moves`(_ count: Int) async throws {
        try await ScratchLedger.with { scratch in
            let (ledger, streams) = try Self.fill(scratch, streams: 10)
            let views = ledger.questions.views
            let size = views.end
            func access() -> CachedAccess {
                Self.access(streams: Array(streams.prefix(count)), size: size)
            }
            #expect(try access().holds(at: Self.start, in: views))
            for (index, stream) in streams.enumerated() {
                let kept = access()
                #expect(try kept.holds(at: Self.start, in: views) == (index == 0 || count == 0))
                guard index < count else { break }
                let alone = Self.access(streams: Array(streams.prefix(count)), size: views.end)
                #expect(try alone.holds(at: Self.start, in: views))
                try Self.move(ledger, index)
                #expect(try !alone.holds(at: Self.start, in: views), "stream \(stream)")
            }
        }
    }

    // What is counted is what is taken: a text that is kept has no room to grow.
    @Test func `keeps texts in what they take`() async throws {
        try await ScratchLedger.with { scratch in
            let (ledger, _) = try Self.fill(scratch, streams: 1)
            _ = try ledger.appender.publish(
                try Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "c", source: Source.catalog, environment: .production)
            )
            let access = try ledger.questions.foldAccess(
                of: "u0",
                environment: .production,
                at: scratch.clock.now,
                isWritten: true
            )
            let features = try #require(access.features)
            #expect(!features.isEmpty)
            for feature in features.values {
                #expect(feature.text.capacity - feature.text.count < 32)
            }
        }
    }

    /// Customers of a stream each.
    private static func fill(
        _ scratch: ScratchLedger,
        streams: Int
    ) throws -> (Ledger, [UInt64]) {
        for number in 0..<streams { try move(scratch.ledger, number) }
        let numbers = try (0..<streams).map {
            try #require(
                try scratch.ledger.questions.vault.stream(
                    of: StreamName(.customer("u\($0)"), in: .production)
                )
            )
        }
        return (scratch.ledger, numbers)
    }

    private static func move(_ ledger: Ledger, _ number: Int) throws {
        let line = Sample.line(
            "g\(number)-\(try ledger.questions.size())",
            "grant.given",
            "customer/u\(number)",
            data: #"{"grantId":"g","tier":"pro"}"#
        )
        _ = try ledger.appender.record(Sample.submissions([line]))
    }
}
