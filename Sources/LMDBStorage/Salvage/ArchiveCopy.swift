import DurableFiles
package import EventLog
package import Salvage

/// An archive of the log, and the copy of the vault that a backup has beside it.
///
/// Files of it may be damaged or missing: what cannot be read is not there.
package struct ArchiveCopy: SalvageSupply {
    private let store: ArchiveDirectory
    private var reader: ArchiveReader { ArchiveReader(store) }
    private let key: VerifierKey
    /// The folder with a vault's journal and epoch keys; nil: only the log was archived.
    private let vault: String?

    private static let sharedFolder = "shared"
    private static let partLimit = 9 << 20

    /// Reads an archive.
    ///
    /// `publicKey`: the verifier key of the log's checkpoints. `vault`: the backup's folder of it.
    ///
    /// - Throws: `NoteFault` for another key's text, `ArchiveFault` where the archive's checkpoint is
    ///   not that key's.
    package init(at path: String, publicKey: String, vault: String? = nil) throws {
        store = try ArchiveDirectory(at: path, forWriting: false)
        key = try VerifierKey(parsing: publicKey)
        self.vault = vault
        _ = try reader.checkpoint(by: key)
    }

    /// See `DamagedSource`.
    package func records(
        ofBundle bundle: UInt64,
        _ body: (Span<UInt8>, RecordLocation?) throws -> Void
    ) throws {
        // What cannot be read is not there: another source may have it.
        let records = ((try? reader.records(ofBundle: bundle)) ?? nil) ?? []
        for record in records { try body(record.span, nil) }
    }

    /// See `DamagedSource`.
    package func tiles(_ key: TileKey) -> [[UInt8]] {
        // What cannot be read is not there: another source may have it.
        ((try? reader.tile(level: key.level, index: key.index)) ?? nil).map { [$0] } ?? []
    }

    /// See `DamagedSource`.
    package func attached(_ digest: EventLog.Digest, ofBundle bundle: UInt64) -> [UInt8]? {
        // What cannot be read is not there: another source may have it.
        (try? reader.attached(ofBundle: bundle))?[digest]
    }

    /// See `DamagedSource`.
    package func sharedParts(_ body: ([UInt8]) throws -> Void) throws {
        // What cannot be read is not there: another source may have it.
        for name in (try? store.names(in: Self.sharedFolder)) ?? [] {
            // What cannot be read is not there: another source may have it.
            let part = try? store.read("\(Self.sharedFolder)/\(name)", limit: Self.partLimit)
            if let part = part ?? nil { try body(part) }
        }
    }

    /// See `DamagedSource`.
    package func notes() -> [String] {
        // Sizes that cannot be listed are found in other sources.
        let sizes = (try? reader.checkpointSizes()) ?? []
        // Each note stands for itself: one that cannot be read is not there.
        let older = sizes.compactMap { size in (try? reader.note(size: size)) ?? nil }
        // The newest may be damaged while older ones are whole.
        let newest = (try? reader.note()) ?? nil
        return (older + [newest].compactMap(\.self)).map(\.description)
    }

    /// The end that the archive's signed checkpoint names, where its tiles give that root.
    package func ends() -> [LogEnd] {
        // Without a checkpoint that its tiles bear out there is no end to tell.
        guard let checkpoint = try? reader.checkpoint(by: key),
            let edge = try? TreeReader(reader).edge(size: checkpoint.size),
            edge.root == checkpoint.root
        else { return [] }
        return [LogEnd(edge: edge, lastRecordedAt: .min, highestCounter: 0)]
    }

    /// See `SalvageSupply`.
    package func vaultItems(_ body: (VaultItem) throws -> Void) throws {
        guard let vault, DurableFile.exists(vault + "/" + VaultJournal.fileName) else { return }
        try VaultJournalReader.read(vault + "/" + VaultJournal.fileName) { _, part in
            if case .item(let item) = part { try body(item) }
        }
    }
}
