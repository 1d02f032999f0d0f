import Encodings
import Entitlements
import LedgerAPI
import LedgerOperations
import Logging
import Synchronization

/// What is the matter now by the last looks (rows 10.4, 10.5): the onset and the end of each alert are told
/// once, in the log and to the webhooks that ask for it.
///
/// What stands is kept beside the webhooks, so that a server which begins again tells nothing twice.
final class AlertBoard: Sendable {
    private let standing = Mutex<[LedgerAlert]?>(nil)
    private let webhooks: Webhooks?
    private let logger: Logger

    /// Alerts of a kind that stand at once: an app may make up any number of codes, and those of one kind
    /// push out no others.
    private static let limit = 50

    /// `webhooks`: nil: nobody is told but the log.
    init(_ webhooks: Webhooks?, _ logger: Logger) {
        self.webhooks = webhooks
        self.logger = logger
    }

    /// Those that stand.
    ///
    /// - Throws: `LogStorageFault` where what stood before cannot be read.
    func all() throws -> [LedgerAlert] { try standing.withLock { try known(&$0) } }

    private func known(_ standing: inout [LedgerAlert]?) throws -> [LedgerAlert] {
        if let standing { return standing }
        // What another machine of the cluster told of is that one's.
        let kept = webhooks?.tellsAlerts == true ? try webhooks?.standingAlerts() ?? [] : []
        standing = kept
        return kept
    }

    /// Goes on where the machine of a cluster ended that told before: the next look is held against what
    /// that one told.
    func takeUp() { standing.withLock { $0 = nil } }

    /// Holds what a look found against what stood before, and tells what began or is over.
    ///
    /// `kinds`: those that the look is about. Cost: where something changed, one write to the disk.
    ///
    /// - Throws: `LogStorageFault` where it cannot be kept: the next look tells it.
    func hold(_ found: [LedgerAlert], of kinds: Set<LedgerAlert.Kind>, at now: Instant) throws {
        let changes = try standing.withLock { standing in
            let before = try known(&standing)
            let own = before.filter { kinds.contains($0.alert) }
            // What stands already goes first, so that nothing is told anew by its order alone.
            let lastingFirst =
                found.filter { alert in own.contains { $0.isSame(as: alert) } }
                + found.filter { alert in !own.contains { $0.isSame(as: alert) } }
            let found = LedgerAlert.Kind.allCases.flatMap { kind in
                lastingFirst.filter { $0.alert == kind }.prefix(Self.limit)
            }
            let begun = found.filter { alert in !own.contains { $0.isSame(as: alert) } }
            let (lasting, over) = (
                own.filter { alert in found.contains { $0.isSame(as: alert) } },
                own.filter { alert in !found.contains { $0.isSame(as: alert) } }
            )
            let changes = begun + over.map(\.ended)
            guard !changes.isEmpty else { return changes }
            let all = before.filter { !kinds.contains($0.alert) } + lasting + begun
            try webhooks?.tell(changes, standing: all, at: now)
            standing = all
            return changes
        }
        for alert in changes { tell(alert) }
    }

    private func tell(_ alert: LedgerAlert) {
        var metadata: Logger.Metadata = ["alert": "\(alert.alert.rawValue)"]
        if let about = alert.about { metadata["about"] = "\(about)" }
        switch alert.state {
        case .raised: logger.error("\(alert.detail)", metadata: metadata)
        case .ended: logger.notice("an alert is over", metadata: metadata)
        }
    }

    /// Appends the family.
    func append(to text: inout PrometheusText) {
        let standing = standing.withLock { $0 ?? [] }
        text.family("entitle_alerts", "Alerts that stand, by the last looks.", .gauge)
        for kind in LedgerAlert.Kind.allCases {
            text.sample(
                "entitle_alerts",
                [("alert", kind.rawValue)],
                UInt64(standing.count { $0.alert == kind })
            )
        }
    }
}

extension LedgerAlert {
    /// Whether another one is about the same, whenever it began.
    fileprivate func isSame(as other: LedgerAlert) -> Bool {
        alert == other.alert && environment == other.environment
            && about.map { Name($0) } == other.about.map { Name($0) }
    }

    /// The same, over.
    fileprivate var ended: LedgerAlert {
        var ended = self
        ended.state = .ended
        return ended
    }
}
