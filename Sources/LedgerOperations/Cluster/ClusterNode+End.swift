import EventLog
import LMDBStorage
import Synchronization

/// How a machine of a cluster ends.
extension ClusterNode {
    /// Has another machine lead at once, once ``run(tell:isEnded:)`` has ended: nothing is appended here any more,
    /// and the name is free.
    ///
    /// May block for the journal; where it does not answer, the lease ends by itself.
    package func resign() {
        defer { journal.giveUpName() }
        guard let leader = log.leading else { return }
        log.follow()
        leader.resign()
    }

    /// Why a node ends by itself.
    package enum EndReason: Sendable {
        /// Its files are not what was written: it fills them again when it begins.
        case damage
        /// It did not follow the cluster for as long as it may go on alone.
        case solitude
    }

    /// Why it is to end; nil: it goes on.
    package var endReason: EndReason? {
        let now = now
        return state.withLock { state in
            if state.isDamaged { return .damage }
            return now - (state.contactAt ?? 0) > contactLimit ? .solitude : nil
        }
    }

    /// Notes that this node's files are damaged; it leads no more.
    ///
    /// - Returns: whether nobody had noted it before.
    package func noteDamage() -> Bool {
        let isFirst = state.withLock { state in
            defer { state.isDamaged = true }
            return !state.isDamaged
        }
        guard isFirst else { return false }
        log.follow()
        let directory = open.directory
        let size = try? directory.log.end().size  // What is damaged may be where it stands.
        // What cannot be noted is found again when the node begins: it checks its files then.
        try? LedgerDirectory.markRefill(at: directory.path, of: size)
        return true
    }
}
