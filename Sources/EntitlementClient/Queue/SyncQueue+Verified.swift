import Entitlements

/// What the store verified, and when.
extension SyncQueue {
    /// Notes that the store verified transactions anew (row 3.4).
    ///
    /// What it has told otherwise since is left alone: it would open what was refunded.
    func verified(_ transactions: [StoreTransaction]) {
        let now = time.now()
        bringBack(to: now)
        for (place, call) in calls.enumerated()
        where call.phase != .refused && transactions.contains(where: call.holds)
            && !calls[(place + 1)...].contains(where: { $0.replaces(call) })
        {
            renew(place, now)
        }
    }

    /// Nothing was verified after the present, whatever a clock that was ahead said then: it would outlive a refund.
    func bringBack(to now: Instant) {
        for (place, call) in calls.enumerated() where call.verifiedAt > now { renew(place, now) }
    }

    /// Notes when the store verified last what the call at a place hands in.
    func renew(_ place: Int, _ now: Instant) {
        guard calls[place].verifiedAt != now else { return }
        calls[place].verifiedAt = now
        write(calls[place].state)
    }
}
