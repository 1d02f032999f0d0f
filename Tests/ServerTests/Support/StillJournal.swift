import EntitlementLedger
import EventLog
import Foundation
import LedgerOperations

/// A cluster's database that holds what an empty ledger's directory does, and takes nothing.
struct StillJournal: ClusterJournal, ClusterContents {
    /// The directory of one machine of it.
    let path: String
    private let name = "still"

    /// Makes an empty ledger in a directory that is not there, as a machine of such a cluster has it.
    init(at path: String) throws {
        self.path = path
        try Ledger.create(at: path)
        try Data().write(to: URL(filePath: path + "/node"))
    }

    /// Opens that machine, which does not run yet.
    func open(contactSeconds: Int64) throws -> ClusterNode {
        try ClusterNode.open(
            at: path,
            as: ClusterFile(
                postgres: "",
                schema: nil,
                node: name,
                address: "",
                contactSeconds: contactSeconds
            ),
            of: self,
            options: OpenLedger.Options(),
            tell: { _ in }
        )
    }

    private static let fault = JournalFault(.unavailable, "a journal that takes nothing")

    private func bytes(_ file: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path + "/" + file)))
    }

    func row() -> JournalRow {
        let root = TreeHash.emptyRoot
        let leadership = Leadership(term: 1, leader: .nobody)
        return JournalRow(
            end: JournalEnd(size: 0, root: root, vaultPosition: 0, generation: 0),
            lastRecordedAt: 0,
            highestCounter: 0,
            confirmedSize: 0,
            confirmedRoot: root,
            lease: JournalLease(leadership: leadership, beat: 1, node: "", address: "")
        )
    }

    func page(from first: UInt64, vaultAfter position: UInt64) -> JournalPage {
        JournalPage(row: row(), batches: [])
    }

    func clock() -> Int64 { 0 }
    func awaitChange(milliseconds: Int) -> JournalAnnouncement? { nil }
    func announce(_ announcement: JournalAnnouncement) {}

    func append(
        _ batch: JournalBatch,
        endingAt end: LogEnd,
        decidedOn known: JournalEnd,
        as leadership: Leadership
    ) -> JournalOutcome { .refused(Self.fault) }

    func rotate(
        _ rotation: VaultRotation,
        insteadOf keys: [UInt8],
        decidedOn known: JournalEnd,
        as leadership: Leadership
    ) -> JournalOutcome { .refused(Self.fault) }

    func renew(
        _ leadership: Leadership,
        as leader: LeaderID,
        confirmed: JournalEnd?
    ) -> JournalOutcome { .refused(Self.fault) }

    func resign(_ leadership: Leadership, confirmed: JournalEnd) -> JournalOutcome {
        .refused(Self.fault)
    }

    func take(
        over lease: JournalLease,
        as leader: LeaderID,
        node: String,
        address: String
    ) -> JournalOutcome { .refused(Self.fault) }

    func end(
        _ lease: JournalLease,
        as leader: LeaderID,
        node: String,
        confirmed: JournalEnd?
    ) -> JournalOutcome { .refused(Self.fault) }

    func manifest() throws -> String { String(decoding: try bytes("ledger.json"), as: UTF8.self) }

    func keys() throws -> (bytes: [UInt8], generation: UInt64) {
        (try bytes("vault/epoch-keys"), 0)
    }

    func rewrapKeys(_ bytes: [UInt8], insteadOf known: [UInt8]) -> Bool { false }

    func rotation(since generation: UInt64, below position: UInt64) throws -> VaultRotation {
        throw Self.fault
    }

    func vacuum() {}
    func keepersOfReplaced() -> [String] { [] }
    func vaultPosition(at size: UInt64) -> UInt64 { 0 }
    func readItems(upTo position: UInt64, _ body: (NewStream) throws -> Void) {}
    func checkpoints(from size: UInt64) -> [(size: UInt64, note: String)] { [] }
    func keep(checkpoint size: UInt64, note: String) throws { throw Self.fault }
    func held(_ name: String) -> [UInt8]? { nil }
    func hold(_ bytes: [UInt8], as name: String, insteadOf known: [UInt8]?) -> Bool { false }
    func note(_ node: ClusterMember) -> Bool { false }

    func members() -> [ClusterMember] {
        [ClusterMember(name: name, address: "", size: 0, generation: 0)]
    }

    func holdName(_ name: String) -> Bool { true }
    func giveUpName() {}
}
