import DurableFiles
import EventLog
package import Salvage

/// A meta page of the log's or the vault's data file that leads nowhere, while the other one leads to
/// a state that is whole.
///
/// LMDB opens no file with an unreadable meta page. A copy of the other page heals it, for next to
/// nothing, where the other one leads to all that there is.
package struct DeadMetaPage: Sendable {
    /// Whose file it is.
    package let part: Part
    /// The page's number: 0 or 1.
    package let page: Int
    /// What a copy of the other page would lose; nil: nothing.
    package let objection: String?
    private let file: String
    private let pageSize: Int
    private let content: [UInt8]
    private let copy: [UInt8]

    /// The parts of a ledger with a data file, by its directory.
    package enum Part: String, Sendable { case log, vault }

    /// Looks for one among what the readable meta pages lead to, the newest first; nil where there is
    /// none, or none that leads to a whole state.
    init?(
        in path: String,
        part: Part,
        _ states: [(meta: DatabasePage.Meta, isWhole: Bool)],
        objection: (DatabasePage.Meta) throws -> String?
    ) throws {
        guard let place = states.firstIndex(where: \.isWhole),
            place > 0 || states.count < DatabasePage.metaPages
        else { return nil }
        let meta = states[place].meta
        self.part = part
        page = DatabasePage.metaPages - 1 - meta.number
        file = path + "/" + part.rawValue + "/" + LedgerDirectory.dataName
        pageSize = meta.pageSize
        self.objection = try objection(meta)
        let bytes = try RawFile(path: file)
        content = try bytes.read(at: UInt64(page * pageSize), count: pageSize)
        var copy = try bytes.read(at: UInt64(meta.number * pageSize), count: pageSize)
        // A page begins with its own number.
        copy[0] = UInt8(page)
        self.copy = copy
    }

    /// Writes the copy.
    ///
    /// - Throws: `FileFault`.
    package func heal() throws {
        precondition(objection == nil, "something would be lost")
        try DurableFile.overwrite(file, at: UInt64(page * pageSize), with: copy)
    }

    /// Puts back what was there.
    ///
    /// - Throws: `FileFault`.
    package func undo() throws {
        try DurableFile.overwrite(file, at: UInt64(page * pageSize), with: content)
    }
}

extension LedgerSalvage {
    /// The dead meta pages of log and vault.
    ///
    /// `report`: what ``plan(progress:)`` told of this ledger without second copies.
    ///
    /// - Throws: `FileFault`.
    ///
    /// Cost: one pass over the vault.
    package func deadMetaPages(_ report: SalvageReport) throws -> [DeadMetaPage] {
        try [deadLogPage(report), deadVaultPage()].compactMap { $0 }
    }

    private func deadLogPage(_ report: SalvageReport) throws -> DeadMetaPage? {
        try DeadMetaPage(
            in: path,
            part: .log,
            log.live.map { ($0.meta, $0.isWhole) }
        ) { meta in
            let state = log.live.first { $0.meta == meta }
            guard report.isWhole, report.confirmed == report.size else {
                return "records or keys are lost"
            }
            // The last commit may have been behind the dead page alone.
            guard state?.end?.size == report.size else {
                return "the last records stand only behind it"
            }
            let kept = state?.checkpoints ?? []
            return notes.all.allSatisfy { kept.contains($0.checkpoint.size) }
                ? nil : "a checkpoint stands only behind it"
        }
    }

    private func deadVaultPage() throws -> DeadMetaPage? {
        let data = path + "/" + LedgerDirectory.vaultName + "/" + LedgerDirectory.dataName
        guard DurableFile.exists(data) else { return nil }
        let bytes = try RawFile(path: data)
        let states = try DatabasePage.metas(bytes).map { try LiveVault($0, of: bytes) }
        return try DeadMetaPage(
            in: path,
            part: .vault,
            states.map { ($0.meta, $0.isWhole) }
        ) { meta in
            let state = states.first { $0.meta == meta }
            return try state.map { try readVault().isHeld(by: $0) } ?? false
                ? nil : "names or keys stand only behind it"
        }
    }
}
