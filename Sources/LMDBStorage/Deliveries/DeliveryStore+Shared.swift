import Encodings
import EventLog
import LMDB

/// What machines of a cluster hold in common: all but when streams are to be looked at again, which the log
/// tells, and how far this machine has the others' notices.
extension DeliveryStore {
    /// The number below which notices are those that all have.
    private static let sharedKey = Key(5)

    /// Who is told and how far, with what waits and what is dead, as bytes.
    package struct State: Sendable {
        /// As it is written, and read by ``DeliveryStore/take(_:)``.
        package var bytes: [UInt8]
        /// The first notice that is kept.
        package var first: UInt64
        /// The number that the next notice gets.
        package var next: UInt64

        private static let version: UInt8 = 1
        /// Version, the first notice, the next one.
        private static let headCount = 17

        init(first: UInt64, next: UInt64, entries: [UInt8]) {
            (self.first, self.next) = (first, next)
            bytes = [Self.version] + first.bigEndianBytes + next.bigEndianBytes + entries
        }

        /// Reads it; nil: it is one of a later version's.
        package init?(_ bytes: [UInt8]) {
            guard bytes.count >= Self.headCount, bytes[0] == Self.version else { return nil }
            first = UInt64(bigEndianBytes: bytes[1..<9])
            next = UInt64(bigEndianBytes: bytes[9..<17])
            self.bytes = bytes
        }

        /// Its entries: table, length of the key, key, length of the value in four bytes, value.
        var entries: [(table: UInt8, key: [UInt8], value: [UInt8])]? {
            var rest = bytes[Self.headCount...]
            var found: [(table: UInt8, key: [UInt8], value: [UInt8])] = []
            while let table = rest.popFirst() {
                // Fits: a byte and a few.
                guard let keyCount = rest.popFirst(), rest.count >= Int(keyCount) + 4 else {
                    return nil
                }
                let key = Array(rest.prefix(Int(keyCount)))
                rest = rest.dropFirst(Int(keyCount))
                // Fits: four bytes.
                let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(4)
                guard rest.count >= count, (1...Key.maximumCount).contains(key.count) else {
                    return nil
                }
                found.append((table: table, key: key, value: Array(rest.prefix(count))))
                rest = rest.dropFirst(count)
            }
            return found
        }
    }

    /// The tables that all have, by their numbers in a state.
    private var sharedTables: [(number: UInt8, table: Table)] {
        [(1, endpoints), (2, cursors), (3, waiting), (4, dead), (5, progress)]
    }

    /// What is to be held in common as it stands, but for the notices below the next one.
    package func sharedState() throws -> State {
        try reading { transaction in
            var entries: [UInt8] = []
            for (number, table) in sharedTables {
                try transaction.scan(table, from: nil) { key, value in
                    let name = key.copy()
                    if number == 5, Self.ownKeys.contains(name) { return true }
                    // Fits: a key has 64 bytes at most, a value is one of a few lines.
                    entries += [number, UInt8(name.count)] + name
                    entries += UInt64(value.count).bigEndianBytes.suffix(4)
                    entries += value.copy()
                    return true
                }
            }
            let next = try transaction.number(progress, Self.nextNoticeKey) ?? 0
            let first = try transaction.first(notices) { key, _ in
                key.count == 8 ? key.loadUInt64BigEndian(at: 0) : 0
            }
            return State(first: first ?? next, next: next, entries: entries)
        }
    }

    /// What stands in the table of progress and is this machine's own.
    private static let ownKeys = [3, 5].map { UInt64($0).bigEndianBytes }

