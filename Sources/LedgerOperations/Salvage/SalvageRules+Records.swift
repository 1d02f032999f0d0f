import EntitlementLedger
package import Salvage

extension SalvageRules {
    /// What this program knows of records.
    package static let records = SalvageRules(
        sharedPartDigest: RecordContent.digest(ofSharedPart:),
        namedStreams: RecordContent.streams(of:),
        erasedStreams: RecordContent.streams(erasedBy:),
        deletedEvidence: RecordContent.evidence(deletedBy:)
    )
}
