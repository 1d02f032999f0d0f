public import Encodings
import Entitlements
import EventLog

extension Ledger {
    /// The `status` shape (Interfaces, "Shapes").
    ///
    /// Cost: one pass over the log's headers.
    public func status() throws -> JSONValue {
        let end = try log.end()
        var counts: [UInt8: Int] = [:]
        var through: [String: Int64] = [:]
        var events: [String: Int] = [:]
        try log.scan(from: 0, upTo: end.size) { header, record in
            counts[header.environment, default: 0] += 1
            let source = SourceCode.name(of: header.source) ?? "other"
            events[source, default: 0] += 1
            let kind = try header.eventKind()
            if kind == .syncCompleted || kind == .syncReconciled,
                let instant = try header.through(record)
            {
                through[source] = max(through[source] ?? .min, instant.milliseconds)
            }
            return true
        }
        let checkpoint = try lastCheckpoint()
        // Gaps that a salvage left.
        let lost = end.size - UInt64(counts.values.reduce(0, +)) + (knownLoss?.behindEnd ?? 0)
        var members =
            JSONValue.members([
                "sequence": .integer(end.size),
                "environmentCounts": .object(
                    StoreEnvironment.allCases.map {
                        JSONMember($0.name, .integer(counts[$0.rawValue] ?? 0))
                    }
                ),
                "lastRecordedAt": .instant(
                    end.size == 0 ? nil : Instant(milliseconds: end.lastRecordedAt)
                ),
                "views": .object(
                    [JSONMember("position", .integer(views.position))]
                        + [views.discarded ?? views.replaced].compactMap { reason in
                            reason.map { JSONMember("discarded", .string($0)) }
                        }
                ),
                "checkpoint": checkpoint.map {
                    .members(["size": .integer($0.size), "rootHash": .string($0.root.base64)])
                } ?? .null,
                // Z12: per source, how far the log is known to be complete.
                "completeness": .object(
                    events.sorted { $0.key < $1.key }.map { source, count in
                        JSONMember(
                            source,
                            .members([
                                "events": .integer(count),
                                "through": .instant(
                                    through[source].map { Instant(milliseconds: $0) }
                                ),
                            ])
                        )
                    }
                ),
            ]).members ?? []
        if lost > 0 { members.append(JSONMember("lost", .integer(lost))) }
        return .object(members)
    }
}

extension RecordHeader {
    /// `through` of a sync event.
    fileprivate func through(_ record: Span<UInt8>) throws -> Instant? {
        var opened = OpenedEvent(header: self, kind: try eventKind())
        try opened.read(record, facts) { _ in nil }
        guard case .instant(let instant)? = opened.values[.through] else { return nil }
        return instant
    }
}
