import Encodings

/// Whether a database may hold a cluster's log: `cluster check`.
package struct ClusterCheckAnswer: Described {
    /// Whether it may.
    package var isOK: Bool
    /// What is against it, or would be.
    package var findings: [ClusterFindingAnswer]

    /// An answer.
    ///
    /// `isOK`: whether nothing is against it, of all that is found.
    package init(isOK: Bool, findings: [ClusterFindingAnswer]) {
        self.isOK = isOK
        self.findings = findings
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ClusterCheck",
        "Whether a database may hold a cluster's log",
        Self.init
    ) {
        Field("ok", \.isOK, .boolean, "Whether nothing is against it")
        Field("findings", \.findings, .list(.object), "What could lose, or stands in the way")
    }
}

/// Why a database is not to hold a cluster's log.
package struct ClusterFindingAnswer: Described {
    /// Which.
    package var code: String
    /// Whether it is passed over: as was asked for, or since nothing is lost by it.
    package var isTolerated: Bool
    /// A sentence.
    package var what: String
    /// What to do.
    package var remedy: String

    /// A finding.
    package init(code: String, isTolerated: Bool, what: String, remedy: String) {
        self.code = code
        self.isTolerated = isTolerated
        self.what = what
        self.remedy = remedy
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ClusterFinding", "What could lose", Self.init) {
        Field("code", \.code, .text, "A word that stays")
        Field(
            "tolerated",
            \.isTolerated,
            .boolean,
            "Passed over: by --allow-asynchronous, or nothing is lost by it"
        )
        Field("what", \.what, .text, "A sentence")
        Field("do", \.remedy, .text, "What to do")
    }
}
