import EventLog

extension PostgresLine {
    /// The rows of each command.
    ///
    /// - Throws: ``JournalFault``.
    func rows(
        of commands: [PostgresConnection.Command],
        within milliseconds: Int64
    ) throws -> [[PostgresRow]] {
        try rows(in: ask(commands, within: milliseconds))
    }

    /// Changes something beside a cluster's row: it is durable on a second machine when this returns.
    ///
    /// `question`: whether a synchronous standby is named behind the commit.
    ///
    /// - Throws: ``JournalFault``; `unavailable` also where nobody knows whether it is.
    func keep(
        _ command: PostgresConnection.Command,
        askingBehind question: PostgresConnection.StaticText,
        within milliseconds: Int64
    ) throws -> [PostgresRow] {
        let replies = try ask(
            [command, PostgresConnection.Command(question)],
            within: milliseconds
        )
        // A wait for the standby that was cancelled looks like a success but for this.
        guard replies.warnings.isEmpty else {
            throw JournalFault(
                .unavailable,
                "PostgreSQL warned of the commit (\(replies.warnings[0]))"
            )
        }
        let found = try rows(in: replies)
        // One whose name was emptied meanwhile, too.
        guard try found[1].first?.isTrue(0) == true else {
            throw JournalFault(.unavailable, "no synchronous standby is named behind the commit")
        }
        return found[0]
    }

    private func ask(
        _ commands: [PostgresConnection.Command],
        within milliseconds: Int64
    ) throws -> PostgresConnection.Replies {
        do {
            return try exchange(commands, within: milliseconds)
        } catch {
            throw JournalFault(.unavailable, error.message)
        }
    }

    private func rows(in replies: PostgresConnection.Replies) throws -> [[PostgresRow]] {
        try replies.replies.map { reply in
            switch reply {
            case .rows(let rows): return rows
            case .refused(let refusal):
                // A transaction that was begun is of no more use.
                drop()
                throw JournalFault(refusal)
            }
        }
    }
}
