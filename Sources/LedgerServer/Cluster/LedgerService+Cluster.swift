import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Logging
import Synchronization

/// A server that is one machine of a cluster.
extension LedgerService {
    /// What passes a call on to the machine that leads; nil: this one does, or there is no cluster.
    var leaderCall: LeaderCall? {
        guard let cluster, !cluster.isLeading, let nodeTicket else { return nil }
        return LeaderCall(service: self, node: cluster, ticket: nodeTicket)
    }

    /// Whether what changes the ledger is done here.
    var leads: Bool { cluster?.isLeading ?? true }

    /// As whom another machine passes a call on; nil: none does.
    func holder(_ headers: HTTPFields, at now: Instant) -> NodeTicket.Holder? {
        nodeTicket?.holder(headers, at: now) { access.scopes(ofKey: $0, at: now) }
    }

    /// Ends a machine whose files are not what was written: the cluster holds all of it, and it fills them again
    /// when it begins.
    func noteDamage(_ error: any Error) {
        guard let fault = error as? LogStorageFault, fault.code == .damaged else { return }
        noteDamage()
    }

    /// The same, for what an audit found.
    func noteDamage(_ answer: AuditAnswer) {
        if answer.isCopyDamaged { noteDamage() }
    }

    private func noteDamage() {
        guard let cluster, cluster.noteDamage() else { return }
        logger.critical(
            "this machine's copy is damaged: it ends, and is filled again when it begins"
        )
    }

    /// Takes up the purchase flows that run, of a machine that led before.
    func takeUpFlowsOfOthers() {
        do {
            try takeUpFlows()
        } catch {
            // A flow may begin beside another.
            faults.note(error, of: "flows")
        }
    }

    /// Says how far the log is by then, so that whoever goes on, or a machine which passed a call on, has what
    /// came of it when it is asked next.
    func tellSize(in answer: inout Answer) throws {
        guard answer.headers[.ledgerSequence] == nil else { return }
        // One small read: no thread's turn is waited for.
        answer.headers[.ledgerSequence] = String(try ledger.questions.size())
    }

    /// Says of which history an answer's size is: who goes on at another machine, or after the cluster's
    /// database was restored, is told where that machine has other events (Several machines).
    ///
    /// On one machine a size stays a bare number. Cost: nothing is read for the size that was told last, as most
    /// questions are about the present.
    func nameHistory(of answer: inout Answer) async throws {
        guard cluster != nil,
            let size = answer.headers[.ledgerSequence].flatMap({ UInt64($0) })
        else { return }
        if let told = toldPlace.withLock(\.self), told.size == size {
            answer.headers[.ledgerSequence] = told.text
            return
        }
        let text = LogPlace(size: size, root: try await rootPrefix(at: size)).text
        answer.headers[.ledgerSequence] = text
        toldPlace.withLock { told in
            if told.map({ $0.size < size }) ?? true { told = (size, text) }
        }
    }

    /// What an answer of this machine's own files has where it may lack what others have: the seconds since it was
    /// known to lack nothing (row Z17; RFC 9111, section 5.1).
    ///
    /// - Throws: `Problem.busy` where this machine did not follow its cluster for longer than it may go on alone:
    ///   whom an erasure took meanwhile, and whose key was revoked, it cannot know. It ends then, but looks for
    ///   that between its calls to the cluster's database alone.
    func age(of route: Route) throws(Problem) -> String? {
        guard let cluster else { return nil }
        // Whether the process answers is told until it ends.
        let isHealth = if case .health = route.access { true } else { false }
        guard isHealth || cluster.endReason != .solitude else {
            throw Problem(
                .busy,
                "this machine did not follow its cluster for longer than it may answer alone",
                retryAfter: 1
            )
        }
        return cluster.answerAge.map { String($0) }
    }

    /// Seconds until a snapshot that is signed now is old: sooner where this machine may lack what others have
    /// (row Z17), and yet a moment away for whoever verifies it.
    var snapshotSeconds: Int64 {
        max(Self.leastSnapshotSeconds, snapshotLifetime - (cluster?.answerAge ?? 0))
    }

    private static let leastSnapshotSeconds: Int64 = 60

    /// Makes sure that what was decided here was decided by who leads, before its caller is told.
    func confirmLease() async throws {
        guard let cluster else { return }
        try await blocking { try cluster.confirmLease() }
    }
}
