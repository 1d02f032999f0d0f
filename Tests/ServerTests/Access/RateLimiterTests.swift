import Encodings
import Entitlements
import ModelSupport
import RawStructuredFieldValues
import Testing

@testable import LedgerServer

struct `The rate limiter` {
    private static let origin = ContinuousClock.now

    private static func quota(_ requests: Int64, _ seconds: Int64) throws -> RateLimitQuota {
        try #require(RateLimitQuota(requests: requests, windowSeconds: seconds))
    }

    private static func limiter(
        _ requests: Int64,
        _ seconds: Int64,
        clientLimit: Int = RateLimiter.clientLimit
    ) throws -> RateLimiter {
        let quota = try quota(requests, seconds)
        return RateLimiter(
            Dictionary(uniqueKeysWithValues: RateLimitPolicy.allCases.map { ($0, quota) }),
            origin: origin,
            clientLimit: clientLimit
        )
    }

    // row 9.6
    @Test func `lets a quota pass at once and then what comes back`() throws {
        let limiter = try Self.limiter(60, 60)
        let ann = RateLimitClient.customer("ann")
        for used in 1...60 {
            let decision = try #require(limiter.take(.customers, ann, at: Self.origin))
            #expect(decision.isAllowed)
            #expect(decision.remaining == 60 - Int64(used))
            #expect(decision.resetSeconds == Int64(used))
        }
        let refused = try #require(limiter.take(.customers, ann, at: Self.origin))
        #expect(!refused.isAllowed)
        #expect(refused.remaining == 0)
        #expect(refused.resetSeconds == 1)
        let rows: [(Int, Bool)] = [(999, false), (1000, true), (1001, false), (2000, true)]
        for (milliseconds, isAllowed) in rows {
            let now = Self.origin.advanced(by: .milliseconds(milliseconds))
            #expect(limiter.take(.customers, ann, at: now)?.isAllowed == isAllowed)
        }
    }

    // row 9.6: nobody is limited away by others
    @Test func `counts clients and policies apart`() throws {
        let limiter = try Self.limiter(1, 60)
        let clients: [RateLimitClient] = [
            .key("a"), .customer("a"), .address(nil), .key("b"), .address(IPAddress("10.0.0.1")),
            .address(IPAddress("10.0.0.2")), .address(IPAddress("::")), .customer("ren\u{E9}"),
            .customer("rene\u{301}"),
        ]
        for policy in RateLimitPolicy.allCases {
            for client in clients {
                #expect(limiter.take(policy, client, at: Self.origin)?.isAllowed == true)
            }
            for client in clients {
                #expect(limiter.take(policy, client, at: Self.origin)?.isAllowed == false)
            }
        }
    }

