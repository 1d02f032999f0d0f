import Encodings
import Entitlements
package import EventLog

extension Appender {
    /// Records where a log came from that goes on under a new name, for its old tree was lost, or what
    /// came after was recorded by a wrong clock: the first event after a salvage or a restore.
    ///
    /// - Parameters:
    ///   - origin: the old log's name in checkpoints.
    ///   - checkpoint: the last that the old log signed and that is at hand.
    ///   - gaps: sequences that are lost, ascending.
    /// - Throws: what `record` throws.
    package func noteContinuation(
        of origin: String,
        checkpoint: Checkpoint?,
        gaps: [Range<UInt64>]
    ) throws {
        let now = clock()
        let id = "log_continued/\(Hexadecimal.encode(questions.identity.id))"
        let draft = EventDraft(
            subject: .store(Source.ledger),
            time: now,
            data: EventData(
                .signalNoted,
                [
                    .name: .text("log_continued"),
                    .detail: .text(Self.detail(origin, checkpoint, gaps)),
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

    /// Gaps that the text lists: all of them stand in the log.
    private static let listedGaps = 20

    private static func detail(
        _ origin: String,
        _ checkpoint: Checkpoint?,
        _ gaps: [Range<UInt64>]
    ) -> String {
        let signed = checkpoint.map { "checkpoint \($0.size) \($0.root.base64)" }
        let lost = gaps.prefix(listedGaps).map { "\($0.lowerBound)-\($0.upperBound - 1)" }
        let more = gaps.count > listedGaps ? " and \(gaps.count - listedGaps) more" : ""
        return "origin \(origin), \(signed ?? "no checkpoint"), "
            + "lost \(lost.isEmpty ? "nothing" : lost.joined(separator: " "))\(more)"
    }
}
