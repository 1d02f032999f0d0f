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
        /// Whether the `recordedtime` that the line carries is no instant.
        var hasUnreadableRecordedTime = false
        /// What was read; nil where it was too long to be kept.
        var bytes: [UInt8]?
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
            RevenueCatImport.outcomes(of: json, body: bytes).enumerated().map { index, outcome in
                Item(
                    line: line.number,
                    result: outcome.mapError {
                        ImportRefusal($0.code.rawValue, $0.path, $0.detail)
                    },
                    bytes: json.array.map { Array($0[index].description.utf8) } ?? bytes
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
            let recordedAt = json["recordedtime"]?.string.flatMap { Instant(rfc3339: $0) }
            return Item(
                line: line.number,
                result: .success(Submission(event: event)),
                recordedAt: recordedAt,
                hasUnreadableRecordedTime: json["recordedtime"] != nil && recordedAt == nil,
                bytes: line.bytes
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
        Item(
            line: line.number,
            result: .failure(ImportRefusal(code, path, detail)),
            bytes: line.bytes
        )
    }
}

extension ImportFormat.Item {
    /// The item, refused if the `recordedtime` that is to be kept is no instant.
    func withReadableRecordedTime() -> ImportFormat.Item {
        guard hasUnreadableRecordedTime, (try? result.get()) != nil else { return self }
        let refusal = ImportRefusal("invalid_value", "recordedtime", "expected an instant")
        return ImportFormat.Item(line: line, result: .failure(refusal))
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
