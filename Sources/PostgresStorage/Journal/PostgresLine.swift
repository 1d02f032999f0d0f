import Synchronization

/// A connection that is made when it is needed, and made again after it broke.
final class PostgresLine: Sendable {
    private let text: String
    private let seconds: Int
    private let greeting: [PostgresConnection.StaticText]
    private let connection = Mutex<PostgresConnection?>(nil)

    /// `greeting`: what is said over each new connection.
    init(
        _ text: String,
        _ seconds: Int,
        greeting: [PostgresConnection.StaticText] = []
    ) {
        self.text = text
        self.seconds = seconds
        self.greeting = greeting
    }

    /// Sends commands over it, see ``PostgresConnection``; one that breaks is not used again.
    func exchange(
        _ commands: [PostgresConnection.Command],
        within milliseconds: Int64
    ) throws(PostgresFault) -> PostgresConnection.Replies {
        let used = try current()
        do {
            return try used.exchange(commands, within: milliseconds)
        } catch {
            drop(used)
            throw error
        }
    }

    /// Waits for a notification, see ``PostgresConnection``.
    func awaitNotification(within milliseconds: Int64) throws(PostgresFault) -> String? {
        let used = try current()
        do {
            return try used.awaitNotification(within: milliseconds)
        } catch {
            drop(used)
            throw error
        }
    }

    private func drop(_ used: PostgresConnection) {
        connection.withLock { if $0 === used { $0 = nil } }
    }

    /// Forgets the connection: the next use makes another one, perhaps to another host.
    func drop() { connection.withLock { $0 = nil } }

    private func current() throws(PostgresFault) -> PostgresConnection {
        if let known = connection.withLock({ $0 }) { return known }
        let made = try PostgresConnection(text, within: seconds)
        if !greeting.isEmpty {
            let heard = try made.exchange(
                greeting.map { PostgresConnection.Command($0) },
                within: Int64(seconds) * 1000
            )
            // A standby listens to nobody, also not once it is promoted.
            for case .refused(let refusal) in heard.replies {
                throw PostgresFault(.lost, refusal.message)
            }
        }
        connection.withLock { $0 = made }
        return made
    }
}
