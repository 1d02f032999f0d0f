import Entitlements
import Synchronization

/// Counts refused signals by reason, and says when a count is to be kept (Stores, rule 5).
///
/// Anybody can post what fails verification: a flood costs an addition each, no lock and no disk.
/// The reasons form a list that only grows, so that it is walked without a lock.
final class RefusalTally: Sendable {
    private let first = AtomicLazyReference<Reason>()

    /// A reason's count is kept at most so often.
    static let intervalMilliseconds: Int64 = 3_600_000
    /// A count that could not be kept, because a disk is full say, is tried again after this.
    static let retryMilliseconds: Int64 = 60_000
    /// Reasons that are counted apart; others are counted as `other`.
    static let reasonLimit = 256

    /// What is counted together.
    struct Key: Sendable, Equatable {
        var store: String
        var environment: StoreEnvironment
        var code: String
    }

    /// One reason with its count.
    final class Reason: Sendable {
        let key: Key
        private let count = Atomic<Int>(0)
        private let dueAt = Atomic<Int64>(.min)
        fileprivate let next = AtomicLazyReference<Reason>()

        fileprivate init(_ key: Key) { self.key = key }

        /// What was counted and not kept.
        var pending: Int { count.load(ordering: .relaxed) }

        /// Counts more, without keeping any.
        func add(_ number: Int) { count.wrappingAdd(number, ordering: .relaxed) }

        /// The number to keep now, or nil: there is none, or it is not time yet.
        func take(at now: Instant) -> Int? {
            let due = dueAt.load(ordering: .relaxed)
            guard now.milliseconds >= due else { return nil }
            // Of those who come at once one keeps the count.
            let next = now.advanced(byMilliseconds: intervalMilliseconds).milliseconds
            let isFirst = dueAt.compareExchange(
                expected: due,
                desired: next,
                ordering: .acquiringAndReleasing
            ).exchanged
            guard isFirst else { return nil }
            let number = count.exchange(0, ordering: .acquiringAndReleasing)
            return number > 0 ? number : nil
        }

        /// Takes a number back that was not kept, to be tried again from an instant on.
        func giveBack(_ number: Int, until instant: Instant) {
            count.wrappingAdd(number, ordering: .relaxed)
            dueAt.store(instant.milliseconds, ordering: .releasing)
        }
    }

    /// The reasons that were counted.
    var reasons: [Reason] {
        Array(sequence(first: first.load()) { $0?.next.load() }.prefix { $0 != nil }).compactMap(
            \.self
        )
    }

    /// The reason of a key; the one for `other` where there are too many.
    func reason(_ key: Key) -> Reason {
        var count = 1
        var reason = first.load() ?? first.storeIfNil(Reason(key))
        while reason.key != key {
            let isLast = count >= Self.reasonLimit
            if isLast { return reason }
            count += 1
            let isOther = count == Self.reasonLimit
            reason =
                reason.next.load() ?? reason.next.storeIfNil(Reason(isOther ? other(key) : key))
        }
        return reason
    }

    private func other(_ key: Key) -> Key {
        Key(store: key.store, environment: key.environment, code: "other")
    }
}
