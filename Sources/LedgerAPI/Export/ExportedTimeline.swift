package import Entitlements

/// A customer over time, as a line of an export: the events themselves are a part of their own.
package struct ExportedTimeline: Described {
    /// Whom and which point it is about.
    package var question: QuestionEcho
    /// The tiers over time (K7).
    package var tiers: [TierStretch]
    /// Why each feature is allowed over time (K5), by feature.
    package var features: [Keyed<[ReasonStretch]>]
    /// What gives access, when.
    package var stretches: [SourceStretch]
    /// The statuses over time (P9), by purchase.
    package var statuses: [Keyed<[StatusStretch]>]
    /// The events behind them, by type and times.
    package var events: [EventMark]
    /// Those that were recorded well after they held.
    package var late: [LateEvent]
    /// What asks again.
    package var token: String?

    /// An event of which only type and times are told.
    package struct EventMark: Described {
        /// Its place in the log.
        package var sequence: UInt64
        /// Its `type`.
        package var type: String
        /// When it holds (T1).
        package var time: Instant
        /// When it was recorded (T3).
        package var recordedAt: Instant

        /// Its members, in the order in which they are written.
        package static let fields = Fields("EventMark", "An event's times", Self.init) {
            Field("sequence", \.sequence, .padded)
            Field("type", \.type, .text)
            Field("time", \.time, .instant)
            Field("recordedtime", \.recordedAt, .instant)
        }
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ExportedTimeline", "A customer over time", Self.init) {
        Field(inline: \.question)
        Field("tiers", \.tiers, .list(.object))
        Field("features", \.features, .map(.list(.object)))
        Field("stretches", \.stretches, .list(.object))
        Field("statuses", \.statuses, .map(.list(.object)))
        Field("events", \.events, .list(.object))
        Field("late", \.late, .list(.object))
        Field("token", \.token, .token)
    }
}

extension TimelineAnswer {
    /// The line of it.
    package var exported: ExportedTimeline {
        ExportedTimeline(
            question: question,
            tiers: tiers,
            features: features,
            stretches: stretches,
            statuses: statuses,
            events: events.map {
                ExportedTimeline.EventMark(
                    sequence: $0.sequence,
                    type: $0.type,
                    time: $0.time,
                    recordedAt: $0.recordedAt
                )
            },
            late: late,
            token: token
        )
    }
}
