import EventLog
import Synchronization

/// Ids for requests that bring none: a random word for the process and a count.
final class RequestIDs: Sendable {
    private let process: String
    private let count = Atomic<UInt64>(0)

    init() {
        var randomness = RandomSource.system
        process = Hexadecimal.encode(randomness.bytes(12)) + "-"
    }

    func next() -> String {
        process + String(count.wrappingAdd(1, ordering: .relaxed).newValue, radix: 16)
    }
}
