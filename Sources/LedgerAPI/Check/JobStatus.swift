public import Entitlements

/// Something that a server does by itself.
public struct JobStatus: Described {
    /// Its name.
    public var name: String
    /// When it ran last; nil: not yet.
    public var lastRunAt: Instant?
    /// How that ended; nil: it did not run yet.
    public var result: Result?
    /// When it last did what it is there for; nil: never.
    public var lastDoneAt: Instant?
    /// When it runs again; nil: not by itself.
    public var nextRunAt: Instant?

    /// How a run ended.
    public enum Result: String, Sendable, CaseIterable {
        /// It did what it is there for, whatever it found.
        case done
        /// It could not.
        case failed
    }

    /// Makes one that did not run yet.
    package init(name: String) { self.init(name: name, lastRunAt: nil, result: nil) }

    private init(
        name: String,
        lastRunAt: Instant?,
        result: Result?,
        lastDoneAt: Instant? = nil,
        nextRunAt: Instant? = nil
    ) {
        self.name = name
        self.lastRunAt = lastRunAt
        self.result = result
        self.lastDoneAt = lastDoneAt
        self.nextRunAt = nextRunAt
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "Job",
        "Something that a server does by itself",
        { Self(name: $0, lastRunAt: $1, result: $2, lastDoneAt: $3, nextRunAt: $4) }
    ) {
        Field("name", \.name, .text)
        Field("lastRunAt", \.lastRunAt, .orNull(.instant))
        Field("result", \.result, .orNull(.word), "How its last run ended")
        Field(
            "lastDoneAt",
            \.lastDoneAt,
            .orNull(.instant),
            "When it last did what it is there for"
        )
        Field("nextRunAt", \.nextRunAt, .orNull(.instant))
    }
}
