import Encodings
package import Entitlements
package import Logging

/// Log lines as JSON objects, one a line, for machines to read.
package struct JSONLogHandler: LogHandler {
    /// What stands on every line.
    package var metadata: Logger.Metadata = [:]
    /// The least level that is written.
    package var logLevel: Logger.Level
    private let label: String
    private let clock: @Sendable () -> Instant
    private let write: @Sendable (String) -> Void

    /// Makes a handler.
    ///
    /// `write`: takes one line without its end; called from many threads.
    package init(
        label: String,
        level: Logger.Level,
        clock: @escaping @Sendable () -> Instant,
        write: @escaping @Sendable (String) -> Void
    ) {
        self.label = label
        logLevel = level
        self.clock = clock
        self.write = write
    }

    /// One member of what stands on every line.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes `{"time","level","logger","message", …metadata}`.
    package func log(event: LogEvent) {
        var members = [
            JSONMember("time", .instant(clock())),
            JSONMember("level", .string(event.level.rawValue)),
            JSONMember("logger", .string(label)),
            JSONMember("message", .string(event.message.description)),
        ]
        let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
        for (key, value) in all.sorted(by: { $0.key < $1.key }) {
            members.append(JSONMember(key, .string(value.description)))
        }
        write(JSONValue.object(members).description)
    }
}
