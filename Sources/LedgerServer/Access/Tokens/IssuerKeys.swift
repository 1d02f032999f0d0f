import Entitlements
import Synchronization

/// The keys of an issuer that publishes them at an address: kept as long as the issuer says, so that
/// tokens are checked while the address is away.
package final class IssuerKeys: Sendable {
    private let fetch: @Sendable () async -> Fetched?
    private let algorithms: Set<TokenKeys.Algorithm>
    private let kept = Mutex<Kept?>(nil)
    /// The fetch that is under way, which everybody waits for who needs one.
    private let fetching = Mutex<Task<TokenKeys?, Never>?>(nil)

    /// What the address holds.
    package struct Fetched: Sendable {
        /// A JWK set, or certificates by their ids.
        package var text: String
        /// How long it may be kept, in seconds; nil: it is not said.
        package var lifetime: Int64?

        /// Takes what was read.
        package init(text: String, lifetime: Int64?) {
            self.text = text
            self.lifetime = lifetime
        }
    }

    private struct Kept {
        var keys: TokenKeys
        var fetchedAt: Instant
        var lapsesAt: Instant
    }

    /// The keys cannot be had now.
    package struct Unavailable: Error {}

    /// Seconds that keys are kept: at most a day, whatever is said; an hour where nothing is.
    private static let lifetimes: ClosedRange<Int64> = 60...86_400
    private static let usualLifetime: Int64 = 3600
    /// Milliseconds between two fetches for keys that are not known: anybody can name one.
    private static let leastInterval: Int64 = 60_000

    /// `fetch`: reads the address; nil: it does not answer, or not with keys.
    package init(
        for algorithms: Set<TokenKeys.Algorithm>,
        fetch: @escaping @Sendable () async -> Fetched?
    ) {
        self.algorithms = algorithms
        self.fetch = fetch
    }

    /// The keys as they are kept, fetched where they lapsed.
    ///
    /// Nothing is kept of a fetch that failed: the next one tries again.
    func current(at now: Instant) async throws(Unavailable) -> TokenKeys {
        if let kept = kept.withLock(\.self), now < kept.lapsesAt { return kept.keys }
        guard let keys = await renewed(at: now) else { throw Unavailable() }
        return keys
    }

    /// Fetches them before they lapse; false: they cannot be had, and those that are kept are kept.
    func renew(lapsedBy end: Instant, at now: Instant) async -> Bool {
        if let kept = kept.withLock(\.self), end < kept.lapsesAt { return true }
        return await renewed(at: now) != nil
    }

    /// The keys of today, for a token by a key that is not known; nil: they were read a moment ago,
    /// or cannot be had.
    func newer(at now: Instant) async -> TokenKeys? {
        let earliest = kept.withLock { kept in
            kept?.fetchedAt.advanced(byMilliseconds: Self.leastInterval)
        }
        if let earliest, now < earliest { return nil }
        return await renewed(at: now)
    }

    /// One fetch at a time, however many tokens come.
    private func renewed(at now: Instant) async -> TokenKeys? {
        let task = fetching.withLock { running in
            if let running { return running }
            let task = Task {
                let keys = await self.fetched(at: now)
                self.fetching.withLock { $0 = nil }
                return keys
            }
            running = task
            return task
        }
        return await task.value
    }

    private func fetched(at now: Instant) async -> TokenKeys? {
        // Why it cannot be used makes no difference to who asked.
        guard let fetched = await fetch(),
            let keys = try? await TokenKeys(fetched.text, for: algorithms)
        else { return nil }
        let lifetime = fetched.lifetime ?? Self.usualLifetime
        let seconds = min(max(lifetime, Self.lifetimes.lowerBound), Self.lifetimes.upperBound)
        let lapsesAt = now.advanced(byMilliseconds: seconds * 1000)
        kept.withLock { $0 = Kept(keys: keys, fetchedAt: now, lapsesAt: lapsesAt) }
        return keys
    }
}
