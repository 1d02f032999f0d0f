import Entitlements
import Stores

/// What an import reads, and how.
enum ImportFormat: String, CaseIterable {
    case auto, events, revenuecat

    /// One thing that a line hands in.
    struct Item {
        var line: Int
        var result: Result<Submission, ImportRefusal>
        /// The `recordedtime` that the line carries.
        var recordedAt: Instant?
    }

    /// Reads one line; an array of webhooks gives several items.
    func items(_ line: LineReader.Line) -> [Item] {
        guard let bytes = line.bytes else {
            return [
                refused(
                    line,
                    "too_large",
                    "",
                    "a line has at most \(LineReader.lineByteLimit) bytes"
                )
            ]
        }
        do {
            return items(try JSONValue(parsing: bytes), bytes, line)
        } catch {
            return [
                refused(line, "malformed", "", "not JSON at byte \(error.offset): \(error.message)")
            ]
        }
    }

    /// Reads one JSON value.
    func items(_ json: JSONValue, _ bytes: [UInt8], _ line: LineReader.Line) -> [Item] {
        switch self {
        case .events: [event(json, line)]
        case .revenuecat:
            RevenueCatImport.outcomes(of: json, body: bytes).map { outcome in
                Item(
                    line: line.number,
                    result: outcome.mapError {
                        ImportRefusal($0.code.rawValue, $0.path, $0.detail)
                    }
                )
            }
        case .auto:
            RevenueCatImport.looksLikeWebhook(json)
                ? Self.revenuecat.items(json, bytes, line) : Self.events.items(json, bytes, line)
        }
    }

    private func event(_ json: JSONValue, _ line: LineReader.Line) -> Item {
        do {
            var event = try Event(validating: json)
            if let document = event.data.document {
                event.data = EventData(
                    recorded: .catalogPublished,
                    entries: [],
                    document: TimeZones.resolved(document)
                )
            }
            return Item(
                line: line.number,
                result: .success(Submission(event: event)),
                recordedAt: json["recordedtime"]?.string.flatMap { Instant(rfc3339: $0) }
            )
        } catch {
            return refused(line, error.code.rawValue, error.path, error.detail)
        }
    }

    private func refused(
        _ line: LineReader.Line,
        _ code: String,
        _ path: String,
        _ detail: String
    ) -> Item {
        Item(line: line.number, result: .failure(ImportRefusal(code, path, detail)))
    }
}

/// Why an item was not appended.
struct ImportRefusal: Error {
    var code: String
    var path: String
    var detail: String

    init(_ code: String, _ path: String, _ detail: String) {
        self.code = code
        self.path = path
        self.detail = detail
    }
}
