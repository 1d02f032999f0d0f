import Entitlements
import Foundation

/// Events as `entitle import` takes them, one JSON document a line.
struct EventsFile {
    let path: String

    private static let chunkByteCount = 1 << 20

    /// Writes the events' lines; returns how many they are.
    func write(_ events: BenchEvents) throws -> Int {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else {
            throw CommandFailure(
                .cannotCreate,
                "cannot_create",
                "the file cannot be made",
                place: path
            )
        }
        var chunk = Data()
        for event in events {
            chunk.append(contentsOf: Self.line(event).utf8)
            chunk.append(0x0A)
            if chunk.count >= Self.chunkByteCount {
                try file.write(contentsOf: chunk)
                chunk.removeAll(keepingCapacity: true)
            }
        }
        try file.write(contentsOf: chunk)
        try file.close()
        return events.count
    }

    private static func line(_ event: Event) -> String {
        JSONValue.members([
            "specversion": "1.0", "id": .string(event.id), "source": .string(event.source),
            "type": .string(event.kind.name), "subject": .string(event.subject.description),
            "time": .instant(event.time), "environment": .string(event.environment.name),
            "data": event.dataJSON,
        ])
        .description
    }

    /// Seconds that JSONDecoder takes for all lines, on this core; the reading of the file apart.
    func decodingSeconds() throws -> Double {
        let decoder = JSONDecoder()
        let reader = try LineReader(path)
        var seconds = 0.0
        while true {
            var lines: [Data] = []
            while lines.count < 1000, let line = try reader.next()?.bytes {
                lines.append(Data(line))
            }
            if lines.isEmpty { return seconds }
            seconds += try Stopwatch.seconds {
                for line in lines { _ = try decoder.decode(DecodedEvent.self, from: line) }
            }
        }
    }
}

/// What the reference decodes: the same members, times left as text.
private struct DecodedEvent: Decodable {
    var specversion: String
    var id: String
    var source: String
    var type: String
    var subject: String
    var time: String
    var environment: String
    var data: Details

    struct Details: Decodable {
        var transactionId: String?
        var productId: String?
        var productKind: String?
        var expiresAt: String?
        var priceMicros: Int64?
        var currencyCode: String?
        var storefront: String?
        var method: String?
        var purchase: String?
        var useId: String?
        var featureId: String?
    }
}
