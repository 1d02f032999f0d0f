import Crypto
import DurableFiles
package import EventLog
import FoundationEssentials
import Glibc

/// What an import refused, kept sealed until somebody has looked at it.
///
/// Each day has a key of its own, wrapped by the master key; after 30 days key and items go. A day's
/// items stand in parts, so that adding to a day costs the same however much it holds. A part holds
/// items one after the other: length (u32), then nonce, ciphertext and tag.
package struct Quarantine {
    private let path: String
    private let masterKey: SymmetricKey
    private var randomness: RandomSource
    /// Who imports, and who empties it of what is too old, alone; nil: an erasure's, or only looked
    /// through.
    private let lock: Lock?

    /// A lock file that is held as long as somebody has this.
    private final class Lock: Sendable {
        private let descriptor: Int32

        /// - Throws: `LedgerOpenFault.locked`, `FileFault`.
        init(_ path: String) throws { descriptor = try LedgerDirectory.takeLock(path) }

        deinit { close(descriptor) }
    }

    /// Days after which a day's key is destroyed.
    private static let dayLimit: TimeInterval = 30
    /// The folder in a ledger's directory.
    package static let directoryName = "quarantine"
    /// The file beside it that is held by whoever imports, to the end: two do not try the same again, and
    /// the master key stays.
    static let lockName = directoryName + ".lock"
    /// The file beside it that is held while its files are read or changed, for moments: an erasure
    /// comes between two steps of an import, and waits for no server that is asked.
    private static let filesLockSuffix = ".files.lock"
    /// How often it is waited for, each time as long as for any lock: a day may have many items.
    private static let waits = 60
    private static let keySuffix = ".key"
    private static let itemsSuffix = ".items"
    /// The bytes at which a part is full: more is added to a part of its own.
    static let partLimit = 1 << 20

    /// Opens the quarantine of a ledger and destroys what is too old.
    ///
    /// `oldest` is the first day that is kept, as `YYYY-MM-DD`; nil: every day is.
    package init(
        ledgerPath: String,
        masterKey: [UInt8],
        oldest: String? = nil,
        randomness: RandomSource
    ) throws {
        lock = try Lock(ledgerPath + "/" + Self.lockName)
        path = ledgerPath + "/" + Self.directoryName
        self.masterKey = SymmetricKey(data: masterKey)
        self.randomness = randomness
        guard let oldest else { return }
        for day in try days() where day < oldest { try Self.alone(at: path) { try destroy(day) } }
    }

    /// Has the files of a quarantine alone, for moments; who has them asks for no other lock.
    ///
    /// - Throws: `LedgerOpenFault.locked` where somebody goes on having them; what `body` throws.
    private static func alone<Result>(
        at path: String,
        _ body: () throws -> Result
    ) throws -> Result {
        for _ in 0..<waits {
            let files: Int32?
            do {
                files = try DurableFile.whenFree { try DurableFile.lock(path + filesLockSuffix) }
            } catch let fault as FileFault where fault.code == EROFS {
                // Where nothing can be written nobody changes them.
                return try body()
            }
            guard let files else { continue }
            defer { close(files) }
            return try body()
        }
        throw LedgerOpenFault(.locked, "another process is at what imports refused")
    }

    /// Destroys what is too old in a ledger's quarantine, whatever its key.
    ///
    /// `now`: in milliseconds since 1970.
    ///
    /// - Throws: `LedgerOpenFault.locked` where somebody adds to it, `FileFault`.
    package static func destroyOld(ledgerPath: String, now: Int64) throws {
        guard FileManager.default.fileExists(atPath: ledgerPath + "/" + directoryName) else {
            return
        }
        // Nothing is opened.
        let noKey = [UInt8](repeating: 0, count: StreamKeys.byteCount)
        _ = try Quarantine(
            ledgerPath: ledgerPath,
            masterKey: noKey,
            oldest: oldest(at: now),
            randomness: .system
        )
    }

    /// The first day that is kept, `now` in milliseconds since 1970.
    package static func oldest(at now: Int64) -> String {
        let day = Date(timeIntervalSince1970: TimeInterval(now) / 1000 - dayLimit * 86_400)
        return String(day.ISO8601Format().prefix(10))
    }

    /// The quarantine as it stands; nothing is destroyed.
    init(ledgerPath: String, masterKey: SymmetricKey, randomness: RandomSource) {
        lock = nil
        path = ledgerPath + "/" + Self.directoryName
        self.masterKey = masterKey
        self.randomness = randomness
    }

    /// The days that have items, ascending.
    package func days() throws -> [String] { Set(try parts().map(\.day)).sorted() }

    /// Adds items to a day, durably: all of them or none.
    ///
    /// Cost: what they take, and of what stands there at most a part.
    package mutating func add(_ items: [[UInt8]], day: String) throws {
        guard !items.isEmpty else { return }
        try DurableFile.makeFolder(path, isDurable: true)
        try Self.alone(at: path) {
            // Items that stand without a key are left of a day that was being destroyed: nobody opens them.
            if try key(of: day) == nil { try destroy(day) }
            var part = try parts().last { $0.day == day } ?? Part(day: day, number: 0)
            var bytes = try DurableFile.read(file(part)) ?? []
            if bytes.count >= Self.partLimit {
                part.number += 1
                bytes = []
            }
            try DurableFile.replace(file(part), with: bytes + sealed(items, day))
        }
    }

    /// The items of a day, opened.
    ///
    /// - Throws: `DecodingFault` for damaged files, and if the master key is another.
    package func items(of day: String) throws -> [[UInt8]] {
        try Self.alone(at: path) { try opened(day) }
    }

    /// Keeps other items in place of those that were read of a day; none: the day goes.
    ///
    /// Where an erasure took some of them meanwhile, all that it left stays instead: what is recorded by
    /// now is known when it is tried again. Who is stopped meanwhile leaves more than these, never less.
    package mutating func replace(
        _ read: [[UInt8]],
        of day: String,
        with items: [[UInt8]]
    ) throws {
        try Self.alone(at: path) {
            guard try opened(day) == read else { return }
            try put(items, as: day)
        }
    }

    /// Takes items out of all days; what stays of a day is sealed under a new key: what the old one sealed
    /// is closed.
    mutating func clear(where isGone: ([UInt8]) -> Bool) throws {
        for day in try days() {
            try Self.alone(at: path) {
                let items: [[UInt8]]
                do {
                    items = try opened(day)
                } catch is DecodingFault {
                    // Whom it names nobody can tell: rather others' lines go with it.
                    return try destroy(day)
                }
                let kept = items.filter { !isGone($0) }
                if kept.count < items.count { try renew(day, with: kept) }
            }
        }
    }

    /// Wraps the key of each day by another master key; one that it wraps already stays.
    mutating func rewrap(by other: SymmetricKey) throws {
        for day in try days() {
            try Self.alone(at: path) {
                // What the other key does not open is still to be wrapped by it.
                guard let wrapped = try DurableFile.read(path + "/" + day + Self.keySuffix),
                    Sealing.open(wrapped, key: other, associatedData: Array(day.utf8)) == nil,
                    let key = try key(of: day)
                else { return }
                try wrap(StreamKeys.bytes(of: key), of: day, by: other)
            }
        }
    }

    // MARK: Only for who has the files

    private func opened(_ day: String) throws -> [[UInt8]] {
        guard let key = try key(of: day) else { return [] }
        var items: [[UInt8]] = []
        for part in try parts() where part.day == day {
            guard let bytes = try DurableFile.read(file(part)) else { continue }
            var cursor = ByteCursor()
            while !cursor.isAtEnd(of: bytes.span) {
                let count = Int(try cursor.uint32(bytes.span))
                let range = try cursor.bytes(bytes.span, count: count)
                let item = Sealing.open(
                    bytes.span.copy(range),
                    key: key,
                    associatedData: Array(day.utf8)
                )
                guard let item else { throw DecodingFault.unopened }
                items.append(item)
            }
        }
        return items
    }

    /// Keeps only these items of a day; none: the day goes.
    private mutating func put(_ items: [[UInt8]], as day: String) throws {
        guard !items.isEmpty else { return try destroy(day) }
        let old = try parts().filter { $0.day == day && $0.number > 0 }
        try DurableFile.replace(file(Part(day: day, number: 0)), with: sealed(items, day))
        for part in old { DurableFile.remove(file(part)) }
        try DurableFile.syncDirectory(of: file(Part(day: day, number: 0)))
    }

    /// A file of a day's items; the first one's number is 0.
    private struct Part {
        var day: String
        var number: Int
    }

    private func file(_ part: Part) -> String {
        path + "/" + part.day + (part.number == 0 ? "" : ".\(part.number)") + Self.itemsSuffix
    }

    /// All parts, those of a day in their order.
    private func parts() throws -> [Part] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path)
            .filter { $0.hasSuffix(Self.itemsSuffix) }
            .compactMap { name in
                let words = name.dropLast(Self.itemsSuffix.count).split(separator: ".")
                guard let day = words.first, words.count <= 2,
                    let number = words.count == 1 ? 0 : UInt32(words[1]).map(Int.init)
                else { return nil }
                return Part(day: String(day), number: number)
            }
            .sorted { ($0.day, $0.number) < ($1.day, $1.number) }
    }

    private mutating func sealed(_ items: [[UInt8]], _ day: String) throws -> [UInt8] {
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
        return writer.bytes
    }

    /// Keeps only these items of a day, under a new key.
    ///
    /// They stand under another name first, one mark longer, which is as old: who is stopped meanwhile
    /// leaves them twice, never less.
    private mutating func renew(_ day: String, with items: [[UInt8]]) throws {
        var name = day + "+"
        while try key(of: name) != nil { name += "+" }
        if !items.isEmpty { try put(items, as: name) }
        try destroy(day)
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
        let key = Sealing.open(wrapped, key: masterKey, associatedData: Array(day.utf8))
        guard let key else { throw DecodingFault.unopened }
        return SymmetricKey(data: key)
    }

    private mutating func makeKey(of day: String) throws -> SymmetricKey {
        let key = randomness.bytes(StreamKeys.byteCount)
        try wrap(key, of: day, by: masterKey)
        return SymmetricKey(data: key)
    }

    /// Destroys a day's key and items: the key first, for a day without items is not looked for again.
    private func destroy(_ day: String) throws {
        let files = try parts().filter { $0.day == day }.map(file)
        for file in [path + "/" + day + Self.keySuffix] + files
        where FileManager.default.fileExists(atPath: file) {
            try FileManager.default.removeItem(atPath: file)
        }
        try DurableFile.syncDirectory(of: path + "/" + day)
    }
}
