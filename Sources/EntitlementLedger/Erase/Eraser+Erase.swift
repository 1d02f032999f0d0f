public import Entitlements
import EventLog
public import LedgerAPI
import Synchronization

/// What an erasure comes to.
public enum ErasureOutcome: Sendable, Equatable {
    /// Names and keys are gone; what was asked for before has the same answer.
    case erased(ErasureReceipt)
    /// Nothing is known of any of these customers.
    case unknown
    /// The id of the request, or of one of its later events, is another one's.
    case refused(Refusal)
}

/// What a proposal to erase comes to, before keys are destroyed.
enum ErasureDecision {
    /// The log says it, from this event on.
    case recorded(at: UInt64)
    case unknown
    case refused(Refusal)
}

extension Eraser {
    /// Erases customers: destroys the keys and names of their streams (C6, row 9.5).
    ///
    /// No byte of the log changes. It says first what goes, by number; from then on the names
    /// belong to nobody, and what comes later under them starts anew. Then the vault destroys keys
    /// and names; an erasure that was stopped in between goes on when the ledger is opened.
    ///
    /// `reading`: tells whom evidence names, where the loss of keys alone does not close it.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`, what the vault's files throw.
    ///
    /// Cost: grows with the number of streams in the shards of those that go, for all customers
    /// together, and with the evidence that names very many.
    public func erase(
        _ customers: [CustomerID],
        _ request: Request,
        reading names: any EvidenceNames
    ) throws -> ErasureOutcome {
        let proposal = ErasureProposal(
            eraser: self,
            customers: customers,
            request: request,
            names: names
        )
        let pipeline = try appending.whole.pipeline
        try appending.whole.storage.requireErasable(evidence: false)
        // Others append while keys are destroyed and copies reached, and nobody else erases.
        let decided = try turn.take {
            try finishEarlier()
            let decided = try pipeline.writer.alone { append in
                try append.resolveDoubt()
                return try pipeline.decide(proposal, append)
            }
            switch decided {
            case .recorded(let sequence): try finishErasure(at: sequence)
            // What the vault noted ahead of the log goes nowhere.
            case .refused: try finishEarlier()
            case .unknown: break
            }
            return decided
        }
        switch decided {
        case .recorded(let sequence):
            guard let receipt = try erasureReceipt(at: sequence) else {
                throw LogStorageFault(.damaged, "the event of an erasure is not there")
            }
            return .erased(receipt)
        case .unknown: return .unknown
        case .refused(let refusal): return .refused(refusal)
        }
    }

    /// Whether the log says an erasure that was asked for so; what goes with it may stand yet.
    ///
    /// - Throws: `LedgerFault.readOnly`, `LogStorageFault`.
    package func isRecorded(_ request: Request) throws -> Bool {
        let signal = try appending.whole.pipeline.signal(of: request)
        return try questions.views.sequence(of: signal) != nil
    }

    /// Finishes or forgets what another machine of a cluster left half done that led before.
    ///
    /// - Throws: as ``erase(_:_:reading:)``.
    package func resume() throws { try turn.take { try finishEarlier() } }

    /// Finishes or forgets what another process, or an earlier call, left half done; others append while it is
    /// finished.
    private func finishEarlier() throws {
        let sequence: UInt64? = try appending.whole.pipeline.writer.alone { append in
            try append.resolveDoubt()
            try opened.whole.takeUpErasure()
            return try notedSequence()
        }
        if let sequence { try finishErasure(at: sequence) }
    }

    /// Forgets what was read for reports before an erasure that another machine made.
    package func forgetSealed() throws { try rollUps.forgetSealed() }

    /// `sequence`: of its first event, which says what goes.
    private func finishErasure(at sequence: UInt64) throws {
        let appender = try appending.whole
        if appender.vault.preparedErasure != nil,
            let evidence = try recordedErasure(at: sequence)?.evidence, !evidence.isEmpty
        {
            try archiver.writing.withLock { _ in
                try appender.storage.eraseEvidence(of: evidence.sorted())
            }
        }
        try appender.vault.finishErasure()
        try rollUps.forgetSealed()
    }

    /// Where the log says the erasure that is noted.
    ///
    /// From here on nobody is told of whom it takes. One that the log does not say is forgotten.
    ///
    /// - Returns: nil: none is to be finished.
    private func notedSequence() throws -> UInt64? {
        let vault = try opened.whole
        guard let prepared = vault.preparedErasure else { return nil }
        guard let sequence = try recordedSequence(of: prepared) else {
            try vault.cancelErasure()
            return nil
        }
        // Others may append before its keys are destroyed.
        vault.close(prepared.streams)
        questions.accessCache.removeAll()
        return sequence
    }

    /// Where the log says an erasure that is noted; nil: it does not say all of it.
    ///
    /// A note is believed as far as the log goes: one of a machine that was deposed may come late, and name
    /// more than what was recorded under the same id meanwhile (E1).
    func recordedSequence(of noted: VaultErasure) throws -> UInt64? {
        guard let sequence = try questions.views.sequence(of: noted.signal),
            let streams = try recordedErasure(at: sequence)?.streams,
            streams.isSuperset(of: noted.streams)
        else { return nil }
        return sequence
    }

    /// Takes up what was stopped, and forgets from now on whom the log says to be erased.
    ///
    /// Copies that cannot be looked for, or into, keep nobody from writing: the erasure stays noted, which
    /// `doctor` tells.
    func followErasures() throws {
        // A vault without its key has nothing to close.
        questions.views.moves.whenErased { [opened, accessCache = questions.accessCache] streams in
            opened?.close(streams)
            accessCache.removeAll()
        }
        guard let opened, let prepared = opened.preparedErasure else { return }
        guard appending != nil else {
            if try recordedSequence(of: prepared) != nil { opened.close(prepared.streams) }
            return
        }
        guard let sequence = try notedSequence() else { return }
        do {
            try finishErasure(at: sequence)
        } catch let fault where !(fault is LogStorageFault) {
            // What fails in log and vault is told. Whoever brings a new stream has the keys destroyed.
        }
    }
}
