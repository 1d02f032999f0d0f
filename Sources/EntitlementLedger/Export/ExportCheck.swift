public import Encodings
import Entitlements
public import EventLog

/// Where an export that is to be checked is read from.
public protocol ExportSource {
    /// Reads a file piece by piece; false where there is none, or a link or a pipe in its place.
    func read(_ name: String, _ body: ([UInt8]) throws -> Void) throws -> Bool
    /// A file's lines, from the first on; nil likewise.
    func lines(_ name: String) throws -> (any ExportLines)?
    /// The names of the files that are there.
    func names() throws -> [String]
}

/// Lines of a file, one after the other.
public protocol ExportLines {
    /// The next line without its end, nothing for one that is too long; nil at the end.
    func next() throws -> [UInt8]?
}

/// What checking an export found; needs no ledger.
public struct ExportCheck: Sendable {
    /// One thing that is wrong.
    public struct Fault: Sendable, Hashable {
        /// What kind.
        public var kind: Kind
        /// The file; nil: the export as a whole.
        public var file: String?
        /// The record; nil: none in particular.
        public var sequence: UInt64?
        /// A sentence; holds no id.
        public var detail: String
    }

    /// The closed set of faults.
    public enum Kind: String, Sendable {
        /// The manifest is missing, unreadable, or not signed by the key.
        case manifest
        /// A file is missing, too much, or has other bytes.
        case file
        /// The checkpoint is unreadable or not signed by the key.
        case checkpoint
        /// A record is not whole, or is another than said.
        case record
        /// A record does not belong to the checkpoint's tree.
        case proof
        /// An event says otherwise than its record.
        case event
    }

    /// What is wrong, in the order of finding; at most `faultLimit`.
    public internal(set) var faults: [Fault] = []
    /// Records whose place in the tree was proven.
    public internal(set) var records: UInt64 = 0
    /// The ledger's key, by which everything was verified.
    public internal(set) var key: String?
    /// Whether the key was given, rather than taken from the export itself.
    public internal(set) var isKeyGiven = false
    /// The checkpoint's size.
    public internal(set) var size: UInt64?

    /// More are not listed.
    public static let faultLimit = 1000

    /// Whether nothing is wrong.
    public var isOK: Bool { faults.isEmpty }

    /// The `check-export` shape.
    public var json: JSONValue {
        .members([
            "ok": .bool(isOK), "records": .integer(records),
            "key": .optional(key), "keyGiven": .bool(isKeyGiven),
            "checkpointSize": size.map { .integer($0) } ?? .null,
            "faults": .array(
                faults.map { fault in
                    .members([
                        "kind": .string(fault.kind.rawValue), "file": .optional(fault.file),
                        "sequence": fault.sequence.map { .integer($0) } ?? .null,
                        "detail": .string(fault.detail),
                    ])
                }
            ),
        ])
    }

    mutating func note(
        _ kind: Kind,
        _ file: String?,
        _ sequence: UInt64? = nil,
        _ detail: String
    ) {
        guard faults.count < Self.faultLimit else { return }
        faults.append(Fault(kind: kind, file: file, sequence: sequence, detail: detail))
    }
}

extension ExportCheck {
    /// Checks an export against itself and the key of its ledger.
    ///
    /// `key`: the ledger's verifier key, as its operator publishes it; nil: the one that the export
    /// names, which proves that it is whole, but not whose it is.
    ///
    /// Cost: two passes over the files, a SHA-256 and a proof for each record; bounded memory.
    /// - Throws: what the source throws.
    public init(_ source: some ExportSource, key given: VerifierKey?) throws {
        isKeyGiven = given != nil
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
    ) throws -> Manifest? {
        guard let bytes = try small(ExportFile.manifest, source),
            let json = try? JSONValue(parsing: bytes), let manifest = Manifest(json)
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

    private mutating func checkFiles(_ manifest: Manifest, _ source: some ExportSource) throws {
        for file in manifest.files {
            var digest = FileDigest()
            guard try source.read(file.name, { digest.add($0) }) else {
                note(.file, file.name, nil, "the file is missing, or no file")
                continue
            }
            if digest.file(file.name) != file {
                note(.file, file.name, nil, "the file has other bytes than the manifest says")
            }
        }
        let known = manifest.files.map(\.name) + [ExportFile.manifest, ExportFile.signature]
        for name in try source.names() where !known.contains(name) {
            note(.file, name, nil, "the manifest does not list the file")
        }
    }

    private mutating func checkpoint(of manifest: Manifest) -> Checkpoint? {
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

extension ExportCheck {
    /// What a check needs of a manifest.
    struct Manifest {
        var publicKey: String
        var checkpoint: String
        var isRange: Bool
        var records: UInt64
        var files: [ExportedFile]

        init?(_ json: JSONValue) {
            let files = (json["files"]?.array ?? []).map { ExportedFile($0) }
            guard json["format"]?.string == ExportManifest.format, !files.contains(nil),
                let publicKey = json["publicKey"]?.string,
                let checkpoint = json["checkpoint"]?.string,
                let kind = json["of"]?.string, ["range", "customer"].contains(kind),
                let records = json["records"]?.integer.flatMap({ UInt64(exactly: $0) })
            else { return nil }
            self.publicKey = publicKey
            self.checkpoint = checkpoint
            self.records = records
            self.files = files.compactMap(\.self)
            isRange = kind == "range"
        }
    }
}
