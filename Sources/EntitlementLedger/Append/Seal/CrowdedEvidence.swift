import Entitlements
import EventLog

/// Evidence that names more people than keys can close it (Storage, "Evidence"): sealed under the
/// key of a stream that is for it alone, and noted on a subject that is for such evidence, so that
/// the erasure of anybody finds and reads it.
enum CrowdedEvidence {
    /// Where such evidence is noted.
    static let subject = Subject.store("evidence_of_many")
    /// What the note is called.
    static let name = "evidence_of_many"

    /// The name of the key's stream; it begins like that of no subject.
    static func key(of submission: Submission, _ vault: any VaultReader) -> StreamName {
        let environment = submission.environment.rawValue
        let signal = vault.digestSecret.signal(
            environment: environment,
            source: submission.source,
            id: submission.id
        )
        let words = [signal.high, signal.low].map { String($0, radix: 16) }
        return StreamName(
            environment: environment,
            subject: "evidence/" + words.joined(separator: "-")
        )
    }

    /// The event that notes it.
    static func note(on submission: Submission, naming count: Int) -> EventDraft? {
        submission.drafts.first.map { first in
            EventDraft(
                subject: subject,
                time: first.time,
                observedAt: first.observedAt,
                data: EventData(
                    .signalNoted,
                    [.name: .text(name), .detail: .text("its payload names \(count)")]
                )
            )
        }
    }
}
