import DurableFiles
import EventLog

/// A log that goes on under another id and name says where it came from before anything else.
extension LedgerDirectory {
    /// The file that says so until an event does.
    static let continuedName = "continued"
    /// Gaps that the text lists: all of them stand in the log.
    private static let listedGaps = 20

    /// Notes, durably, where a log came from, in a directory in which no ledger stands yet.
    ///
    /// `origin`: the old log's name; `checkpoint`: the last that it signed and that is at hand; `gaps`:
    /// sequences that are lost, ascending.
    static func noteContinued(
        from origin: String,
        _ checkpoint: Checkpoint?,
        gaps: [Range<UInt64>] = [],
        at path: String
    ) throws {
        let signed = checkpoint.map { "checkpoint \($0.size) \($0.root.base64)" }
        let lost = gaps.prefix(listedGaps).map { "\($0.lowerBound)-\($0.upperBound - 1)" }
        let more = gaps.count > listedGaps ? " and \(gaps.count - listedGaps) more" : ""
        let text =
            "origin \(origin), \(signed ?? "no checkpoint"), "
            + "lost \(lost.isEmpty ? "nothing" : lost.joined(separator: " "))\(more)"
        try DurableFile.replace(path + "/" + continuedName, with: Array(text.utf8))
    }

    /// Where the log came from, in words; nil: an event says so, or it has its first name.
    ///
    /// - Throws: `FileFault`, `CocoaError` where the file cannot be read.
    package static func continued(at path: String) throws -> String? {
        try DurableFile.read(path + "/" + continuedName).map { String(decoding: $0, as: UTF8.self) }
    }

    /// To be called once an event says it; where the file comes back, so does that event's id.
    package static func forgetContinued(at path: String) {
        DurableFile.remove(path + "/" + continuedName)
    }
}
