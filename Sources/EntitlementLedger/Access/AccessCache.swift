import Encodings
import Entitlements
import EventLog
import Synchronization

/// What customers may use now, as it was worked out when they were asked for; bounded by the bytes
/// that it takes, the oldest goes first.
///
/// Keys are hashes under a key of this process: no customer's name stands in it.
final class AccessCache: Sendable {
    private static let shardBits: UInt64 = 6
    /// Sets of features that customers share; more of them stand in their customers alone.
    private static let sharedLimit = 4096

    private let key: CustomerHash.Key
    private let byteLimit: Int
    private let shards = (0..<(1 << shardBits)).map { _ in Shard() }
    private let shared = Mutex<Set<Set<Name>>>([])
    private let epochs = Atomic<UInt64>(0)

    private final class Shard: Sendable {
        let content = Mutex(Content())
    }

    fileprivate struct Content {
        var cached: [CustomerHash: CachedAccess] = [:]
        /// Customers in the order in which they came.
        var order: [CustomerHash] = []
        var firstInOrder = 0
        var byteCount = 0
    }

    init(using randomness: RandomSource, byteLimit: Int) {
        key = CustomerHash.Key(using: randomness)
        self.byteLimit = byteLimit
    }

    /// The key of a customer.
    func hash(of customer: CustomerID, _ environment: StoreEnvironment) -> CustomerHash {
        CustomerHash(customer, environment, key)
    }

    /// What was worked out of a customer, whether it still holds or not.
    subscript(customer: CustomerHash) -> CachedAccess? {
        shard(of: customer).content.withLock { $0.cached[customer] }
    }

    /// Ends each time everybody is forgotten.
    var epoch: UInt64 { epochs.load(ordering: .acquiring) }

    /// Keeps what was worked out of a customer, unless everybody was forgotten meanwhile.
    ///
    /// `epoch`: in which the work began.
    func keep(_ access: CachedAccess, of customer: CustomerHash, since epoch: UInt64) {
        let limit = byteLimit >> Self.shardBits
        shard(of: customer).content.withLock { content in
            guard epoch == self.epoch else { return }
            content.keep(access, of: customer, limit: limit)
        }
    }

    /// Forgets everybody.
    func removeAll() {
        epochs.add(1, ordering: .acquiringAndReleasing)
        for shard in shards { shard.content.withLock { $0 = Content() } }
    }

    /// A set of features, held once for all who have it: a tier's customers may use the same.
    func sharing(_ features: Set<Name>) -> Set<Name> {
        shared.withLock { shared in
            if shared.count >= Self.sharedLimit { shared = [] }
            return shared.insert(features).memberAfterInsert
        }
    }

    private func shard(of customer: CustomerHash) -> Shard {
        shards[Int(truncatingIfNeeded: customer.high >> (64 - Self.shardBits))]
    }
}

extension AccessCache.Content {
    fileprivate mutating func keep(
        _ access: CachedAccess,
        of customer: CustomerHash,
        limit: Int
    ) {
        if let old = cached.updateValue(access, forKey: customer) {
            byteCount -= old.byteCount
        } else {
            order.append(customer)
        }
        byteCount += access.byteCount
        while byteCount > limit, firstInOrder < order.count {
            if let old = cached.removeValue(forKey: order[firstInOrder]) {
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
