import Entitlements
package import EventLog

/// What a salvage asks of the bytes of events.
package enum RecordContent {
    /// The streams that a record names: its subject's, and those in its facts; empty where the record
    /// is of a format that this version does not know.
    package static func streams(of record: [UInt8]) -> [UInt64] {
        guard let header = try? RecordHeader(reading: record.span) else { return [] }
        // Facts that cannot be read name nothing that could be looked for.
        return [header.stream] + ((try? header.otherStreams(record.span)) ?? [])
    }

    /// The streams that a record erases (Z6); none where it is no erasure.
    package static func streams(erasedBy record: [UInt8]) -> [UInt64] {
        // A kind that is not known is no erasure.
        guard let header = try? RecordHeader(reading: record.span),
            (try? header.eventKind()) == .customerErased
        else { return [] }
        return streams(of: record)
    }

    /// The records whose evidence a record says to be deleted; none where it is no erasure.
    package static func evidence(deletedBy record: [UInt8]) -> [UInt64] {
        guard let header = try? RecordHeader(reading: record.span) else { return [] }
        // Facts that cannot be read delete nothing.
        return (try? header.deletedEvidence(record.span)) ?? []
    }

    /// The SHA-256 of what a shared part of evidence contains; nil where the bytes are none.
    package static func digest(ofSharedPart bytes: [UInt8]) -> Digest? {
        // What does not open is no shared part.
        guard let content = try? SharedPart.content(bytes) else { return nil }
        return TreeHash.attached(content.span)
    }
}
