import Crypto
import Encodings
import Entitlements
package import EventLog
import LedgerAPI

/// What a file of an export comes to.
public struct ExportedFile: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// Its bytes.
    public var byteCount: UInt64
    /// SHA-256 of its bytes.
    package var digest: EventLog.Digest

    /// Describes a file.
    package init(name: String, byteCount: UInt64, digest: EventLog.Digest) {
        self.name = name
        self.byteCount = byteCount
        self.digest = digest
    }
}

/// Counts and hashes a file's bytes as they are written or read.
package struct FileDigest: Sendable {
    private var hash = SHA256()
    /// Bytes so far.
    package private(set) var byteCount: UInt64 = 0

    /// Begins with no bytes.
    package init() {}

    /// Adds bytes.
    package mutating func add(_ bytes: some Collection<UInt8>) {
        hash.update(data: Array(bytes))
        byteCount += UInt64(bytes.count)
    }

    /// The file of these bytes.
    package func file(_ name: String) -> ExportedFile {
        let bytes = Array(hash.finalize())
        return ExportedFile(
            name: name,
            byteCount: byteCount,
            digest: EventLog.Digest(bytes.span)
        )
    }
}

/// What ties the files of an export together: the manifest and the ledger's signature over it.
package struct ExportManifest: Sendable {
    /// The first line of what is signed: no checkpoint, whose second line is a number.
    static let heading = "entitlement-ledger export v1"

    /// `manifest.json`, one line.
    package var text: String
    /// `manifest.note`, a signed note over the manifest's digest (C2SP signed-note).
    package var note: String

    /// Takes what was signed.
    package init(text: String, note: String) {
        self.text = text
        self.note = note
    }

    /// The text that is signed.
    static func statement(of manifest: [UInt8]) -> String {
        var digest = FileDigest()
        digest.add(manifest)
        return "\(heading)\nsha256 \(digest.file("").digest.base64)\n"
    }
}

extension LedgerExport {
    /// The manifest over the files that were written.
    ///
    /// - Throws: `NoteFault` where the ledger's key does not sign.
    package func manifest(of files: [ExportedFile]) throws -> ExportManifest {
        let signer = try prover.signer
        let manifest = ExportManifestAnswer(
            ledger: Hexadecimal.encode(questions.identity.id),
            publicKey: signer.verifierKey.text,
            madeAt: plan.madeAt,
            scope: plan.customer == nil ? .range : .customer,
            redaction: plan.redaction,
            environment: plan.customer?.environment,
            at: plan.at,
            known: plan.known,
            size: plan.size,
            records: recordCount,
            first: range?.lowerBound,
            last: range.map { $0.upperBound - 1 },
            checkpoint: plan.checkpoint,
            files: files.map(\.described)
        )
        let text = AnswerText(manifest).description + "\n"
        let note = try signer.sign(ExportManifest.statement(of: Array(text.utf8)))
        return ExportManifest(text: text, note: note.description)
    }
}

extension ExportedFile {
    fileprivate var described: ExportManifestAnswer.File {
        ExportManifestAnswer.File(name: name, bytes: byteCount, sha256: digest.hex)
    }

    /// The file that a manifest's entry describes; nil for one that is no plain file.
    init?(_ file: ExportManifestAnswer.File) {
        guard Self.isPlain(file.name), let digest = EventLog.Digest(hex: file.sha256)
        else { return nil }
        self.init(name: file.name, byteCount: file.bytes, digest: digest)
    }

    /// A manifest from outside leads to no file but those beside it.
    private static func isPlain(_ name: String) -> Bool {
        let allowed = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: ".")
        }
        return allowed && !name.hasPrefix(".") && !name.isEmpty
    }
}
