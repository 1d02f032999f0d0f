import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import Stores

/// How the ledger is, as a server that holds it knows: what `status` and `doctor` tell.
enum HealthLook {
    /// What was found.
    struct Found: Sendable {
        /// What the ledger says of itself.
        var status: StatusAnswer
        /// What is wrong, with what to do.
        var doctor: DoctorAnswer
        /// Whether a live view was found to say other than the log.
        var hasDrifted: Bool
    }

    /// Looks for somebody, away from the threads that serve connections.
    ///
    /// Files of the server's machine, and webhooks, are told to `admin` alone, as the interface tells them.
    /// Cost: as `Auditor.status`.
    static func look(_ service: LedgerService, for caller: Caller) async throws -> Found {
        let isWhole = caller.has(.admin)
        let readiness = await service.readiness()
        return try await service.blocking {
            var checkup = Checkup(
                ofLedgerAt: service.directory ?? "",
                service.settings,
                Machine(),
                at: service.clock()
            )
            let status = try look(service, readiness, nil, withWebhooks: isWhole, &checkup)
            return Found(
                status: status,
                doctor: isWhole ? checkup.answer : checkup.answer.withoutFiles,
                hasDrifted: service.metrics.drift.hasDiffered
            )
        }
    }

    /// Looks at all that `doctor` looks at beside a server: also at the directory, the machine, what is
    /// set, the stores and their purchases.
    ///
    /// Cost: a quick audit, and a pass over the log and its purchases; one at a time.
    static func lookAround(_ service: LedgerService) async throws -> DoctorAnswer {
        let readiness = await service.readiness()
        do {
            _ = try await service.audit(.quick, .asked)
        } catch let problem as Problem where problem.code == .busy {
            // What the last audits found is told.
        }
        return try await service.reports.make {
            let path = service.directory
            var checkup = Checkup(
                ofLedgerAt: path ?? "",
                service.settings,
                path.map { Machine(ofLedgerAt: $0) } ?? Machine(),
                at: service.clock()
            )
            var stores: StoresConfiguration?
            if let path {
                try checkup.lookAtDirectory(service.keyOptions)
                checkup.lookAtMachine()
                checkup.lookAtSettings()
                stores = Self.stores(ofLedgerAt: path, &checkup)
            }
            _ = try look(service, readiness, stores, withWebhooks: true, &checkup)
            checkup.lookAtPurchases(
                try service.ledger.questions.purchaseDoubts(
                    in: .production,
                    at: checkup.now,
                    limit: 0
                )
            )
            return checkup.answer
        }
    }

    /// What is configured of the stores, looked at; nil: nothing.
    private static func stores(
        ofLedgerAt path: String,
        _ checkup: inout Checkup
    ) -> StoresConfiguration? {
        do {
            let stores = try StoresFile.read(checkup.settings[.stores], ofLedgerAt: path)
            checkup.lookAtStores(stores)
            if let stores { checkup.lookAtRoots(stores) }
            return stores
        } catch {
            checkup.add(
                .configurationRefused,
                error,
                do: "mend the setting: a server does not start with it"
            )
            return nil
        }
    }

    /// Looks at what the server itself knows; the status that was looked at.
    private static func look(
        _ service: LedgerService,
        _ readiness: Readiness,
        _ stores: StoresConfiguration?,
        withWebhooks: Bool,
        _ checkup: inout Checkup
    ) throws -> StatusAnswer {
        let status = try status(service)
        // What hinders the ledger itself is told with its log.
        let told =
            service.directory == nil
            ? [] : service.ledger.auditor.impediments().map(\.rawValue)
        for reason in readiness.reasons where !told.contains(reason) {
            checkup.addNotReady(reason)
        }
        for audit in service.metrics.audits.last { checkup.lookAtAudit(audit.answer) }
        if service.directory != nil {
            try checkup.lookAtLog(service.ledger.auditor, status)
        }
        checkup.lookAtSignals(status.completeness, stores)
        checkup.lookAtJobs(status.jobs ?? [])
        // A server that only reads tells nobody.
        if withWebhooks, let webhooks = service.webhooks {
            checkup.lookAtWebhooks(try webhooks.all())
        }
        return status
    }

    /// What the ledger says of itself, with what its files take and what its server does by itself.
    static func status(_ service: LedgerService) throws -> StatusAnswer {
        var status = try service.ledger.auditor.status()
        status.disk = try service.directory.map {
            try StatusAnswer.DiskUse(ofLedgerAt: $0, service.ledger.auditor)
        }
        status.jobs = service.jobs.all
        return status
    }
}

extension DoctorAnswer {
    fileprivate var withoutFiles: DoctorAnswer {
        var answer = self
        for index in findings.indices where findings[index].place?.hasPrefix("/") == true {
            answer.findings[index].place = nil
        }
        return answer
    }
}
