import Entitlements
import LedgerAPI
import LedgerOperations

/// How ledger and process stand when somebody asks for the figures.
struct Standing: Sendable {
    var now: Instant
    var readiness: Readiness
    /// nil: the ledger's files are not known, or what looks at them fails.
    var ledger: LedgerFigures?
    /// nil: the system does not tell.
    var process: ProcessFigures?
    /// nil: the server is no machine of a cluster.
    var cluster: ClusterNode.Standing?

    /// Appends the families; what is not told has no sample.
    func append(to text: inout PrometheusText) {
        text.family("entitle_ledger_sequence", "Events in the log.", .gauge)
        if let size = readiness.size { text.sample("entitle_ledger_sequence", [], size) }
        appendReadiness(to: &text)
        if let ledger {
            appendDisk(ledger, to: &text)
            appendMaps(ledger.maps, to: &text)
            appendAges(ledger, to: &text)
        }
        if let process { append(process, to: &text) }
        if let cluster { append(cluster, to: &text) }
    }

    private func append(_ cluster: ClusterNode.Standing, to text: inout PrometheusText) {
        text.family("entitle_cluster_leading", "Whether this machine leads its cluster.", .gauge)
        text.sample("entitle_cluster_leading", [], cluster.isLeading ? 1 : 0)
        text.family("entitle_cluster_term", "Counts who led.", .gauge)
        if let term = cluster.term { text.sample("entitle_cluster_term", [], term) }
        text.family(
            "entitle_cluster_lag_events",
            "Events that the cluster has and this machine has not.",
            .gauge
        )
        text.sample("entitle_cluster_lag_events", [], cluster.lag)
        text.family(
            "entitle_cluster_contact_age_milliseconds",
            "Since this machine heard of the cluster's database.",
            .gauge
        )
        if let age = cluster.contactAge {
            text.sample("entitle_cluster_contact_age_milliseconds", [], UInt64(clamping: age))
        }
    }

    private func appendReadiness(to text: inout PrometheusText) {
        text.family("entitle_ready", "Whether the ledger does its whole work, as /readyz.", .gauge)
        text.sample("entitle_ready", [], readiness.isReady ? 1 : 0)
        text.family("entitle_not_ready", "What keeps it from that, by reason.", .gauge)
        for reason in Readiness.allReasons {
            text.sample(
                "entitle_not_ready",
                [("reason", reason)],
                readiness.reasons.contains(reason) ? 1 : 0
            )
        }
    }

    private func appendDisk(_ ledger: LedgerFigures, to text: inout PrometheusText) {
        if let disk = ledger.disk {
            let parts = [("log", disk.log), ("vault", disk.vault), ("views", disk.views)]
            text.family("entitle_ledger_bytes", "What the ledger's files take, by part.", .gauge)
            for (part, bytes) in parts {
                text.sample("entitle_ledger_bytes", [("part", part)], UInt64(clamping: bytes))
            }
            if let bytes = disk.identifiers {
                // Apart from the parts, of whose sum it is a part already.
                text.family(
                    "entitle_identifiers_bytes",
                    "Of the vault's, what the ids of transactions take, for the search.",
                    .gauge
                )
                text.sample("entitle_identifiers_bytes", [], UInt64(clamping: bytes))
            }
        }
        let volume = [
            ("free", "Bytes that are free where the ledger stands.", ledger.disk?.free),
            ("size", "Bytes of the file system that the ledger stands on.", ledger.diskSize),
        ]
        for (word, help, bytes) in volume {
            guard let bytes else { continue }
            text.family("entitle_disk_\(word)_bytes", help, .gauge)
            text.sample("entitle_disk_\(word)_bytes", [], UInt64(clamping: bytes))
        }
    }

    private func appendMaps(_ maps: [LedgerFigures.Map], to text: inout PrometheusText) {
        let families: [(String, String, (LedgerFigures.Map) -> Int)] = [
            ("map_size_bytes", "Address space that a part is mapped into; it grows.", \.byteCount),
            ("map_used_bytes", "Bytes up to the last page that was used.", \.usedByteCount),
            ("readers", "Reader slots taken in all processes, idle ones too.", \.readers),
            ("reader_limit", "Reader slots that there are.", \.readerLimit),
            (
                "oldest_reader_commits", "Commits since the oldest state that somebody reads.",
                \.oldestReaderCommits
            ),
        ]
        for (word, help, value) in families {
            text.family("entitle_" + word, help, .gauge)
            for map in maps {
                text.sample(
                    "entitle_" + word,
                    [("part", map.part)],
                    UInt64(clamping: value(map))
                )
            }
        }
    }

    private func appendAges(_ ledger: LedgerFigures, to text: inout PrometheusText) {
        var ages: [(String, String, Instant?)] = [
            (
                "entitle_unsigned_age_seconds",
                "Age of the oldest event that no checkpoint signs; 0: all are signed.",
                ledger.unsignedSince
            )
        ]
        if let archive = ledger.archive {
            ages.append(
                (
                    "entitle_unarchived_age_seconds",
                    "Age of the oldest event that is not in the archive; 0: all are.",
                    archive.missingSince
                )
            )
        }
        for (name, help, since) in ages {
            text.family(name, help, .gauge)
            let age = since.map { max(0, now.milliseconds - $0.milliseconds) / 1000 } ?? 0
            text.sample(name, [], UInt64(clamping: age))
        }
        text.family(
            "entitle_last_backup_seconds",
            "When the last backup was made; 0: none was.",
            .gauge
        )
        text.sample("entitle_last_backup_seconds", [], ledger.lastBackup?.wholeSeconds ?? 0)
    }

    /// Under the names that every program has for Prometheus.
    private func append(_ process: ProcessFigures, to text: inout PrometheusText) {
        text.family(
            "process_cpu_seconds_total",
            "Seconds of processor, the process's own and the kernel's for it.",
            .counter
        )
        text.sample(
            "process_cpu_seconds_total",
            [],
            microseconds: process.processorMicroseconds
        )
        let gauges: [(String, String, UInt64?)] = [
            ("resident_memory_bytes", "Memory that it has.", process.residentBytes),
            ("virtual_memory_bytes", "Address space.", process.virtualBytes),
            ("start_time_seconds", "When it began, since 1970.", process.startSeconds),
            ("open_fds", "Files and connections that it has open.", process.openDescriptors),
            ("max_fds", "Those that it may have open.", process.descriptorLimit),
        ]
        for (word, help, value) in gauges {
            guard let value else { continue }
            text.family("process_" + word, help, .gauge)
            text.sample("process_" + word, [], value)
        }
    }
}

extension Instant {
    /// Whole seconds since 1970; 0 for what is before.
    var wholeSeconds: UInt64 { UInt64(max(0, milliseconds / 1000)) }
}

extension LedgerService {
    /// Looks how ledger and process stand.
    func standing() async -> Standing {
        let readiness = await readiness()
        // A server that stops has no threads to look with, and its figures are read by nobody.
        let (ledger, process) =
            (try? await blocking { [figures] in (figures?(), ProcessFigures.current()) })
            ?? (nil, nil)
        return Standing(
            now: clock(),
            readiness: readiness,
            ledger: ledger,
            process: process,
            // A log that cannot be read is told of by what readiness says.
            cluster: try? cluster?.standing()
        )
    }
}
