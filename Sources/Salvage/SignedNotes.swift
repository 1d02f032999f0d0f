package import EventLog

/// The checkpoints that a log's key signed, among texts that may be anything.
package struct SignedNotes: Sendable {
    /// Ascending, each size once.
    package let all: [(checkpoint: Checkpoint, note: String)]

    /// Takes what holds of some texts; all else is passed over.
    ///
    /// `origin`: the log's name, which its checkpoints say.
    ///
    /// Cost: a signature to verify for each note of the key.
    package init(among texts: [String], by key: VerifierKey, origin: String) {
        var notes: [UInt64: (Checkpoint, String)] = [:]
        for text in texts {
            // What is no checkpoint of this ledger proves nothing for it.
            guard let verified = try? SignedNote.parse(text).verified(by: [key]),
                let checkpoint = try? Checkpoint(verified), checkpoint.origin == origin
            else { continue }
            // Of two with the same root the longer one has more cosignatures.
            guard text.count > notes[checkpoint.size]?.1.count ?? 0 else { continue }
            notes[checkpoint.size] = (checkpoint, text)
        }
        all = notes.sorted { $0.key < $1.key }.map { ($0.value.0, $0.value.1) }
    }

    /// Without the texts.
    package var checkpoints: [Checkpoint] { all.map(\.checkpoint) }
}
