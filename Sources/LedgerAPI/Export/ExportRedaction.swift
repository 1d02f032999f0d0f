/// How much of what identifies somebody an export shows.
public enum ExportRedaction: String, CaseIterable, Sendable, Comparable {
    /// Everything as it was received.
    case none
    /// Signatures and certificates are cut from evidence: nobody can hand it in anywhere again.
    case signatures
    /// Also no customer ids, request ids, free texts, account tokens; of evidence, only known members.
    case names
    /// Also no purchase and transaction ids and no evidence: what stands in the log in clear.
    case all

    /// Orders by how much is hidden.
    public static func < (left: ExportRedaction, right: ExportRedaction) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
