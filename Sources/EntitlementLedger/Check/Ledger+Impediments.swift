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

extension Ledger {
    /// What stands in the way now; empty: nothing.
    ///
    /// Cost: some small reads; where an append failed since which none succeeded, a commit that
    /// changes nothing, at most one in five seconds.
    public func impediments() -> [Impediment] {
        var found: [Impediment] = []
        if (try? log.end()) == nil { found.append(.storage) }
        if let appending, appending.isFailing(retrying: commitNothing) { found.append(.readOnly) }
        if appending?.isInDoubt == true || views.isBeingMadeAnew { found.append(.recovering) }
        if (try? vault.isErased(StreamNumber.catalog)) == nil { found.append(.vault) }
        return found
    }

    /// Commits as an append does, without adding anything.
    private func commitNothing() throws {
        // What is in doubt since the failed commit is looked up first.
        _ = try writer.alone { try $0([]) }
        if let last = try log.lastCheckpoint() {
            try storage.keepCheckpoint(size: last.size, note: last.note)
        } else {
            _ = try checkpoint()
        }
    }
}
