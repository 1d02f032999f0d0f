public import Encodings
public import Entitlements
import EventLog
import LedgerAPI
import Synchronization

/// The features of a customer as they stand: one fold, whose answers hold until an event about the
/// customer or a catalog comes, or an instant passes (Z15).
public struct StandingFeatures: Sendable {
    /// The next instant at which an answer changes by itself; nil: never.
    public let validUntil: Instant?
    /// Every feature of the catalog in force, by its id.
    public let features: [Name: Feature]
    let from: Instant
    let size: UInt64
    let streams: [UInt64]

    /// One feature.
    public struct Feature: Sendable {
        /// Whether the feature is allowed (K5).
        public let isAllowed: Bool
        /// Why.
        public let reason: AccessReason
        /// `FeatureAccess` as JSON text, made once.
        public let text: [UInt8]
        /// What `ContentDigest` makes of the text, made once.
        public let digest: String
    }

    /// Bytes that it takes, about.
    var byteCount: Int {
        features.reduce(256) { $0 + 160 + $1.key.text.utf8.count + $1.value.text.count }
            + streams.count * 8
    }
}

extension Ledger {
    /// The features of a customer as they were folded before; nil if they must be folded anew.
    ///
    /// Made for the caller's thread: no fold, no wait, O(1) in the log.
    public func keptFeatures(
        of customer: String,
        environment: StoreEnvironment,
        at now: Instant
    ) throws -> StandingFeatures? {
        if isReadOnly, try views.end < log.end().size { return nil }
        let key = StandingFeaturesShelf.Key(environment: environment, customer: customer)
        guard let kept = standing[key], kept.from <= now,
            kept.validUntil.map({ now < $0 }) ?? true,
            try views.isUnmoved(StreamNumber.catalog, since: kept.size)
        else { return nil }
        for stream in kept.streams {
            guard try views.isUnmoved(stream, since: kept.size) else { return nil }
        }
        return kept
    }

    /// Folds the features of a customer at an instant, everything known, and keeps them.
    ///
    /// A customer of whom nothing was recorded is not kept: nothing would tell when they come.
    public func foldFeatures(
        of customer: String,
        environment: StoreEnvironment,
        at now: Instant
    ) throws -> StandingFeatures {
        let size = try log.end().size
        let (timeline, streams) = try loadTimeline(
            of: customer,
            environment: environment,
            size: size
        )
        let state = timeline.state(at: now)
        let names = RecordedNames(ledger: self)
        var features: [Name: StandingFeatures.Feature] = [:]
        for feature in state.features {
            let text = AnswerText(try FeatureAccess(feature, names: names)).bytes
            features[feature.id] = StandingFeatures.Feature(
                isAllowed: feature.isAllowed,
                reason: feature.reason,
                text: text,
                digest: ContentDigest.text(of: text)
            )
        }
        let standing = StandingFeatures(
            validUntil: state.validUntil,
            features: features,
            from: now,
            size: size,
            streams: streams
        )
        if !streams.isEmpty {
            self.standing.keep(
                standing,
                for: StandingFeaturesShelf.Key(environment: environment, customer: customer)
            )
        }
        return standing
    }
}

/// Features that were folded, bounded by the bytes that they take; the oldest go first.
final class StandingFeaturesShelf: Sendable {
    struct Key: Hashable, Sendable {
        let environment: StoreEnvironment
        /// Two ways to write an accent are two customers (row 9.4).
        @Bytewise var customer: String
    }

    /// Bytes that all shards hold together, about.
    static let byteLimit = 64 << 20
    private static let shardCount = 16

    private struct Shard {
        var kept: [Key: StandingFeatures] = [:]
        /// Keys in the order in which they came.
        var order: [Key] = []
        var firstInOrder = 0
        var byteCount = 0

        mutating func keep(_ features: StandingFeatures, for key: Key) {
            if let old = kept.updateValue(features, forKey: key) {
                byteCount -= old.byteCount
            } else {
                order.append(key)
            }
            byteCount += features.byteCount
            while byteCount > byteLimit / shardCount, firstInOrder < order.count {
                if let old = kept.removeValue(forKey: order[firstInOrder]) {
                    byteCount -= old.byteCount
                }
                firstInOrder += 1
            }
            if firstInOrder > order.count / 2 {
                order.removeFirst(firstInOrder)
                firstInOrder = 0
            }
        }
    }

    private let shards: [ShardBox] = (0..<shardCount).map { _ in ShardBox() }

    private final class ShardBox: Sendable {
        let shard = Mutex(Shard())
    }

    private func box(of key: Key) -> ShardBox {
        shards[Int(UInt(bitPattern: key.hashValue) % UInt(Self.shardCount))]
    }

    /// Forgets everything.
    func removeAll() {
        for box in shards { box.shard.withLock { $0 = Shard() } }
    }

    subscript(key: Key) -> StandingFeatures? {
        box(of: key).shard.withLock { $0.kept[key] }
    }

    func keep(_ features: StandingFeatures, for key: Key) {
        box(of: key).shard.withLock { $0.keep(features, for: key) }
    }
}