    /// Takes over who is told and how far, in place of what stands here; whoever goes on begins by a look at
    /// everybody.
    ///
    /// The notices below the next one are taken over before.
    ///
    /// - Throws: `LogStorageFault.damaged` for what is no state.
    package func take(_ state: State) throws {
        guard let entries = state.entries else {
            throw LogStorageFault(.damaged, "what is told to others is cut short")
        }
        let tables = Dictionary(uniqueKeysWithValues: sharedTables.map { ($0.number, $0.table) })
        try writing { transaction in
            for (_, table) in sharedTables { try transaction.clear(table) }
            try transaction.clear(due)
            try transaction.clear(dueOf)
            for entry in entries {
                // A table of a later version's is none of this one's.
                guard let table = tables[entry.table] else { continue }
                try transaction.put(table, Key(entry.key.span), bytes: entry.value)
            }
            if try transaction.contains(progress, Self.sizeKey) {
                try transaction.put(progress, Self.begunKey, number: 1)
            }
            try transaction.put(progress, Self.sharedKey, number: state.next)
        }
        while try forgetNotices(below: state.first) {}
    }

    private static let pageSize = 1000

    /// Removes notices below a number, some at a time; false: there are no more.
    private func forgetNotices(below number: UInt64) throws -> Bool {
        let old = try notices(from: 0, limit: Self.pageSize).filter { $0.number < number }
        guard !old.isEmpty else { return false }
        try writing { transaction in
            for notice in old { _ = try transaction.delete(notices, Key(notice.number)) }
        }
        return true
    }

    /// The number below which notices are those that all have.
    package func sharedNotices() throws -> UInt64 {
        try reading { try $0.number(progress, Self.sharedKey) ?? 0 }
    }

    /// Notes below which number all have the same notices.
    package func noteShared(below number: UInt64) throws {
        try writing(isOwn: true) { try $0.put(progress, Self.sharedKey, number: number) }
    }

    /// Removes notices from a number on: others may have other ones.
    package func removeNotices(from number: UInt64) throws {
        while true {
            let beyond = try notices(from: number, limit: Self.pageSize)
            guard !beyond.isEmpty else { return }
            try writing { transaction in
                for notice in beyond { _ = try transaction.delete(notices, Key(notice.number)) }
            }
        }
    }

    /// Adds notices that all have, under their numbers.
    package func take(_ others: [StoredNotice]) throws {
        guard let last = others.last else { return }
        try writing { transaction in
            for notice in others {
                let noticed = UInt64(bitPattern: notice.noticedAt).bigEndianBytes
                try transaction.put(notices, Key(notice.number), bytes: noticed + notice.bytes)
            }
            // Fits: below the number that the next one gets.
            try transaction.put(progress, Self.sharedKey, number: last.number + 1)
        }
    }
}

extension [StoredNotice] {
    /// The notices as bytes: number, when, length, content.
    package var page: [UInt8] {
        var bytes: [UInt8] = []
        for notice in self {
            bytes += notice.number.bigEndianBytes
            bytes += UInt64(bitPattern: notice.noticedAt).bigEndianBytes
            bytes += UInt64(notice.bytes.count).bigEndianBytes
            bytes += notice.bytes
        }
        return bytes
    }

    /// Reads a page.
    ///
    /// - Throws: `LogStorageFault.damaged` for what is none.
    package init(page: [UInt8]) throws {
        self.init()
        var rest = page[...]
        func number() throws -> UInt64 {
            guard rest.count >= 8 else {
                throw LogStorageFault(.damaged, "a page of notices is cut short")
            }
            defer { rest = rest.dropFirst(8) }
            return UInt64(bigEndianBytes: rest.prefix(8))
        }
        while !rest.isEmpty {
            let (name, noticed, count) = (try number(), try number(), try number())
            guard count <= UInt64(rest.count) else {
                throw LogStorageFault(.damaged, "a page of notices is cut short")
            }
            // Fits: no more than are there.
            let bytes = Array<UInt8>(rest.prefix(Int(count)))
            rest = rest.dropFirst(bytes.count)
            append(
                StoredNotice(number: name, noticedAt: Int64(bitPattern: noticed), bytes: bytes)
            )
        }
    }
}
