import Crypto
public import EventLog
import FoundationEssentials

/// What an import refused, kept sealed until somebody has looked at it.
///
/// Each day has a key of its own, wrapped by the master key; after 30 days key and items go. A file
/// holds items one after the other: length (u32), then nonce, ciphertext and tag.
public struct Quarantine {
    private let path: String
    private let masterKey: SymmetricKey
    private var randomness: RandomSource

    /// Days after which a day's key is destroyed.
    public static let dayLimit = 30
    /// The folder in a ledger's directory.
    public static let directoryName = "quarantine"
    private static let keySuffix = ".key"
    private static let itemsSuffix = ".items"

    /// Opens the quarantine of a ledger and destroys what is too old.
    ///
    /// `oldest` is the first day that is kept, as `YYYY-MM-DD`.
    public init(
        ledgerPath: String,
        masterKey: [UInt8],
        oldest: String,
        randomness: RandomSource
    ) throws {
        path = ledgerPath + "/" + Self.directoryName
        self.masterKey = SymmetricKey(data: masterKey)
        self.randomness = randomness
        for day in try days() where day < oldest { try destroy(day) }
    }

    /// The quarantine as it stands; nothing is destroyed.
    init(ledgerPath: String, masterKey: SymmetricKey, randomness: RandomSource) {
        path = ledgerPath + "/" + Self.directoryName
        self.masterKey = masterKey
        self.randomness = randomness
    }

    /// The days that have items, ascending.
    public func days() throws -> [String] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path)
            .filter { $0.hasSuffix(Self.itemsSuffix) }
            .map { String($0.dropLast(Self.itemsSuffix.count)) }.sorted()
    }

    /// Adds items to a day, durably.
    public mutating func add(_ items: [[UInt8]], day: String) throws {
        guard !items.isEmpty else { return }
        try DurableFile.makeFolder(path)
        try replace(day, with: try self.items(of: day) + items)
    }

    /// The items of a day, opened.
    ///
    /// - Throws: `SealingFault` if the master key is another, `DecodingFault` for damaged files.
    public func items(of day: String) throws -> [[UInt8]] {
        guard let bytes = try DurableFile.read(path + "/" + day + Self.itemsSuffix),
            let key = try key(of: day)
        else { return [] }
        var cursor = ByteCursor()
        var items: [[UInt8]] = []
        while !cursor.isAtEnd(of: bytes.span) {
            let count = Int(try cursor.uint32(bytes.span))
            let range = try cursor.bytes(bytes.span, count: count)
            items.append(
                try Sealing.open(
                    bytes.span.copy(range),
                    key: key,
                    associatedData: Array(day.utf8)
                )
            )
        }
        return items
    }

    /// Keeps only these items of a day; none: the day goes.
    public mutating func replace(_ day: String, with items: [[UInt8]]) throws {
        guard !items.isEmpty else { return try destroy(day) }
        let key = try key(of: day) ?? makeKey(of: day)
        var writer = ByteWriter()
        for item in items {
            let sealed = try Sealing.seal(
                item,
                key: key,
                nonce: SealingNonce(using: &randomness),
                associatedData: Array(day.utf8)
            )
            writer.append(UInt32(sealed.count))
            writer.append(sealed.span)
        }
        try DurableFile.replace(path + "/" + day + Self.itemsSuffix, with: writer.bytes)
    }

    /// Keeps only these items of a day, under a new key: what the old one sealed is closed.
    mutating func renew(_ day: String, with items: [[UInt8]]) throws {
        try destroy(day)
        try replace(day, with: items)
    }

    /// Wraps the key of each day by another master key; one that it wraps already stays.
    mutating func rewrap(by other: SymmetricKey) throws {
        for day in try days() {
            guard let wrapped = try DurableFile.read(path + "/" + day + Self.keySuffix),
                (try? Sealing.open(wrapped, key: other, associatedData: Array(day.utf8))) == nil,
                let key = try key(of: day)
            else { continue }
            try wrap(StreamKeys.bytes(of: key), of: day, by: other)
        }
    }

    private mutating func wrap(_ key: [UInt8], of day: String, by master: SymmetricKey) throws {
        let wrapped = try Sealing.seal(
            key,
            key: master,
            nonce: SealingNonce(using: &randomness),
            associatedData: Array(day.utf8)
        )
        try DurableFile.replace(path + "/" + day + Self.keySuffix, with: wrapped)
    }

    private func key(of day: String) throws -> SymmetricKey? {
        guard let wrapped = try DurableFile.read(path + "/" + day + Self.keySuffix) else {
            return nil
        }
        return SymmetricKey(
            data: try Sealing.open(wrapped, key: masterKey, associatedData: Array(day.utf8))
        )
    }

    private mutating func makeKey(of day: String) throws -> SymmetricKey {
        let key = randomness.bytes(StreamKeys.byteCount)
        try wrap(key, of: day, by: masterKey)
        return SymmetricKey(data: key)
    }

    private func destroy(_ day: String) throws {
        for suffix in [Self.keySuffix, Self.itemsSuffix] {
            let file = path + "/" + day + suffix
            if FileManager.default.fileExists(atPath: file) {
                try FileManager.default.removeItem(atPath: file)
            }
        }
        try DurableFile.syncDirectory(of: path + "/" + day)
    }
}
