package import Entitlements

/// What ties the files of an export together: `manifest.json`.
package struct ExportManifestAnswer: Described {
    /// The form of the export.
    package var format: String
    /// The ledger's id, in hexadecimal.
    package var ledger: String
    /// The verifier key of the ledger's checkpoints (C2SP signed-note).
    package var publicKey: String
    /// When the export was begun.
    package var madeAt: Instant
    /// Whose or which events it holds.
    package var scope: Scope
    /// What is hidden.
    package var redaction: ExportRedaction
    /// The customer's environment; nil: a range, which has all.
    package var environment: StoreEnvironment?
    /// T of the state and the explanations.
    package var at: Instant
    /// R, where it was given as an instant.
    package var known: Instant?
    /// Events of the prefix that is known at R.
    package var size: UInt64
    /// Records that are in it.
    package var records: UInt64
    /// The first of a range; nil: it is of a customer.
    package var first: UInt64?
    /// The last of a range; nil: it is of a customer.
    package var last: UInt64?
    /// A signed note: every record is in its tree.
    package var checkpoint: String
    /// The files beside it.
    package var files: [File]

    /// The format that this program reads and writes.
    package static let format = "entitlement-ledger-export/1"

    /// Whose or which events.
    package enum Scope: String, Sendable, CaseIterable { case customer, range }

    /// A file beside the manifest.
    package struct File: Described {
        /// Its name.
        package var name: String
        /// How many bytes it has.
        package var bytes: UInt64
        /// SHA-256 of them, in hexadecimal.
        package var sha256: String

        /// Describes a file.
        package init(name: String, bytes: UInt64, sha256: String) {
            self.name = name
            self.bytes = bytes
            self.sha256 = sha256
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("ExportedFile", "A file of an export", Self.init) {
            Field("name", \.name, .text(.pattern("^[a-z][a-z.]*$")))
            Field("bytes", \.bytes, .count)
            Field("sha256", \.sha256, .sha256)
        }
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ExportManifest",
        "The manifest of an export",
        Self.init
    ) {
        Field("format", \.format, .words([format]))
        Field("ledger", \.ledger, .text(.pattern("^[0-9a-f]{32}$")))
        Field(
            "publicKey",
            \.publicKey,
            .text,
            "The verifier key of the ledger's checkpoints (C2SP signed-note)"
        )
        Field("madeAt", \.madeAt, .instant)
        Field("of", \.scope, .word)
        Field("redaction", \.redaction, .word)
        Field("environment", \.environment, .orNull(.environment))
        Field("at", \.at, .instant)
        Field("known", \.known, .orNull(.instant))
        Field("size", \.size, .count, "Events of the prefix that is known at R")
        Field("records", \.records, .count)
        Field("first", \.first, .orNull(.count))
        Field("last", \.last, .orNull(.count))
        Field("checkpoint", \.checkpoint, .text, "A signed note: every record is in its tree")
        Field("files", \.files, .list(.object))
    }
}

extension ExportManifestAnswer {
    /// Makes a manifest of the format that this program writes.
    package init(
        ledger: String,
        publicKey: String,
        madeAt: Instant,
        scope: Scope,
        redaction: ExportRedaction,
        environment: StoreEnvironment?,
        at: Instant,
        known: Instant?,
        size: UInt64,
        records: UInt64,
        first: UInt64?,
        last: UInt64?,
        checkpoint: String,
        files: [File]
    ) {
        self.init(
            format: Self.format,
            ledger: ledger,
            publicKey: publicKey,
            madeAt: madeAt,
            scope: scope,
            redaction: redaction,
            environment: environment,
            at: at,
            known: known,
            size: size,
            records: records,
            first: first,
            last: last,
            checkpoint: checkpoint,
            files: files
        )
    }
}
