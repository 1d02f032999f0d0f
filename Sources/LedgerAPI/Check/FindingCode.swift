extension Finding {
    /// What can be found; a closed set, whose words stay.
    package enum Code: String, Sendable, CaseIterable {
        // The directory.

        /// Others may write to the ledger's directory, or read what holds keys.
        case directoryOpen = "directory_open"
        /// A part belongs to somebody else than the directory.
        case ownersDiffer = "owners_differ"
        /// Others may read or write the file of the master key.
        case keyOpen = "key_open"
        /// The master key cannot be had, or is another one's.
        case keyUnusable = "key_unusable"
        /// The master key lies beside what it protects.
        case keyBesideData = "key_beside_data"
        /// It is in an older format.
        case formatOlder = "format_older"
        /// The last writer did not close it.
        case uncleanStop = "unclean_stop"
        /// An erasure was begun, and keys of whom it takes may stand.
        case erasureUnfinished = "erasure_unfinished"

        // The log and what follows it.

        /// It cannot be opened.
        case unreadable
        /// What stands in the way of its whole work.
        case notReady = "not_ready"
        /// An audit finds faults.
        case auditFaults = "audit_faults"
        /// A salvage could not bring everything back.
        case eventsLost = "events_lost"
        /// Views on the disk are not believed.
        case viewsDiscarded = "views_discarded"
        /// Views are far behind the log.
        case viewsBehind = "views_behind"
        /// The end of the log was not signed for long.
        case checkpointOld = "checkpoint_old"
        /// There is no backup.
        case backupMissing = "backup_missing"
        /// The last backup is old.
        case backupOld = "backup_old"
        /// The archive is far behind.
        case archiveBehind = "archive_behind"

        // The machine.

        /// There is almost no room left.
        case diskLow = "disk_low"
        /// There will be no room soon, or none to make the views anew.
        case diskFilling = "disk_filling"
        /// Appends wait for the clock.
        case clockWrong = "clock_wrong"
        /// Nothing holds the clock to the time.
        case clockUnsynchronized = "clock_unsynchronized"
        /// Fewer files may be open than connections are allowed.
        case openFilesLow = "open_files_low"
        /// Address space is limited.
        case addressSpaceLimited = "address_space_limited"
        /// The file system is another machine's.
        case fileSystemRemote = "file_system_remote"
        /// The file system goes with its container or with the machine's memory.
        case fileSystemVolatile = "file_system_volatile"
        /// Memory may go to the disk.
        case swapInUse = "swap_in_use"
        /// The system hands out no memory that it does not have.
        case overcommitStrict = "overcommit_strict"
        /// There are no time zones.
        case timeZonesMissing = "time_zones_missing"

        // What is set.

        /// A variable sets nothing.
        case variableUnknown = "variable_unknown"
        /// A server would not start with what is set.
        case configurationRefused = "configuration_refused"
        /// A certificate is over.
        case certificateExpired = "certificate_expired"
        /// A certificate is over soon.
        case certificateEnding = "certificate_ending"
        /// Others may read the key of the certificate.
        case tlsKeyOpen = "tls_key_open"
        /// It is listened in clear to others than this machine.
        case listensInClear = "listens_in_clear"
        /// Tokens of whoever has the issuer's keys let in.
        case tokensUnbound = "tokens_unbound"
        /// Webhooks may be sent to networks of one's own.
        case privateWebhooks = "private_webhooks"
        /// API keys count for ever.
        case keysWithoutEnd = "keys_without_end"

        // The stores.

        /// No store is configured.
        case storesMissing = "stores_missing"
        /// A store's messages cannot be told from anybody's.
        case storeUnauthenticated = "store_unauthenticated"
        /// A store cannot be asked.
        case storeUnasked = "store_unasked"
        /// Roots other than the store's are trusted in production.
        case rootsForeign = "roots_foreign"
        /// A root of the App Store is over, or soon.
        case rootEnding = "root_ending"
        /// Nothing has come of a store for long.
        case storeSilent = "store_silent"
        /// It was never asked for all that a store sent.
        case neverAsked = "never_asked"
        /// A store has no list of all that it sent.
        case cannotBeAsked = "cannot_be_asked"
        /// Signals in a store's name were refused since it was last asked.
        case signalsRefused = "signals_refused"
        /// Renewals do not come.
        case renewalsMissing = "renewals_missing"
        /// Google takes back what is not acknowledged.
        case unacknowledged

        // A server.

        /// Another process writes.
        case writerBusy = "writer_busy"
        /// A server has the ledger and does not answer.
        case serverSilent = "server_silent"
        /// A job's last run failed.
        case jobFailed = "job_failed"
        /// A job did not run when it should have.
        case jobLate = "job_late"
        /// Deliveries are not tried any more.
        case deliveriesDead = "deliveries_dead"
        /// Deliveries are tried again.
        case deliveriesWaiting = "deliveries_waiting"
        /// A webhook was disabled because it answered that it is gone.
        case webhookGone = "webhook_gone"

        /// How bad it is.
        package var severity: Severity {
            switch self {
            case .directoryOpen, .ownersDiffer, .keyOpen, .keyUnusable, .unreadable, .notReady,
                .auditFaults, .eventsLost, .diskLow, .clockWrong, .fileSystemRemote,
                .configurationRefused, .certificateExpired, .unacknowledged:
                .error
            case .uncleanStop, .erasureUnfinished, .viewsDiscarded, .checkpointOld, .backupMissing,
                .backupOld, .archiveBehind, .diskFilling, .clockUnsynchronized, .openFilesLow,
                .addressSpaceLimited, .fileSystemVolatile, .timeZonesMissing, .variableUnknown,
                .certificateEnding, .tlsKeyOpen, .listensInClear, .tokensUnbound,
                .storeUnauthenticated, .storeUnasked, .rootsForeign, .rootEnding, .storeSilent,
                .neverAsked, .signalsRefused, .renewalsMissing, .serverSilent, .jobFailed,
                .jobLate, .deliveriesDead, .webhookGone:
                .warning
            case .keyBesideData, .formatOlder, .viewsBehind, .swapInUse, .overcommitStrict,
                .privateWebhooks, .keysWithoutEnd, .storesMissing, .cannotBeAsked, .writerBusy,
                .deliveriesWaiting:
                .note
            }
        }
    }
}
