import Entitlements
import ModelSupport

extension [RecordedEvent] {
    /// The same events at distinct times, observed at distinct times, and recorded before any of them: what
    /// was recorded late is warned of by the order of arrival (`unconfirmed`).
    var withoutTies: [RecordedEvent] {
        enumerated().map { index, recorded in
            var recorded = recorded
            let shift = Int64(index) * 10
            recorded.event.time = recorded.time.advanced(byMilliseconds: shift)
            recorded.event.observedAt =
                recorded.event.observedAt.advanced(byMilliseconds: shift)
            recorded.recordedAt = Instant(milliseconds: 0)
            return recorded
        }
    }

    /// Another order of arrival, in which links keep theirs among each other (C2, P13).
    func permuted(using random: inout SplitMix64) -> [RecordedEvent] {
        arriving(in: indices.shuffled(using: &random))
    }

    /// The events in another order of arrival, in which links keep theirs among each other.
    func arriving(in order: [Int]) -> [RecordedEvent] {
        var links = of(.customerLinked, .purchaseLinked).makeIterator()
        let events = order.compactMap { index in
            [.customerLinked, .purchaseLinked].contains(self[index].kind)
                ? links.next() : self[index]
        }
        return zip(self, events).map { place, recorded in
            RecordedEvent(
                sequence: place.sequence,
                recordedAt: place.recordedAt,
                event: recorded.event
            )
        }
    }
}
