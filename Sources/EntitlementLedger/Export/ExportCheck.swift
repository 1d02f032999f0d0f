import Encodings
import Entitlements
package import EventLog
package import LedgerAPI

/// Where an export that is to be checked is read from.
package protocol ExportSource {
    /// Reads a file piece by piece; false where there is none, or a link or a pipe in its place.
    func read(_ name: String, _ body: ([UInt8]) throws -> Void) throws -> Bool
    /// A file's lines, from the first on; nil likewise.
    func lines(_ name: String) throws -> (any ExportLines)?
    /// The names of the files that are there.
    func names() throws -> [String]
}

/// Lines of a file, one after the other.
package protocol ExportLines {
    /// The next line without its end, nothing for one that is too long; nil at the end.
    func next() throws -> [UInt8]?
}

extension ExportCheckAnswer {
    /// Checks an export against itself and the key of its ledger.
    ///
    /// `key`: the ledger's verifier key, as its operator publishes it; nil: the one that the export
    /// names, which proves that it is whole, but not whose it is.
    ///
    /// Cost: two passes over the files, a SHA-256 and a proof for each record; bounded memory.
    /// - Throws: what the source throws.
    package init(_ source: some ExportSource, key given: VerifierKey?) throws {
        self.init(isKeyGiven: given != nil)
        guard let manifest = try manifest(source, given) else { return }
        try checkFiles(manifest, source)
        guard let checkpoint = checkpoint(of: manifest) else { return }
        size = checkpoint.size
        var records = ExportedRecordsCheck(manifest, checkpoint)
        try records.run(source)
        for fault in records.faults { note(fault.kind, fault.file, fault.sequence, fault.detail) }
        self.records = records.provenCount
    }

    /// Most bytes of a manifest: some files.
    private static let manifestLimit = 1 << 20

    /// The manifest, if its signature is by the key; what is wrong with it is noted.
    private mutating func manifest(
        _ source: some ExportSource,
        _ given: VerifierKey?
    ) throws -> ExportManifestAnswer? {
        guard let bytes = try small(ExportFile.manifest, source),
            let manifest = ExportManifestAnswer(reading: bytes)
        else {
            note(.manifest, ExportFile.manifest, nil, "it is missing or cannot be read")
            return nil
        }
        let key: VerifierKey
        do throws(NoteFault) {
            if let given { key = given } else { key = try VerifierKey(parsing: manifest.publicKey) }
        } catch {
            note(.manifest, ExportFile.manifest, nil, "it names no key: \(error.message)")
            return nil
        }
        self.key = key.text
        if !manifest.publicKey.isSame(as: key.text) {
            note(.manifest, ExportFile.manifest, nil, "it names another key than was given")
        }
        let note = try small(ExportFile.signature, source)
        do throws(NoteFault) {
            guard let text = note.flatMap({ String(validating: $0, as: UTF8.self) }) else {
                throw NoteFault(.malformedNote, "there is none")
            }
            let verified = try SignedNote.parse(text).verified(by: [key])
            guard verified.text == ExportManifest.statement(of: bytes) else {
                throw NoteFault(.invalidSignature, "it is over another manifest")
            }
        } catch {
            self.note(.manifest, ExportFile.signature, nil, "the signature: \(error.message)")
        }
        return manifest
    }

    /// A whole small file; nil where it is missing or too large.
    private func small(_ name: String, _ source: some ExportSource) throws -> [UInt8]? {
        var bytes: [UInt8] = []
        let isThere = try source.read(name) { piece in
            if bytes.count <= Self.manifestLimit { bytes += piece }
        }
        return isThere && bytes.count <= Self.manifestLimit ? bytes : nil
    }

    private mutating func checkFiles(
        _ manifest: ExportManifestAnswer,
        _ source: some ExportSource
    ) throws {
        for file in manifest.files {
            var digest = FileDigest()
            guard try source.read(file.name, { digest.add($0) }) else {
                note(.file, file.name, nil, "the file is missing, or no file")
                continue
            }
            if digest.file(file.name) != ExportedFile(file) {
                note(.file, file.name, nil, "the file has other bytes than the manifest says")
            }
        }
        let known = manifest.files.map(\.name) + [ExportFile.manifest, ExportFile.signature]
        for name in try source.names() where !known.contains(name) {
            // A name from outside may hold what a terminal takes for more than a name.
            let isShown = name.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            let file = isShown ? "the file" : "a file, whose name is not shown"
            note(.file, isShown ? name : nil, nil, "the manifest does not list " + file)
        }
    }

    private mutating func checkpoint(of manifest: ExportManifestAnswer) -> Checkpoint? {
        do throws(NoteFault) {
            let key = try VerifierKey(parsing: self.key ?? "")
            let verified = try SignedNote.parse(manifest.checkpoint).verified(by: [key])
            let checkpoint = try Checkpoint(verified)
            guard checkpoint.origin.isSame(as: key.name) else {
                throw NoteFault(.malformedCheckpoint, "it is of another log")
            }
            return checkpoint
        } catch {
            note(.checkpoint, ExportFile.manifest, nil, "the checkpoint: \(error.message)")
            return nil
        }
    }
}

extension ExportManifestAnswer {
    /// Reads a manifest from outside; nil for what is none of this format, or names anything but
    /// plain files.
    package init?(reading bytes: [UInt8]) {
        // What cannot be read is said to be no manifest, whatever is wrong with it.
        guard let json = try? JSONValue(parsing: bytes),
            let manifest = try? Self.fields.read(json), manifest.format == Self.format,
            manifest.files.allSatisfy({ ExportedFile($0) != nil })
        else { return nil }
        self = manifest
    }
}