    @Test func `does not limit a policy without a quota`() throws {
        let limiter = RateLimiter([.customers: try Self.quota(1, 1)], origin: Self.origin)
        for _ in 0..<10 { #expect(limiter.take(.keys, .key("a"), at: Self.origin) == nil) }
        #expect(limiter.take(.customers, .customer("a"), at: Self.origin) != nil)
    }

    /// Tokens counted one by one: nothing that the limiter does.
    private struct SlowBucket {
        let capacity: Int64
        let interval: Int64
        var level: Int64
        var seenAt: Int64 = 0

        init(requests: Int64, seconds: Int64) {
            interval = seconds * 1_000_000_000 / requests
            capacity = interval * requests
            level = capacity
        }

        mutating func take(_ now: Int64) -> Bool {
            level = min(capacity, level + (now - seenAt))
            seenAt = now
            guard level >= interval else { return false }
            level -= interval
            return true
        }
    }

    // row 9.6
    @Test(arguments: 0..<40)
    func `says what an obvious bucket says, whatever comes when`(_ seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        let requests = Int64.random(in: 1...20, using: &random)
        let seconds = Int64.random(in: 1...5, using: &random)
        let limiter = try Self.limiter(requests, seconds)
        let clients = (0..<6).map { RateLimitClient.customer("c\($0)") }
        let fresh = SlowBucket(requests: requests, seconds: seconds)
        var slow = Array(repeating: fresh, count: clients.count)
        var (now, allowed): (Int64, Int) = (0, 0)
        for _ in 0..<2_000 {
            let pause = Int64.random(in: 0...fresh.interval / 10, using: &random)
            now += Int.random(in: 0..<200, using: &random) == 0 ? 3 * fresh.capacity : pause
            let place = Int.random(in: 0..<clients.count, using: &random)
            let expected = slow[place].take(now)
            let instant = Self.origin.advanced(by: .nanoseconds(now))
            let decision = try #require(limiter.take(.customers, clients[place], at: instant))
            #expect(decision.isAllowed == expected, "seed \(seed) at \(now)")
            #expect(decision.remaining == slow[place].level / fresh.interval)
            allowed += expected ? 1 : 0
        }
        #expect(allowed > 0 && allowed < 2_000)
    }

    @Test func `keeps its promise of when the next passes`() throws {
        let limiter = try Self.limiter(3, 10)
        let client = RateLimitClient.key("k")
        for _ in 0..<3 { _ = limiter.take(.keys, client, at: Self.origin) }
        let refused = try #require(limiter.take(.keys, client, at: Self.origin))
        let then = Self.origin.advanced(by: .seconds(refused.resetSeconds))
        #expect(limiter.take(.keys, client, at: then)?.isAllowed == true)
    }

    @Test func `holds a bounded number of clients and refuses nobody for it`() throws {
        let limiter = try Self.limiter(1, 60, clientLimit: 100)
        for number in 0..<10_000 {
            let client = RateLimitClient.address(
                IPAddress("10.\(number / 256).\(number % 256).1")
            )
            #expect(limiter.take(.anonymous, client, at: Self.origin)?.isAllowed == true)
            #expect(limiter.clientCount(.anonymous) <= 201)
        }
        #expect(limiter.clientCount(.signals) == 0)
    }

    @Test func `forgets clients whose quota is whole again`() throws {
        let limiter = try Self.limiter(10, 1)
        for number in 0..<50 {
            _ = limiter.take(.customers, .customer("\(number)"), at: Self.origin)
        }
        #expect(limiter.clientCount(.customers) == 50)
        for second in 1...3 {
            let now = Self.origin.advanced(by: .seconds(second))
            _ = limiter.take(.customers, .customer("other"), at: now)
        }
        #expect(limiter.clientCount(.customers) <= 2)
    }

    @Test func `survives clocks that jump and quotas at their ends`() throws {
        for (requests, seconds) in [(Int64(1), Int64(1)), (1_000_000_000, 1), (1, 86_400)] {
            let limiter = try Self.limiter(requests, seconds)
            for jump in [Int64.min, -1, 0, 1, 1 << 40, .max] {
                let now = Self.origin.advanced(
                    by: Duration(secondsComponent: jump, attosecondsComponent: 0)
                )
                #expect(limiter.take(.keys, .key("k"), at: now) != nil, "\(jump)")
            }
        }
        for (requests, seconds) in [(Int64(0), Int64(1)), (1, 0), (-1, 1), (.max, 1), (1, .max)] {
            #expect(RateLimitQuota(requests: requests, windowSeconds: seconds) == nil)
        }
    }

    @Test func `lets exactly a quota pass among many who ask at once`() async throws {
        let limiter = try Self.limiter(1_000, 60)
        let allowed = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<500).count { _ in
                        limiter.take(.keys, .key("k"), at: Self.origin)?.isAllowed == true
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(allowed == 1_000)
    }

    // row 9.6
    @Test func `takes as many tokens as a request costs`() throws {
        let limiter = try Self.limiter(100, 100)
        func take(_ tokens: Int, _ client: CustomerID, after seconds: Int = 0) -> RateLimitDecision?
        {
            limiter.take(
                .appends,
                .customer(client),
                tokens: tokens,
                at: Self.origin.advanced(by: .seconds(seconds))
            )
        }
        #expect(take(60, "ann")?.remaining == 40)
        let refused = try #require(take(41, "ann"))
        #expect(!refused.isAllowed && refused.resetSeconds == 1)
        #expect(take(40, "ann")?.isAllowed == true)
        #expect(take(41, "ann", after: 41)?.isAllowed == true)
        // What costs more than there ever is waits for all of it, and not for ever.
        #expect(take(.max, "bob")?.remaining == 0)
        #expect(take(.max, "bob", after: 99)?.isAllowed == false)
        #expect(take(.max, "bob", after: 100)?.isAllowed == true)
        #expect(take(0, "cid")?.isAllowed == true)
    }
}

struct `The rate limit fields` {
    /// One item of a list as the library reads it; written again it is the same text.
    private static func item(_ text: String) throws -> (name: String?, numbers: [String: Int64]) {
        var parser = StructuredFieldValueParser(Array(text.utf8))
        let list = try parser.parseListFieldValue()
        var serializer = StructuredFieldValueSerializer()
        let written = String(decoding: try serializer.writeListFieldValue(list), as: UTF8.self)
        #expect(written == text)
        guard list.count == 1, case .item(let item) = list[0] else { return (nil, [:]) }
        let numbers = item.rfc9651Parameters.compactMap { name, value -> (String, Int64)? in
            guard case .integer(let number) = value else { return nil }
            return (name, number)
        }
        guard case .string(let name) = item.rfc9651BareItem else { return (nil, [:]) }
        return (name, Dictionary(uniqueKeysWithValues: numbers))
    }

    // row 9.6; draft-ietf-httpapi-ratelimit-headers: strings with integer parameters
    @Test(arguments: RateLimitPolicy.allCases)
    func `are what the structured field library reads and writes`(
        _ policy: RateLimitPolicy
    ) throws {
        let quota = try #require(RateLimitQuota(requests: 3, windowSeconds: 60))
        let origin = ContinuousClock.now
        let limiter = RateLimiter([policy: quota], origin: origin)
        // After each of four requests: what remains, and in how many seconds what comes.
        for (remaining, seconds) in [(Int64(2), Int64(20)), (1, 40), (0, 60), (0, 20)] {
            let decision = try #require(limiter.take(policy, .key("k"), at: origin))
            let fields = RateLimitHeaders(decision)
            let policyItem = try Self.item(fields.policy)
            #expect(policyItem.name == policy.rawValue)
            #expect(policyItem.numbers == ["q": 3, "w": 60])
            let limitItem = try Self.item(fields.limit)
            #expect(limitItem.name == policy.rawValue)
            #expect(limitItem.numbers == ["r": remaining, "t": seconds])
            #expect(fields.retryAfter == (decision.isAllowed ? nil : "20"))
        }
    }
}
