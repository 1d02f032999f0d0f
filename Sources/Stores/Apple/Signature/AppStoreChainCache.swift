import Synchronization

/// The chains that were verified lately, found by the exact bytes of the header that they came
/// with.
///
/// Bounded: the one that was not used for longest makes room. Only what a trusted root vouches
/// for gets in, so that nobody else can push an entry out. The App Store signs with a few leaves
/// at a time, so looking through all is cheap.
final class AppStoreChainCache: Sendable {
    private let limit: Int
    /// The last used first.
    private let chains = Mutex<[AppStoreChain]>([])

    /// Makes an empty cache of at most `limit` chains; 0: it keeps none.
    init(limit: Int) { self.limit = max(0, limit) }

    /// How many chains it holds.
    var count: Int { chains.withLock { $0.count } }

    /// The chain that came with this header before.
    ///
    /// Headers are kilobytes: they are compared outside the lock.
    func chain(of jws: CompactJWS) -> AppStoreChain? {
        let seen = chains.withLock { $0 }
        guard let index = seen.firstIndex(where: { $0.isHeader(of: jws) }) else { return nil }
        if index > 0 { touch(seen[index]) }
        return seen[index]
    }

    /// Moves a chain to the front, if it is still there.
    private func touch(_ chain: AppStoreChain) {
        chains.withLock { chains in
            guard let index = chains.firstIndex(where: { $0.header == chain.header }) else {
                return
            }
            chains.remove(at: index)
            chains.insert(chain, at: 0)
        }
    }

    /// Keeps a chain, unless another caller has kept the same by now.
    func insert(_ chain: AppStoreChain) {
        chains.withLock { chains in
            guard limit > 0, !chains.contains(where: { $0.header == chain.header }) else { return }
            if chains.count >= limit { chains.removeLast() }
            chains.insert(chain, at: 0)
        }
    }
}
