package import Entitlements

/// What the stores were asked about everybody, and what came of it: `sync --backfill`.
package struct BackfillAnswer: Described {
    /// The environment that was asked about.
    package var environment: StoreEnvironment
    /// When asking began.
    package var at: Instant
    /// The log's size behind it.
    package var sequence: UInt64
    /// What each store told of a stretch of time.
    package var sources: [BackfilledSource]
    /// Purchases by what came of asking about each.
    package var completed: Int
    /// Of which something was missing.
    package var reconciled: Int
    /// Whose store did not tell all.
    package var failed: Int
    /// Whose store cannot be asked.
    package var notAsked: Int
    /// Not come to: it was ended before, or a store wants no more questions for now.
    package var remaining: Int
    /// The first of those that failed; of those that are to be asked about again at least one.
    package var failures: [SyncedPurchase]

    /// Failures that are listed.
    package static let failureLimit = 100

    /// Makes an answer of nothing.
    package init(environment: StoreEnvironment, at: Instant) {
        self.init(
            environment: environment,
            at: at,
            sequence: 0,
            sources: [],
            completed: 0,
            reconciled: 0,
            failed: 0,
            notAsked: 0,
            remaining: 0,
            failures: []
        )
    }

    private init(
        environment: StoreEnvironment,
        at: Instant,
        sequence: UInt64,
        sources: [BackfilledSource],
        completed: Int,
        reconciled: Int,
        failed: Int,
        notAsked: Int,
        remaining: Int,
        failures: [SyncedPurchase]
    ) {
        self.environment = environment
        self.at = at
        self.sequence = sequence
        self.sources = sources
        self.completed = completed
        self.reconciled = reconciled
        self.failed = failed
        self.notAsked = notAsked
        self.remaining = remaining
        self.failures = failures
    }

    /// Adds what came of asking about some purchases.
    package mutating func count(_ purchases: [SyncedPurchase]) {
        for purchase in purchases {
            switch purchase.outcome {
            case .completed: completed += 1
            case .reconciled: reconciled += 1
            case .notAsked: notAsked += 1
            case .failed:
                failed += 1
                list(purchase)
            }
        }
    }

    /// Lists one that failed; where there is no room, what its store does not know gives way to what is to be
    /// asked about again.
    private mutating func list(_ failure: SyncedPurchase) {
        if failures.count >= Self.failureLimit {
            guard failure.isToAskAgain, let place = failures.lastIndex(where: { !$0.isToAskAgain })
            else { return }
            failures.remove(at: place)
        }
        failures.append(failure)
    }

    /// Whether every store told all that there was to ask.
    package var isWhole: Bool {
        failed == 0 && remaining == 0 && sources.allSatisfy { $0.code == nil }
    }

    /// Whether to ask again: somebody was not asked about, or a store did not tell all that it knows.
    ///
    /// Where everybody was asked about and nobody is known, the key may be another app's.
    package var isToAskAgain: Bool {
        remaining > 0 || sources.contains { $0.code != nil }
            || failures.contains(where: \.isToAskAgain)
            || !sources.isEmpty && failed > 0 && completed + reconciled == 0
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "Backfill",
        "What the stores told of everybody",
        Self.init
    ) {
        Field("environment", \.environment, .environment)
        Field("at", \.at, .instant, "When asking began")
        Field("sequence", \.sequence, .count, "The log's size behind it")
        Field("sources", \.sources, .list(.object))
        Field("completed", \.completed, .count, "Purchases of which nothing was missing")
        Field("reconciled", \.reconciled, .count, "Purchases of which something was")
        Field("failed", \.failed, .count, "Purchases whose store did not tell all")
        Field("notAsked", \.notAsked, .count, "Purchases whose store cannot be asked")
        Field("remaining", \.remaining, .count, "Purchases that were not come to")
        Field("failures", \.failures, .list(.object), "The first that failed")
    }
}

/// What a store told of a stretch of time.
package struct BackfilledSource: Described {
    /// The store.
    package var store: String
    /// From when on it was asked.
    package var since: Instant
    /// Until when it told; what lies behind is not known to be complete.
    package var through: Instant
    /// Messages that it told.
    package var found: Int
    /// Events of them that were missing.
    package var appended: Int
    /// Messages that are not the store's word, or cannot be read.
    package var refused: Int
    /// Why it did not tell all; nil: it did.
    package var code: SyncedPurchase.Code?

    /// Makes one of which nothing was told yet.
    package init(store: String, since: Instant) {
        self.init(
            store: store,
            since: since,
            through: since,
            found: 0,
            appended: 0,
            refused: 0,
            code: nil
        )
    }

    private init(
        store: String,
        since: Instant,
        through: Instant,
        found: Int,
        appended: Int,
        refused: Int,
        code: SyncedPurchase.Code?
    ) {
        self.store = store
        self.since = since
        self.through = through
        self.found = found
        self.appended = appended
        self.refused = refused
        self.code = code
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "BackfilledSource",
        "What a store told of a stretch of time",
        Self.init
    ) {
        Field("store", \.store, .text(.common(.store)))
        Field("since", \.since, .instant)
        Field("through", \.through, .instant, "Until when it told")
        Field("found", \.found, .count, "Messages")
        Field("appended", \.appended, .count, "Events that were missing")
        Field(
            "refused",
            \.refused,
            .count,
            "Messages that are not the store's word, or cannot be read"
        )
        Field("code", \.code, .orAbsent(.word), "Why it did not tell all")
    }
}
