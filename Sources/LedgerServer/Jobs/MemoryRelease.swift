import CMalloc
import ServiceLifecycle

/// Gives memory back to the system after a flood: the C library keeps what was freed, and a server
/// that was crowded once would be large for ever.
struct MemoryRelease: Service {
    let service: LedgerService

    /// How often it is looked.
    private static let interval = Duration.seconds(5)
    /// Bytes of bodies that were let go since the last time, at least.
    private static let byteThreshold: UInt64 = 16 << 20
    /// What a connection is reckoned to hold: its handlers and a buffer for what comes.
    private static let connectionBytes: UInt64 = 32 << 10

    func run() async throws {
        var last = released
        while await Self.interval.passes() {
            let now = released
            guard now &- last >= Self.byteThreshold else { continue }
            last = now
            // Walks what is free, away from the threads that serve connections.
            try await service.blocking { _ = give_back_memory() }
        }
    }

    private var released: UInt64 {
        service.bodies.released &+ service.connections.ended &* Self.connectionBytes
    }
}
