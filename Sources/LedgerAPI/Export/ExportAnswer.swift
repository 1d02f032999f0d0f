/// What was exported: `export`.
package struct ExportAnswer: Described {
    /// The directory, absolute.
    package var path: String
    /// Records that are in it.
    package var records: UInt64
    /// What is hidden.
    package var redaction: ExportRedaction
    /// SHA-256 of its manifest, in hexadecimal.
    package var manifest: String

    /// Makes an answer.
    package init(path: String, records: UInt64, redaction: ExportRedaction, manifest: String) {
        self.path = path
        self.records = records
        self.redaction = redaction
        self.manifest = manifest
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Export", "What was exported", Self.init) {
        Field("path", \.path, .text, "The directory, absolute")
        Field("records", \.records, .count)
        Field("redaction", \.redaction, .word)
        Field("manifest", \.manifest, .sha256, "SHA-256 of manifest.json")
    }
}

extension Form<String> {
    /// A SHA-256 in hexadecimal.
    static var sha256: Self { text(.pattern("^[0-9a-f]{64}$")) }
}
