import Synchronization

/// Limits how many requests each client makes: one token bucket for each policy and client.
///
/// A bucket is one number, the instant at which it will be full again (the generic cell rate
/// algorithm, ITU-T I.371): taking a token moves it on by what one token needs to come back. A
/// bucket that is full is as good as none, and every bucket is full one window after its last use;
/// so those that have not been used for a window are dropped together and nothing is lost.
///
/// With more clients than the limit within one window the longest unused are dropped early: they
/// may get more than their quota, and nobody is refused for it. Memory: at most about 4 MiB for each
/// policy.
package final class RateLimiter: Sendable {
    private let origin: ContinuousClock.Instant
    /// By the policy's place.
    private let lanes: [Lane?]

    /// Clients of one policy in one generation.
    package static let clientLimit = 65_536

    /// The buckets of one policy, under a lock of their own.
    private final class Lane: Sendable {
        let policy: RateLimitPolicy
        let quota: RateLimitQuota
        let policyField: String
        /// Nanoseconds in which one token comes back, and the whole quota.
        let interval: Int64
        let burst: Int64
        let buckets: Mutex<Buckets>

        init(_ policy: RateLimitPolicy, _ quota: RateLimitQuota, clientLimit: Int) {
            self.policy = policy
            self.quota = quota
            policyField = RateLimitHeaders.policyField(policy, quota)
            interval = max(1, quota.windowSeconds * 1_000_000_000 / quota.requests)
            burst = interval * quota.requests
            buckets = Mutex(Buckets(fullAt: Generations(limit: clientLimit)))
        }
    }

    private struct Buckets {
        /// Nanoseconds since `origin`.
        var fullAt: Generations<IdentityHash, Int64>
        var agedAt: Int64 = 0

        mutating func ageIfDue(_ now: Int64, window: Int64) {
            guard now - agedAt >= window else { return }
            fullAt.age()
            agedAt = now
        }
    }

    /// Makes a limiter; a policy without a quota is not limited.
    ///
    /// `origin` is any instant before the first request.
    package init(
        _ quotas: [RateLimitPolicy: RateLimitQuota],
        origin: ContinuousClock.Instant,
        clientLimit: Int = RateLimiter.clientLimit
    ) {
        self.origin = origin
        lanes = RateLimitPolicy.allCases.map { policy in
            quotas[policy].map { Lane(policy, $0, clientLimit: clientLimit) }
        }
    }

    /// Counts a request and says whether it may pass; nil where the policy has no quota.
    ///
    /// A request that may not pass is not counted. `tokens`: what it takes; one that takes more
    /// than there ever are takes them all.
    /// Cost: O(1), no allocation.
    package func take(
        _ policy: RateLimitPolicy,
        _ client: RateLimitClient,
        tokens: Int = 1,
        at now: ContinuousClock.Instant
    ) -> RateLimitDecision? {
        guard let lane = lanes[policy.place] else { return nil }
        let now = nanoseconds(now)
        let cost = min(Int64(tokens), lane.quota.requests) * lane.interval
        return lane.buckets.withLock { buckets in
            buckets.ageIfDue(now, window: lane.burst)
            let used = max(buckets.fullAt[client.identity] ?? 0, now) - now
            guard used <= lane.burst - cost else {
                return Self.refusal(lane, wait: used - (lane.burst - cost))
            }
            buckets.fullAt.set(now + used + cost, for: client.identity)
            return Self.admission(lane, used: used + cost)
        }
    }

    /// Clients held in memory, for tests of the bound.
    package func clientCount(_ policy: RateLimitPolicy) -> Int {
        lanes[policy.place]?.buckets.withLock { $0.fullAt.count } ?? 0
    }

    private static func admission(_ lane: Lane, used: Int64) -> RateLimitDecision {
        RateLimitDecision(
            policy: lane.policy,
            isAllowed: true,
            remaining: (lane.burst - used) / lane.interval,
            resetSeconds: seconds(used),
            policyField: lane.policyField
        )
    }

    private static func refusal(_ lane: Lane, wait: Int64) -> RateLimitDecision {
        RateLimitDecision(
            policy: lane.policy,
            isAllowed: false,
            remaining: 0,
            resetSeconds: seconds(wait),
            policyField: lane.policyField
        )
    }

    /// Whole seconds, rounded up.
    private static func seconds(_ nanoseconds: Int64) -> Int64 {
        (nanoseconds + 999_999_999) / 1_000_000_000
    }

    /// Since `origin`, held within 0 and a century, so that no sum overflows.
    private func nanoseconds(_ now: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = (now - origin).components
        let held = min(max(seconds, 0), Self.latestSeconds)
        return held * 1_000_000_000 + (seconds < 0 ? 0 : attoseconds / 1_000_000_000)
    }

    private static let latestSeconds: Int64 = 3_155_760_000
}

/// What a rate limiter says of a request.
package struct RateLimitDecision: Hashable, Sendable {
    package var policy: RateLimitPolicy
    /// Whether it may pass.
    package var isAllowed: Bool
    /// Requests that would pass now, or bytes.
    package var remaining: Int64
    /// Seconds, rounded up: after an allowed request until the whole quota is there again, after a
    /// refused one until the next passes.
    package var resetSeconds: Int64
    let policyField: String
}
