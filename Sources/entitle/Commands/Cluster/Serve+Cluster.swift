import Dispatch
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import LedgerOperations
import PostgresStorage
import Synchronization

extension Serve {
    /// Serves as a machine of a cluster: follows its log, and leads where no other one does.
    func serveCluster() async throws {
        guard !ephemeral, !readOnly else {
            throw OperationFault(
                .usage,
                "--cluster excludes --ephemeral and --read-only",
                place: "--cluster"
            )
        }
        let path = options.path
        let file = try ClusterFile.read(ofLedgerAt: path)
        let schema = try file.journalSchema(ofLedgerAt: path)
        let journal = try fitJournal(of: file, schema)
        try checkCopy()
        let node = try open(file, journal)
        let hasEnded = Atomic(false)
        let ended = DispatchSemaphore(value: 0)
        let thread = DispatchQueue(label: "entitle.cluster")
        thread.async {
            node.run(tell: Terminal.warn) { hasEnded.load(ordering: .acquiring) }
            // As a service manager ends it.
            if node.endReason != nil { kill(getpid(), SIGTERM) }
            ended.signal()
        }
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(
                try await serve(
                    node.open,
                    at: path,
                    key: nil,
                    as: node,
                    tellingIn: PostgresDeliveries(file.postgres, schema: schema),
                    masterKey: { [keyOptions = options.keyOptions] in try keyOptions.renewed() }
                )
            )
        } catch {
            outcome = .failure(error)
        }
        hasEnded.store(true, ordering: .releasing)
        await end(node, once: ended)
        switch outcome {
        case .success: node.open.end(warn: Terminal.warn)
        case .failure(let error): node.open.close(after: error)
        }
        try outcome.get()
        switch node.endReason {
        case .damage:
            throw OperationFault(
                .refill,
                "this machine's copy was damaged",
                place: path,
                hint: "start it again: it is filled from the cluster"
            )
        case .solitude:
            throw OperationFault(
                .alone,
                "the cluster was not followed for \(file.contactSeconds) seconds"
                    + (node.fault.map { " (\($0))" } ?? ""),
                place: path,
                hint: "start it again once the database is there and nothing else keeps it from it"
            )
        case nil: return
        }
    }

    /// Gives up the lead once a machine's thread has ended, which looks at least each time that a wait for the
    /// journal is over.
    private func end(_ node: ClusterNode, once ended: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                ended.wait()
                // Whoever was answered was answered: another machine leads from now on.
                node.resign()
                continuation.resume()
            }
        }
    }

    /// Checks every record of a copy, apart from this process: what is damaged is filled again.
    private func checkCopy() throws {
        let path = options.path
        let bootID = SystemClock.told(SystemClock.bootID)
        guard LedgerDirectory.holdsCopy(at: path, bootID: bootID) else { return }
        // A manifest that is damaged is made again, too.
        let key = try options.keyOptions.read(needsLedger: false)
        let report = try AuditChild.own.report(onCopy: path, masterKey: key)
        if let report, !report.isCopyDamaged { return }
        Terminal.warn("what stands there is damaged: it is filled again")
        try LedgerDirectory.markRefill(at: path, of: report?.treeSize)
    }

    private func fitJournal(
        of file: ClusterFile,
        _ schema: JournalSchema
    ) throws -> PostgresJournal {
        let place = options.path + "/" + ClusterFile.name
        let findings = ClusterCheck.findings(
            of: file.postgres,
            schema: schema,
            now: SystemClock.now().milliseconds
        )
        // A standby that is away, or of which the cluster was made without one, keeps nobody from reading.
        for finding in findings where finding.letsRead {
            Terminal.warn("\(finding.code.rawValue): \(finding.what)")
        }
        if let first = findings.first(where: { !$0.letsRead }) {
            // A machine that starts before its database is not down for good: its service manager tries again.
            throw OperationFault(
                first.isAway
                    ? .init("cluster_" + first.code.rawValue, .tryAgain) : .configuration,
                "the database is not fit (\(first.code.rawValue)): \(first.what)",
                place: place,
                hint: first.remedy
            )
        }
        return PostgresJournal(file.postgres, schema: schema)
    }

    private func open(
        _ file: ClusterFile,
        _ journal: PostgresJournal
    ) throws -> ClusterNode {
        do {
            return try ClusterNode.open(
                at: options.path,
                as: file,
                of: journal,
                options: options.opening(writing: true, needsLedger: false),
                tell: Terminal.note
            )
        } catch let fault as JournalFault {
            throw OperationFault(fault)
        }
    }
}
