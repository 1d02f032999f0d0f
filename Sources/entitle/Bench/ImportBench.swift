import EntitlementLedger
import Entitlements
import Foundation

/// NDJSON text through the importer, end to end.
struct ImportBench {
    let plan: BenchPlan

    func rows() throws -> [BenchRow] {
        let file = plan.fresh("events") + ".ndjson"
        let lines = try write(BenchEvents(about: plan.events, steps: 10), to: file)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let runs = try plan.measured("import") { _ in
            let bench = try BenchLedger(making: plan.fresh("ledger"))
            let ours = try Stopwatch.seconds {
                var importer = Importer(
                    bench.ledger,
                    ItemReader(format: .events, appStore: nil),
                    .stop,
                    preservesRecordedTime: false,
                    acknowledges: false,
                    progress: Progress("imported")
                )
                guard try importer.run(file), importer.report.appended == lines.count else {
                    throw CommandFailure(.internal, "internal", "an event was not imported")
                }
                _ = try bench.ledger.checkpoint()
                try bench.close()
            }
            let decoder = JSONDecoder()
            let theirs = try Stopwatch.seconds {
                for line in lines { _ = try decoder.decode(DecodedEvent.self, from: line) }
            }
            try bench.discard()
            let count = Double(lines.count)
            return BenchRun(value: count / ours, reference: count / theirs)
        }
        return [
            BenchRow(
                "import",
                unit: "events/s",
                against: "Foundation's JSONDecoder alone, the same lines, one core",
                runs
            )
        ]
    }

    /// Writes the events' lines; returns them.
    private func write(_ events: BenchEvents, to file: String) throws -> [Data] {
        var lines: [Data] = []
        var text = Data()
        for event in events {
            let json = JSONValue.members([
                "specversion": "1.0", "id": .string(event.id), "source": .string(event.source),
                "type": .string(event.kind.name), "subject": .string(event.subject.description),
                "time": .instant(event.time), "environment": .string(event.environment.name),
                "data": event.dataJSON,
            ])
            let line = Data(json.description.utf8)
            lines.append(line)
            text.append(line)
            text.append(0x0A)
        }
        try text.write(to: URL(filePath: file))
        return lines
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
