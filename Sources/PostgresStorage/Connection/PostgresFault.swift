/// Why a connection is of no more use; whatever was sent over it may or may not have happened.
package struct PostgresFault: Error, Sendable, Equatable {
    /// The reason.
    package var code: Code
    /// PostgreSQL's or libpq's own sentence, its first line.
    package var message: String

    /// The closed set of reasons.
    package enum Code: String, Sendable {
        /// It cannot be reached: nothing was sent.
        case unreachable
        /// It broke.
        case lost
        /// No answer came in the time that was given: it was dropped.
        case timedOut = "timed_out"
        /// It answers what was not asked for.
        case unexpected
    }

    /// Makes one.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// A command that PostgreSQL refused: its transaction is undone.
package struct PostgresRefusal: Error, Sendable, Equatable {
    /// Five characters: SQLSTATE.
    package var state: String
    /// `ERROR`, or `FATAL` and `PANIC`, which end the connection.
    package var severity: String
    /// The first sentence.
    package var message: String

    /// Whether the connection goes on, so that the transaction is known to be undone.
    package var isUndone: Bool { severity == "ERROR" && !Self.isOfConnection(state) }

    /// Whether the same call may succeed at once: it met another one.
    package var mayRepeat: Bool { isUndone && ["40001", "40P01"].contains(state) }

    /// The server is leaving, or the way to it broke.
    private static func isOfConnection(_ state: String) -> Bool {
        state.hasPrefix("08") || state.hasPrefix("57P")
    }
}
