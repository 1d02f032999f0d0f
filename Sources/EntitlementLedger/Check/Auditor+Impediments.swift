import EventLog

/// What keeps a ledger from its whole work; a closed set, whose words stand in answers.
public enum Impediment: String, Sendable, CaseIterable {
    /// The log cannot be read.
    case storage
    /// It could be written to, and takes nothing: a full disk, say.
    case readOnly = "read_only"
    /// A commit's outcome is being looked into, or views are being made anew.
    case recovering
    /// Names and keys cannot be read.
    case vault
}

extension Auditor {
    /// What stands in the way now; empty: nothing.
    ///
    /// Cost: some small reads; where an append failed since which none succeeded, a commit that
    /// changes nothing, at most one in five seconds.
    public func impediments() -> [Impediment] {
        var found: [Impediment] = []
        // Whatever the error is, nothing is answered; who asks is told by their own question.
        if (try? questions.log.end()) == nil { found.append(.storage) }
        let writer = appending?.writer
        if let writer, writer.isFailing(retrying: commitNothing) { found.append(.readOnly) }
        if writer?.isInDoubt == true || questions.views.isBeingMadeAnew {
            found.append(.recovering)
        }
        // Whatever the error is, nobody is found.
        if (try? questions.vault.isErased(StreamNumber.catalog)) == nil { found.append(.vault) }
        return found
    }

    /// Commits as an append does, without adding anything.
    private func commitNothing() throws {
        // What is in doubt since the failed commit is looked up first.
        let appender = try appending.whole
        try appender.writer.alone { try $0.resolveDoubt() }
        guard try !prover.keepAgain(in: appender.storage) else { return }
        _ = try prover.checkpoint()
    }
}
