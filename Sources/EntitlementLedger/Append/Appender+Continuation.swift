import Encodings
import Entitlements

extension Appender {
    /// Records where a log came from that goes on under a new name, for its old tree was lost, or what
    /// came after was recorded by a wrong clock: the first event after a salvage or a restore.
    ///
    /// One that was recorded already is not recorded again.
    ///
    /// - Parameter words: the old log's name, its last checkpoint, and what is lost.
    /// - Throws: what `record` throws.
    package func noteContinuation(_ words: String) throws {
        let now = clock()
        let id = "log_continued/\(Hexadecimal.encode(questions.identity.id))"
        let draft = EventDraft(
            subject: .store(Source.ledger),
            time: now,
            data: EventData(
                .signalNoted,
                [
                    .name: .text("log_continued"),
                    .detail: .text(words),
                ]
            )
        )
        _ = try record(
            Submission(
                id: id,
                source: Source.ledger,
                environment: .production,
                nature: .signal,
                drafts: [draft]
            )
        )
    }
}
