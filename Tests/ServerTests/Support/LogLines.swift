import Encodings
import Entitlements
import Logging
import Synchronization
import Testing

@testable import LedgerServer

/// The lines that a server logs.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func logger() -> Logger {
        Logger(label: "test") { label in
            JSONLogHandler(label: label, level: .info, clock: { noon }) { [self] line in
                lines.withLock { $0.append(line) }
            }
        }
    }

    /// Every line is a JSON object and holds none of the names (law 6).
    func expectNobody(among names: Set<String>) {
        for line in all {
            #expect(Self.names(in: line, among: names) == [])
            #expect(
                (try? JSONValue(parsing: Array(line.utf8)))?.members != nil,
                "not JSON: \(line)"
            )
        }
    }

    /// The names that stand in a line.
    static func names(in line: String, among names: Set<String>) -> [String] {
        names.filter { line.contains($0) }
    }
}
