import LedgerAPI

/// What a client keeps on the device, by names that name nobody.
enum CacheFile: String, Sendable, CaseIterable {
    /// The last snapshot: a compact JWS.
    case snapshot = "snapshot.jws"
    /// The gate map behind the snapshot that vouches for it.
    case gates = "gates"
    /// The keys that were fetched.
    case keys = "jwks.json"
    /// The newest time that was ever seen.
    case seen = "seen"
    /// How far the device's clock is from the server's.
    case clock = "clock"
    /// What must reach the server.
    case queue = "queue"
    /// What the store said that it sells: nobody's.
    case products = "products"
}

/// Where a client keeps its files; each call is whole or throws.
///
/// - Throws: `ServiceError` `DB_ERROR`: an app goes on without what it could not keep.
protocol CacheStorage: Sendable {
    /// What a file holds; nil: there is none.
    func read(_ file: CacheFile) throws(ServiceError) -> [UInt8]?
    /// Writes a file whole, or leaves it as it was.
    func write(_ bytes: [UInt8], to file: CacheFile) throws(ServiceError)
    /// Adds bytes to a file, on the disk when it returns; a torn end may stand where it throws.
    func append(_ bytes: [UInt8], to file: CacheFile) throws(ServiceError)
    /// Writes a file whole by what it holds, to which no other program adds meanwhile, or leaves it as it was.
    ///
    /// `body`: told what it holds; nil: there is none.
    func rewrite(_ file: CacheFile, _ body: ([UInt8]?) -> [UInt8]) throws(ServiceError)
    /// Takes a file away, and what was put aside of it.
    func remove(_ file: CacheFile) throws(ServiceError)
    /// Keeps a file that does not verify beside its place, for whoever looks into it.
    func putAside(_ file: CacheFile) throws(ServiceError)
}

extension CacheStorage {
    /// Of files that no other program has.
    func rewrite(_ file: CacheFile, _ body: ([UInt8]?) -> [UInt8]) throws(ServiceError) {
        try write(body(read(file)), to: file)
    }
}

extension ServiceError {
    /// A kept file is larger than any that is read.
    static let keptFileTooLarge = ServiceError(.databaseError, nativeCode: "file/too_large")
}
