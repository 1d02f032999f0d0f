import DurableFiles
import Encodings
import Entitlements
import Foundation
import LMDBStorage
import LedgerOperations

/// Events as `entitle import` takes them, one JSON document a line.
struct EventsFile {
    let path: String

    /// Writes the events' lines; returns how many they are.
    func write(_ events: BenchEvents) throws -> Int {
        let file = try OutputFile.open(path)
        for event in events { try file.write((Self.line(event) + "\n").utf8) }
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
