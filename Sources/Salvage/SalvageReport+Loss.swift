package import EventLog

extension SalvageReport {
    /// What the rescued ledger lacks beside the gaps of its log, with what it lacked before.
    ///
    /// `earlier`: what an earlier salvage of the same ledger lost; its streams have tombstones by now
    /// and are not missed again. `isContinued`: whether the log goes on under a new name, with the
    /// tree of what was kept.
    package func loss(after earlier: KnownLoss?, isContinued: Bool) -> KnownLoss {
        var loss = KnownLoss(
            isTreeLost: !isProven && !isContinued,
            unconfirmed: UInt64(unconfirmed.reduce(0) { $0 + $1.count }),
            streams: vault.lostCount,
            behindEnd: size - min(size, records + lostWithin),
            firstLost: gaps.first?.sequences.lowerBound,
            // Each salvage misses again what an earlier one could not bring back.
            attached: UInt64(lostAttached.count)
        )
        guard let earlier else { return loss }
        loss.streams = loss.streams.adding(earlier.streams)
        // A signed root proves all of it: nothing else is missed any more.
        if earlier.isTreeLost, isProven { return loss }
        loss.unconfirmed = max(loss.unconfirmed, earlier.unconfirmed)
        // A log whose tree is lost did not go on behind its end: it lacks the same records still.
        loss.behindEnd =
            earlier.isTreeLost
            ? max(loss.behindEnd, earlier.behindEnd) : loss.behindEnd.adding(earlier.behindEnd)
        if earlier.behindEnd > 0 {
            loss.firstLost = [loss.firstLost, earlier.firstLost].compactMap(\.self).min()
        }
        return loss
    }
}

extension UInt64 {
    /// The sum, or the largest number: a count in a file may be anything.
    fileprivate func adding(_ other: UInt64) -> UInt64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
