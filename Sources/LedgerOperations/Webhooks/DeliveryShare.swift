import Encodings
import EntitlementLedger
import EventLog
import LMDBStorage
import Synchronization

/// What the machines of a cluster hold in common of what is told to others (Several machines).
///
/// The machine that leads tells, and writes who is told and how far, with what it noticed, behind what it does:
/// whoever leads next goes on from there, and tells anew, under the same ids, what was told since. What
/// somebody asked for is written before they are answered. The other machines copy it.
package final class DeliveryShare: Sendable {
    private let store: DeliveryStore
    private let journal: any ClusterDeliveries
    private let seal: LedgerSeal
    private let state = Mutex(State())
    /// Whether this machine tells, and bytes that were written last: read without waiting for the database.
    private let leads = Atomic(false)
    private let byteCount = Atomic(0)

    private struct State {
        /// Whether this machine tells.
        var isLeading = false
        /// The cluster's term in which it does.
        var term: UInt64 = 0
        /// The stamp of the last write that is known; nil: none.
        var stamp: [UInt8]?
        /// The stamp of a write of which it is not known what became, and where the notices of its state end;
        /// nil: it has none.
        var doubtful: (stamp: [UInt8], below: UInt64?)?
        /// Whether pages may stand of which nobody knows, as no state is written behind them.
        var hasLoosePages = false
        /// Changes of the store that were written.
        var shared: UInt64?
        /// Bytes that were written last.
        var byteCount = 0
        /// When old notices were forgotten last.
        var forgotAt: ContinuousClock.Instant?
    }

    /// Notices of a page.
    private static let pageSize = 1000
    /// Bytes of pages, beyond which they are written before what is behind them.
    private static let byteLimit = 1 << 20
    /// Pages that are read at once.
    private static let pagesPerRead = 16
    /// How often old notices are forgotten.
    private static let forgetInterval = Duration.seconds(60)
    /// How long one change waits for others, at least.
    private static let leastPause = Duration.milliseconds(250)
    /// Bytes that are written in a millisecond, about: what is large is written seldom.
    private static let bytesPerMillisecond = 2000
    private static let stampByteCount = 16

    init(
        _ store: DeliveryStore,
        in journal: any ClusterDeliveries,
        sealedBy seal: LedgerSeal
    ) {
        (self.store, self.journal, self.seal) = (store, journal, seal)
    }

    /// Whether this machine tells.
    package var isLeading: Bool { leads.load(ordering: .acquiring) }

    /// How long what is changed waits until it is written.
    package var pause: Duration {
        let count = byteCount.load(ordering: .relaxed)
        return max(Self.leastPause, .milliseconds(count / Self.bytesPerMillisecond))
    }

    private func locked<Result>(_ body: (inout State) throws -> Result) throws -> Result {
        try state.withLock { state in
            defer {
                leads.store(state.isLeading, ordering: .releasing)
                byteCount.store(state.byteCount, ordering: .relaxed)
            }
            return try body(&state)
        }
    }

    /// Begins to tell where the machine that told before left it: from now on that one writes nothing.
    ///
    /// `term`: the cluster's, in which this machine leads: one that hung does not take it from who leads since.
    ///
    /// - Throws: `LogStorageFault.noLeader` where another one told in a later term, or begins at the same time;
    ///   `JournalFault`.
    package func lead(in term: UInt64) throws {
        try locked { state in
            guard !state.isLeading else { return }
            do {
                state = State()
                state.term = term
                try takeOver(&state)
            } catch {
                // What was read of it before is no copy of it.
                state = State()
                throw error
            }
        }
    }

    private func takeOver(_ state: inout State) throws {
        state.stamp = try journal.deliveryStamp()
        // Where nobody ever wrote, what stands here counts.
        guard let stamp = state.stamp else { return try begin(&state) }
        guard stamp.count >= 8, UInt64(bigEndianBytes: stamp.prefix(8)) <= state.term else {
            throw Self.deposed
        }
        try write(DeliveriesChange(stamp: Self.stamp(state)), &state)
        guard let held = try read() else {
            try cut(from: 0, &state)
            return try begin(&state)
        }
        try take(held)
        // What another one noticed and did not come to count.
        try cut(from: held.next, &state)
        state.shared = store.changeCount
        state.isLeading = true
    }

    private func begin(_ state: inout State) throws {
        try store.noteShared(below: 0)
        state.isLeading = true
    }

    private func cut(from number: UInt64, _ state: inout State) throws {
        var change = DeliveriesChange(stamp: Self.stamp(state))
        change.cutFrom = number
        try write(change, &state)
    }

    /// Writes what changed, then tells no more.
    package func leave() throws {
        try locked { state in
            defer { state = State() }
            guard state.isLeading else { return }
            try share(&state)
        }
    }

    /// Writes what changed since.
    ///
    /// - Throws: `LogStorageFault.noLeader` where another machine tells by now: this one does no more;
    ///   `JournalFault`.
    package func share() throws { try locked { try share(&$0) } }

    /// Changes something where this machine tells, and writes it before whoever asked for it is answered.
    ///
    /// - Throws: what `body` does; `LogStorageFault.noLeader` where another machine tells, or the database
    ///   cannot be reached: it may have been changed all the same.
    package func change<Result>(_ body: () throws -> Result) throws -> Result {
        try locked { state in
            guard state.isLeading else { throw Self.deposed }
            let result = try body()
            do {
                try share(&state)
            } catch let fault as JournalFault {
                let isAway = [.unavailable, .readOnly, .notSynchronous].contains(fault.code)
                throw LogStorageFault(isAway ? .noLeader : .unreadable, fault.message)
            }
            return result
        }
    }

    /// Does something where this machine tells, which is written soon; where it does not, it does nothing.
    func whileLeading(_ body: () throws -> Void) throws {
        try locked { if $0.isLeading { try body() } }
    }

    /// Copies what another machine wrote.
    ///
    /// - Throws: `JournalFault`, `LogStorageFault`.
    package func follow() throws {
        try locked { state in
            guard !state.isLeading, let stamp = try journal.deliveryStamp(), stamp != state.stamp,
                let held = try read()
            else { return }
            try take(held)
            state.stamp = stamp
        }
    }

    // MARK: Writing

    private func share(_ state: inout State) throws {
        guard state.isLeading else { throw Self.deposed }
        let count = store.changeCount
        guard state.shared != count else { return }
        let current = try store.sharedState()
        // Nobody was ever told: there is nothing to hold in common.
        if state.stamp == nil, try store.endpointBytes().isEmpty { return }
        // A page that stands is not written again with more: whoever copied it asks for what is behind it.
        try settleDoubt(&state)
        var (first, byteCount) = (try store.sharedNotices(), 0)
        // Those of a share that was broken off may begin elsewhere than these.
        if state.hasLoosePages { try cut(from: first, &state) }
        state.hasLoosePages = false
        var change = DeliveriesChange(stamp: Self.stamp(state))
        while first < current.next {
            let notices = try store.notices(from: first, limit: Self.pageSize)
                .filter { $0.number < current.next }
            guard let (begin, last) = notices.first.map({ ($0.number, notices[notices.count - 1]) })
            else { break }
            let bytes = try seal.sealed(notices.page, as: Self.words(ofPage: begin))
            change.pages.append(NoticePage(first: begin, bytes: bytes))
            byteCount += bytes.count
            first = last.number + 1  // Fits: below the next one's number.
            guard byteCount > Self.byteLimit, first < current.next else { continue }
            // Whoever leads next goes on from the state, and writes others in place of pages behind it: it is
            // all that others have for certain.
            state.hasLoosePages = true
            try write(change, &state)
            (change, byteCount) = (DeliveriesChange(stamp: Self.stamp(state)), 0)
        }
        let bytes = try seal.sealed(current.bytes, as: Self.stateWords)
        change.state = bytes
        let now = ContinuousClock.now
        if state.forgotAt.map({ now - $0 >= Self.forgetInterval }) ?? true {
            change.forgetBefore = current.first
            state.forgotAt = now
        }
        try write(change, below: current.next, &state)
        state.hasLoosePages = false
        if try store.sharedNotices() != current.next {
            try store.noteShared(below: current.next)
        }
        (state.shared, state.byteCount) = (count, bytes.count + byteCount)
    }

    /// Finds out what became of a write whose answer was lost.
    private func settleDoubt(_ state: inout State) throws {
        guard let doubtful = state.doubtful else { return }
        if try journal.deliveryStamp() == doubtful.stamp {
            state.stamp = doubtful.stamp
            if let below = doubtful.below { try store.noteShared(below: below) }
        }
        state.doubtful = nil
    }

    /// Writes where nobody else did since; one who did tells from then on.
    ///
    /// `below`: where the notices of its state end; nil: it has none.
    private func write(
        _ change: DeliveriesChange,
        below: UInt64? = nil,
        _ state: inout State
    ) throws {
        try settleDoubt(&state)
        state.doubtful = (change.stamp, below)
        let isWritten = try journal.write(change, insteadOf: state.stamp)
        state.doubtful = nil
        guard isWritten else {
            state = State()
            throw Self.deposed
        }
        state.stamp = change.stamp
    }

    /// The term, and what no other write has.
    private static func stamp(_ state: State) -> [UInt8] {
        var randomness = RandomSource.system
        return state.term.bigEndianBytes + randomness.bytes(stampByteCount)
    }

    private static let deposed = LogStorageFault(
        .noLeader,
        "this machine does not lead the cluster"
    )

    // MARK: Reading

    private static let stateWords = "state"

    private static func words(ofPage first: UInt64) -> String { "notices \(first)" }

    /// What was written last; nil: nothing was, or only notices.
    private func read() throws -> DeliveryStore.State? {
        guard let sealed = try journal.deliveryState() else { return nil }
        guard let held = DeliveryStore.State(try seal.opened(sealed, as: Self.stateWords)) else {
            throw LogStorageFault(.newerFormat, "what is told to others is a later version's")
        }
        return held
    }

    /// Takes over what was written last, with the notices that this machine has not.
    private func take(_ held: DeliveryStore.State) throws {
        var first = min(try store.sharedNotices(), held.next)
        // What this machine noticed and did not write may be other things under the same numbers.
        try store.removeNotices(from: first)
        while first < held.next {
            let pages = try journal.noticePages(from: first, limit: Self.pagesPerRead)
            let notices = try pages.flatMap { page in
                try [StoredNotice](
                    page: seal.opened(page.bytes, as: Self.words(ofPage: page.first))
                )
            }
            .filter { $0.number < held.next }
            // The rest is forgotten.
            guard let last = notices.last else { break }
            try store.take(notices)
            first = last.number + 1  // Fits: below the next one's number.
        }
        try store.take(held)
    }
}
