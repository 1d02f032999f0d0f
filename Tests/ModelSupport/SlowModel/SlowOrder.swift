import Encodings
package import Entitlements

extension RecordedEvent {
    package var kind: EventKind { event.kind }
    package var time: Instant { event.time }
    package var data: EventData { event.data }

    /// Whether it was recorded more than a day after it was observed.
    package var isLate: Bool {
        event.observedAt.advanced(byMilliseconds: 86_400_000) < recordedAt
    }

    /// T2: "newer" compares `(observedAt, sequence)`.
    func isNewer(than other: RecordedEvent) -> Bool {
        event.observedAt != other.event.observedAt
            ? event.observedAt > other.event.observedAt : sequence > other.sequence
    }

    /// Order by `(time, sequence)`.
    func isLater(than other: RecordedEvent) -> Bool {
        time != other.time ? time > other.time : sequence > other.sequence
    }
}

extension [RecordedEvent] {
    package func of(_ kinds: EventKind...) -> [RecordedEvent] { filter { kinds.contains($0.kind) } }

    /// T2: the newest.
    var newest: RecordedEvent? {
        first { candidate in
            allSatisfy { $0.sequence == candidate.sequence || candidate.isNewer(than: $0) }
        }
    }

    var inOrderOfTime: [RecordedEvent] { sorted { $1.isLater(than: $0) } }
}

/// Texts in the order of their UTF-8 bytes, each once.
func sortedByBytes(_ texts: [String]) -> [String] {
    Set(texts).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
}
