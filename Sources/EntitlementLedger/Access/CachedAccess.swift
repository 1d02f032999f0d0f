package import Encodings
package import Entitlements
import EventLog
import Synchronization

/// What a customer may use as of now, worked out by one fold: it holds until an event about the
/// customer or a catalog comes, or an instant passes (Z15).
package final class CachedAccess: Sendable {
    /// The next instant at which what may be used changes by itself, as answers say it; nil: never.
    package let validUntil: Instant?
    /// Until when the answers are these: to ``validUntil``, or to the next catalog, which may sell other products
    /// and change nothing else; nil: for good.
    package let holdsUntil: Instant?
    /// Every feature of the catalog in force, by its id; nil: only ``allows(_:)`` was asked.
    package let features: [Name: Feature]?
    private let usable: Set<Name>
    private let from: Instant
    private let streams: StreamList
    private let size: Atomic<UInt64>

    /// One feature.
    package struct Feature: Sendable {
        /// Whether it is allowed and something is left of its limit (K5, C5).
        package let isUsable: Bool
        /// Why it is allowed.
        package let reason: AccessReason
        /// Why it cannot be used although it is allowed.
        package let refusal: CustomerState.UseRefusal?
        /// `KeptDecision` as JSON text, made once.
        package let text: [UInt8]
        /// What `ContentDigest` makes of the text, made once.
        package let digest: String
    }

    /// `from`: the instant of the fold; the answers speak of this one and later ones.
    ///
    /// `nextCatalog`: when the next catalog comes into force; nil: none does.
    ///
    /// `size`: of the log, from which on an event of one of the streams ends it.
    init(
        usable: Set<Name>,
        features: [Name: Feature]?,
        from: Instant,
        validUntil: Instant?,
        nextCatalog: Instant? = nil,
        size: UInt64,
        streams: [UInt64]
    ) {
        self.usable = usable
        self.features = features
        self.from = from
        self.validUntil = validUntil
        holdsUntil = [validUntil, nextCatalog].compactMap(\.self).min()
        self.size = Atomic(size)
        self.streams = StreamList(streams)
    }

    /// Whether a feature may be used (K5, C5); false for one that the catalog does not have.
    package func allows(_ feature: String) -> Bool { usable.contains(Name(feature)) }

    /// Whether the answers are those of an instant, as far as the log and the views know.
    ///
    /// Cost: a few words in memory, unless an event came whose stream shares a word with one of
    /// these; then the views tell.
    func holds(at now: Instant, in views: Views) throws -> Bool {
        guard from <= now, holdsUntil.map({ now < $0 }) ?? true else { return false }
        let size = size.load(ordering: .acquiring)
        if isCertainlyUnmoved(since: size, views.moves) { return true }
        let end = views.end
        guard try areUnmoved(since: size, in: views) else { return false }
        _ = self.size.max(end, ordering: .acquiringAndReleasing)
        return true
    }

    private func isCertainlyUnmoved(since size: UInt64, _ moves: StreamMoves) -> Bool {
        guard moves.isCertainlyUnmoved(StreamNumber.catalog, since: size) else { return false }
        for index in 0..<streams.count
        where !moves.isCertainlyUnmoved(streams[index], since: size) {
            return false
        }
        return true
    }

    private func areUnmoved(since size: UInt64, in views: Views) throws -> Bool {
        guard try views.isUnmoved(StreamNumber.catalog, since: size) else { return false }
        for index in 0..<streams.count {
            guard try views.isUnmoved(streams[index], since: size) else { return false }
        }
        return true
    }

    /// Whether it was worked out from no later event than those of a prefix.
    func isUnmoved(since size: UInt64, in views: Views) throws -> Bool {
        try areUnmoved(since: min(size, self.size.load(ordering: .acquiring)), in: views)
    }

    /// Bytes that it takes, about; what may be used is shared with others.
    var byteCount: Int {
        let plain = Self.plainByteCount + 8 * max(0, streams.count - StreamList.placeCount)
        return (features ?? [:]).reduce(plain) {
            $0 + Self.featureByteCount + $1.key.text.utf8.count + $1.value.text.count
        }
    }

    /// The object itself, its place in the cache and in the order of what goes first.
    private static let plainByteCount = 240
    /// A feature's place among others, its digest, and what the text takes beside itself.
    private static let featureByteCount = 240
}

/// Numbers of streams, of which the first stand in place: few customers have more.
private struct StreamList: Sendable {
    static let placeCount = 4

    let count: Int
    private var first: InlineArray<4, UInt64> = .init(repeating: 0)
    private let rest: [UInt64]

    init(_ streams: [UInt64]) {
        count = streams.count
        for (index, stream) in streams.prefix(Self.placeCount).enumerated() {
            first[index] = stream
        }
        rest = Array(streams.dropFirst(Self.placeCount))
    }

    subscript(index: Int) -> UInt64 {
        index < Self.placeCount ? first[index] : rest[index - Self.placeCount]
    }
}
