import Encodings
import EventLog

/// What a leader says, as the text of a notification: term, leader, size and root, apart by spaces.
extension JournalAnnouncement {
    /// The text, of some 130 bytes: PostgreSQL takes fewer than 8 000.
    var text: String {
        "\(leadership.term) \(Hexadecimal.encode(leadership.leader.bytes)) \(size) "
            + Hexadecimal.encode(root.bytes)
    }

    /// Reads it; nil for any other text, for every role of the database may notify.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, let term = UInt64(words[0]), let size = UInt64(words[2]),
            let leader = Hexadecimal.decode(String(words[1])),
            leader.count == LeaderID.byteCount,
            let rootBytes = Hexadecimal.decode(String(words[3])),
            let root = Digest(exactly: rootBytes.span)
        else { return nil }
        self.init(
            leadership: Leadership(term: term, leader: LeaderID(leader)),
            size: size,
            root: root
        )
    }
}
