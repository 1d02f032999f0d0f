import Encodings
package import Entitlements
import Synchronization

/// Asks a store's API: a few questions at a time, again where the store is at fault, and not at all for
/// a while where it fails often.
package final class StoreCaller: Sendable {
    private let transport: StoreTransport
    private let policy: Policy
    private let clock: @Sendable () -> Instant
    private let sleep: @Sendable (_ milliseconds: Int64) async -> Void
    /// A number in 0..<1.
    private let random: @Sendable () -> Double
    private let state = Mutex(State())

    /// Bytes of an answer.
    package static let bodyByteLimit = 1 << 20

    /// How often, how long, how many.
    package struct Policy: Sendable {
        /// How often one question is asked at most.
        package var attempts = 4
        /// Milliseconds before it is asked again; twice as many each time, less a random part.
        package var firstDelay: Int64 = 250
        /// Milliseconds after which a question is not asked again, whatever the store asks for: who
        /// waits for it does not wait for ever.
        package var deadline: Int64 = 8_000
        /// Questions under way.
        package var parallel = 8
        /// Faults in a row after which a host of the store is left alone, and for how many milliseconds.
        package var restsAfter = 10
        package var rest: Int64 = 30_000
        /// Milliseconds for which nothing is asked because the store was asked too often; it counts over an
        /// hour.
        package var longestClosing: Int64 = 3_600_000
        /// Milliseconds that a store is taken to ask for at most, whatever it says.
        package var longestWait = Instant.millisecondsPerDay
        /// Milliseconds of a store's time that may be used at once: questions are spaced behind it alone,
        /// for stores that count them count over an hour.
        package var credit: Int64 = 10_000

        /// The usual one.
        package init() {}
    }

    private struct State {
        var running = 0
        var waiting: [Wait] = []
        /// How many came to wait so far.
        var waits: UInt64 = 0
        /// By the addresses before the paths: what a sandbox says of itself holds up no production.
        var hosts: [Name: Host] = [:]
    }

    /// Who waits for a place.
    private struct Wait {
        var number: UInt64
        /// Told whether there is one.
        var continuation: CheckedContinuation<Bool, Never>
    }

    /// How one host of the store is, by its answers.
    private struct Host {
        var faults = 0
        var restsUntil: Instant?
        /// When it wants to be asked again, as it last said (`Retry-After`).
        var notBefore: Instant?
        /// Until when it wants no question at all, since it was asked too often.
        var closedUntil: Instant?
        /// Until when its time is used by the questions so far.
        var usedUntil: Instant?

        var heldUntil: Instant? {
            [restsUntil, notBefore, closedUntil].compactMap(\.self).max()
        }
    }

    /// `transport`: carries the questions.
    package init(
        _ transport: @escaping StoreTransport,
        policy: Policy = Policy(),
        clock: @escaping @Sendable () -> Instant,
        sleep: @escaping @Sendable (_ milliseconds: Int64) async -> Void,
        random: @escaping @Sendable () -> Double
    ) {
        self.transport = transport
        self.policy = policy
        self.clock = clock
        self.sleep = sleep
        self.random = random
    }

    /// The response to a question: 2xx, or else what is wrong.
    ///
    /// `spacing`: milliseconds that the store allows for such a question on average; 0: it names no rate.
    /// `isAtFault`: whether a store says in a response of 4xx that the fault is its own.
    package func send(
        _ request: StoreRequest,
        spacing: Int64 = 0,
        isAtFault: (StoreResponse) -> Bool = { _ in false }
    ) async throws(StoreFault) -> StoreResponse {
        var fault = StoreFault(.unavailable)
        let host = Self.host(of: request.url)
        let turn = wait(for: spacing, at: host)
        guard turn <= latestTurn(for: spacing) else {
            throw StoreFault(.rateLimited, retryAfter: (turn + 999) / 1000)
        }
        if turn > 0 {
            await sleep(turn)
            if Task.isCancelled {
                giveBack(spacing, of: host)
                throw fault
            }
        }
        let latest = clock().advanced(byMilliseconds: policy.deadline)
        for attempt in 0..<policy.attempts {
            let own = attempt > 0 ? max(backoff(attempt), (fault.retryAfter ?? 0) * 1000) : 0
            let (closed, now) = (closedUntil(host), clock())
            // Fits: both are of this day.
            let delay = max(own, (closed ?? now).milliseconds - now.milliseconds)
            guard now.advanced(byMilliseconds: delay) <= latest else {
                if attempt > 0 { throw fault }
                throw StoreFault(.rateLimited, retryAfter: (delay + 999) / 1000)
            }
            if delay > 0 { await sleep(delay) }
            if let seconds = restingSeconds(host) {
                throw StoreFault(.resting, retryAfter: seconds)
            }
            // Who is cancelled meanwhile waits no longer, however long the others take.
            guard await enter() else { throw fault }
            // Others may have been told so while it waited for its place.
            guard closedUntil(host) == closed else {
                leave()
                fault = StoreFault(.rateLimited)
                continue
            }
            // Whoever does not wait any longer learns nothing of the store.
            let response = Task.isCancelled ? nil : await transport(request)
            leave()
            if response == nil, Task.isCancelled { throw fault }
            if let response, (200..<300).contains(response.status) {
                succeeded(host)
                return response
            }
            fault = self.fault(response, of: host)
            if let response, isAtFault(response) { fault.code = .unavailable }
            switch fault.code {
            case .unavailable: failed(host)
            case .rateLimited: break
            // It answers: another question would not be answered otherwise.
            default:
                succeeded(host)
                throw fault
            }
        }
        throw fault
    }

    private func fault(_ response: StoreResponse?, of host: Name) -> StoreFault {
        guard let response else { return StoreFault(.unavailable) }
        let now = clock()
        let wait = response.headers["retry-after"]
            .flatMap { RetryAfter.milliseconds($0, at: now) }.map { min($0, policy.longestWait) }
        if let wait {
            let closed = now.advanced(byMilliseconds: min(wait, policy.longestClosing))
            note(host) { host in
                host.notBefore = now.advanced(byMilliseconds: wait)
                // Too many questions are not one question's matter.
                guard response.status == 429 else { return }
                host.closedUntil = max(host.closedUntil ?? closed, closed)
            }
        }
        let retryAfter = wait.map { ($0 + 999) / 1000 }
        let code: StoreFault.Code =
            switch response.status {
            case 401, 403: .notPermitted
            case 404, 410: .notFound
            case 408, 425: .unavailable
            case 429: .rateLimited
            case 400..<500: .rejected
            default: .unavailable
            }
        return StoreFault(code, status: response.status, retryAfter: retryAfter)
    }

    /// Between half and all of a delay that doubles: many who failed at once do not come back at once.
    private func backoff(_ attempt: Int) -> Int64 {
        let full = Double(policy.firstDelay << Int64(min(attempt - 1, 16)))
        return Int64(full * (0.5 + random() / 2))
    }

    // MARK: At the store's pace

    /// Uses a stretch of the store's time, unless the question's turn is later than it would wait.
    ///
    /// - Returns: milliseconds until the question's turn.
    private func wait(for spacing: Int64, at host: Name) -> Int64 {
        guard spacing > 0 else { return 0 }
        let now = clock()
        let free = now.advanced(byMilliseconds: -policy.credit)
        return note(host) { host in
            let end = max(host.usedUntil ?? free, free).advanced(byMilliseconds: spacing)
            // Fits: both are of this day.
            let turn = max(0, end.milliseconds - now.milliseconds)
            if turn <= latestTurn(for: spacing) { host.usedUntil = end }
            return turn
        }
    }

    /// Milliseconds that a question waits for the others at most; its own time comes on top, since a store may
    /// allow a kind of it less often than anybody waits.
    private func latestTurn(for spacing: Int64) -> Int64 { policy.deadline + spacing }

    /// Leaves the time of a question that is not asked to others: they would wait for nobody.
    private func giveBack(_ spacing: Int64, of host: Name) {
        note(host) { $0.usedUntil = $0.usedUntil?.advanced(byMilliseconds: -spacing) }
    }

    // MARK: Some at a time

    /// Waits for a place.
    ///
    /// - Returns: whether there is one; false: who waits was cancelled.
    private func enter() async -> Bool {
        let number = state.withLock { state in
            state.waits += 1
            return state.waits
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasPlace = state.withLock { state -> Bool? in
                    // The handler below may have looked for it before it was there.
                    if Task.isCancelled { return false }
                    if state.running < policy.parallel {
                        state.running += 1
                        return true
                    }
                    state.waiting.append(Wait(number: number, continuation: continuation))
                    return nil
                }
                if let hasPlace { continuation.resume(returning: hasPlace) }
            }
        } onCancel: {
            let wait = state.withLock { state -> Wait? in
                // Whoever was given a place hands it on by itself.
                guard let index = state.waiting.firstIndex(where: { $0.number == number }) else {
                    return nil
                }
                return state.waiting.remove(at: index)
            }
            wait?.continuation.resume(returning: false)
        }
    }

    /// Hands the place on to who waits longest.
    private func leave() {
        let next = state.withLock { state -> Wait? in
            if state.waiting.isEmpty {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.continuation.resume(returning: true)
    }

    // MARK: A rest

    /// When the store may be asked again at all of its hosts: one rests, or said so itself; nil: now, as
    /// far as is known.
    package var heldUntil: Instant? {
        ahead(state.withLock { $0.hosts.values.compactMap(\.heldUntil).max() })
    }

    /// The same of the host of one address.
    package func heldUntil(at url: String) -> Instant? {
        let host = Self.host(of: url)
        return ahead(state.withLock { $0.hosts[host]?.heldUntil })
    }

    /// Nil: it is over.
    private func ahead(_ instant: Instant?) -> Instant? {
        let now = clock()
        return instant.flatMap { $0 > now ? $0 : nil }
    }

    /// Until when a host wants no question, whoever asks; nil: it never said so.
    private func closedUntil(_ host: Name) -> Instant? {
        state.withLock { $0.hosts[host]?.closedUntil }
    }

    /// The address before the path: a sandbox counts for itself.
    private static func host(of url: String) -> Name {
        Name(url.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "//"))
    }

    private func restingSeconds(_ host: Name) -> Int64? {
        let now = clock()
        guard let until = state.withLock({ $0.hosts[host]?.restsUntil }), now < until else {
            return nil
        }
        return (until.milliseconds - now.milliseconds + 999) / 1000
    }

    private func failed(_ host: Name) {
        let until = clock().advanced(byMilliseconds: policy.rest)
        note(host) { host in
            host.faults += 1
            // After the rest one question shows whether it is over.
            if host.faults >= policy.restsAfter { host.restsUntil = until }
        }
    }

    private func succeeded(_ host: Name) {
        note(host) { host in
            host.faults = 0
            host.restsUntil = nil
            host.notBefore = nil
        }
    }

    private func note<Value: Sendable>(_ host: Name, _ change: (inout Host) -> Value) -> Value {
        state.withLock { change(&$0.hosts[host, default: Host()]) }
    }
}
