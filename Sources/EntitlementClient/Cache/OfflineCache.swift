import Crypto
import Encodings
import Entitlements
import LedgerAPI
import Synchronization

/// The last snapshot and gate map on the device (rows Z10, B8).
///
/// Everything is verified each time it is loaded: what does not verify is put aside and told, and
/// never used. That something cannot be written is told too, and stops nobody.
struct OfflineCache: Sendable {
    let storage: any CacheStorage
    let notices: Broadcast<ClientNotice>
    /// What could not be read.
    let unread = UnreadFiles()

    /// What was kept.
    struct Loaded: Sendable {
        var snapshot: VerifiedSnapshot?
        var gates: KeptGates?
        var newestSeen: Instant?
    }

    /// The keys that were fetched from the server; nil: none were.
    func keys() -> TrustedKeys? {
        guard let bytes = read(.keys) else { return nil }
        do {
            return try TrustedKeys(bytes)
        } catch {
            putAside(.keys)
            return nil
        }
    }

    /// Loads what was kept for a customer.
    ///
    /// `keys`: by which it is verified; nil: there are none, and nothing of it can be.
    func load(for subject: SnapshotSubject, by keys: TrustedKeys?) -> Loaded {
        var loaded = Loaded(newestSeen: newestSeen())
        guard let keys else { return loaded }
        if let bytes = read(.snapshot) {
            switch Self.snapshot(bytes).verified(by: keys, for: subject) {
            case .success(var snapshot):
                snapshot.entitlements.source = .snapshot
                loaded.snapshot = snapshot
            case .failure(.subject):
                // Whoever was signed in before left it; it is theirs alone.
                remove(.snapshot)
            case .failure: putAside(.snapshot)
            }
        }
        if let bytes = read(.gates) {
            switch KeptGates.read(bytes, by: keys, for: subject) {
            case .success(let gates): loaded.gates = gates
            case .failure(.subject): remove(.gates)
            case .failure: putAside(.gates)
            }
        }
        return loaded
    }

    /// Keeps a snapshot in place of the last one.
    func keep(_ snapshot: VerifiedSnapshot) { write(Array(snapshot.text.utf8), to: .snapshot) }

    /// Keeps a gate map with the snapshot that vouches for it.
    func keep(_ gates: KeptGates) { write(gates.bytes, to: .gates) }

    /// Keeps keys.
    func keep(_ keys: TrustedKeys) { write(Array(keys.json.description.utf8), to: .keys) }

    /// Keeps the newest time that was seen (row Z17).
    func keep(newestSeen instant: Instant) {
        write(Array(instant.description.utf8), to: .seen)
    }

    /// Milliseconds by which the device's clock was ahead of the server's; nil: it was not.
    func clockAhead() -> Int64? {
        guard let bytes = read(.clock) else { return nil }
        guard let ahead = Int64(String(decoding: bytes, as: UTF8.self)),
            ahead.magnitude <= UInt64(Self.aheadLimit)
        else {
            putAside(.clock)
            return nil
        }
        return ahead
    }

    /// Keeps it.
    func keep(clockAhead ahead: Int64) { write(Array(String(ahead).utf8), to: .clock) }

    /// A hundred years, in milliseconds.
    private static let aheadLimit: Int64 = 36_525 * Instant.millisecondsPerDay

    /// What the store said that it sells, each with when (row 1.4); empty: nothing is kept.
    func products() -> [SoldProduct] {
        guard let bytes = read(.products) else { return [] }
        let kept = DigestedLine.json(bytes.dropLast())?.array?.compactMap { SoldProduct(json: $0) }
        guard let kept, kept.allSatisfy({ $0.asOf != nil }) else {
            putAside(.products)
            return []
        }
        return kept
    }

    /// Keeps what the store said of some ids in place of what it said of them before.
    ///
    /// Where it said nothing of any, everything stays: no catalog is emptied so (row 1.5).
    func keep(_ sold: [SoldProduct], of ids: [String], at instant: Instant) {
        guard !sold.isEmpty else { return }
        var kept = products().filter { !ids.holds($0.id) }
        for var product in sold {
            product.asOf = instant
            kept.append(product)
        }
        write(DigestedLine.bytes(.array(kept.map(\.json))), to: .products)
    }

    /// Takes away what is of a customer (row CL5); keys, and what the store sells, are nobody's.
    func removeAll() {
        for file in [CacheFile.snapshot, .gates, .seen] { remove(file) }
    }

    private func newestSeen() -> Instant? {
        guard let bytes = read(.seen) else { return nil }
        guard let instant = Instant(rfc3339: String(decoding: bytes, as: UTF8.self)),
            instant.isPlausible
        else {
            putAside(.seen)
            return nil
        }
        return instant
    }

    private static func snapshot(_ bytes: [UInt8]) -> UnverifiedSnapshot {
        UnverifiedSnapshot(text: String(decoding: bytes, as: UTF8.self))
    }
}

/// What the disk does not do is told, and the app goes on with what it has.
extension OfflineCache {
    private func read(_ file: CacheFile) -> [UInt8]? {
        let read = tell { () throws(ServiceError) in try storage.read(file) }
        unread.note(file, isRead: read != nil)
        return read ?? nil
    }

    private func write(_ bytes: [UInt8], to file: CacheFile) {
        tell { () throws(ServiceError) in try storage.write(bytes, to: file) }
    }

    private func remove(_ file: CacheFile) {
        tell { () throws(ServiceError) in try storage.remove(file) }
    }

    private func putAside(_ file: CacheFile) {
        notices.send(.cacheRefused(file: file.rawValue))
        tell { () throws(ServiceError) in try storage.putAside(file) }
    }

    @discardableResult
    private func tell<Value>(_ body: () throws(ServiceError) -> Value) -> Value? {
        do {
            return try body()
        } catch {
            notices.send(.cacheFailed(error))
            return nil
        }
    }
}

/// The files that could not be read when that was tried last: before a device is unlocked for the first time
/// they are there, and nobody can.
final class UnreadFiles: Sendable {
    /// Whether each file that was tried could be read.
    private let tried = Mutex<[CacheFile: Bool]>([:])

    /// Whether there is none.
    var isEmpty: Bool { tried.withLock { !$0.values.contains(false) } }

    fileprivate func note(_ file: CacheFile, isRead: Bool) {
        tried.withLock { $0[file] = isRead }
    }
}
