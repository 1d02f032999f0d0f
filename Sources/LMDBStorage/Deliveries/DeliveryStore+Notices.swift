import Encodings
import EventLog
import LMDB

/// How far a log was looked through for what is to be told.
package struct DeliveryProgress: Sendable, Hashable {
    /// Events that were looked at: the first ones of the log.
    package var size: UInt64
    /// The instant up to which it was looked what time changes, milliseconds since 1970.
    package var instant: Int64

    /// Makes a progress.
    package init(size: UInt64, instant: Int64) {
        self.size = size
        self.instant = instant
    }
}

/// That a stream is to be looked at again.
package struct DueLook: Sendable, Hashable {
    /// When, milliseconds since 1970.
    package var instant: Int64
    /// The stream's number.
    package var stream: UInt64
    /// The stream's environment.
    package var environment: UInt8

    /// Makes one.
    package init(instant: Int64, stream: UInt64, environment: UInt8) {
        self.instant = instant
        self.stream = stream
        self.environment = environment
    }
}

/// Something that was noticed, under a number.
package struct StoredNotice: Sendable, Hashable {
    /// Its number: notices ascend as they came.
    package var number: UInt64
    /// When it was noticed, milliseconds since 1970.
    package var noticedAt: Int64
    /// What it is.
    package var bytes: [UInt8]
}

extension DeliveryStore {
    static let sizeKey = Key(0)
    private static let instantKey = Key(1)
    static let nextNoticeKey = Key(2)
    /// Stands there until all streams were looked at once.
    static let begunKey = Key(3)
    private static let alertsKey = Key(4)

    /// How far it was looked; nil: not at all yet.
    package func lookedThrough() throws -> DeliveryProgress? {
        try reading { transaction in
            guard let size = try transaction.number(progress, Self.sizeKey),
                let instant = try transaction.number(progress, Self.instantKey)
            else { return nil }
            return DeliveryProgress(size: size, instant: Int64(ordered: instant))
        }
    }

    /// Whether no stream was looked at yet: it is not known when each is to be looked at.
    package func isBegun() throws -> Bool {
        try reading { try $0.contains(progress, Self.begunKey) }
    }

    /// Begins to look where nobody did before.
    func begin(_ begun: DeliveryProgress, _ transaction: borrowing WriteTransaction) throws {
        guard try !transaction.contains(progress, Self.sizeKey) else { return }
        try transaction.put(progress, Self.sizeKey, number: begun.size)
        try transaction.put(progress, Self.instantKey, number: begun.instant.ordered)
        try transaction.put(progress, Self.begunKey, number: 1)
    }

    /// Begins anew where the log is another than what was looked through.
    package func beginAgain(_ begun: DeliveryProgress) throws {
        try writing { transaction in
            _ = try transaction.delete(progress, Self.sizeKey)
            try transaction.clear(due)
            try transaction.clear(dueOf)
            try begin(begun, transaction)
        }
    }

    /// Forgets how far it was looked, and what is to be looked at, unless there is somebody who is told.
    package func forgetProgress() throws {
        try writing { transaction in
            guard try transaction.count(endpoints) == 0 else { return }
            _ = try transaction.delete(progress, Self.sizeKey)
            try transaction.clear(due)
            try transaction.clear(dueOf)
        }
    }

    /// Keeps what a look found, all of it or nothing.
    /// - Parameters:
    ///   - progressed: how far it came; nil: as far as before.
    ///   - looks: when streams are to be looked at again, in place of when they were.
    ///   - done: streams that are not to be looked at any more.
    ///   - hasSeenAll: whether all streams were looked at.
    ///   - found: what was noticed, in its order.
    ///   - now: when, milliseconds since 1970.
    /// - Throws: `LogStorageFault`.
    package func note(
        _ progressed: DeliveryProgress?,
        looks: [DueLook],
        done: [UInt64] = [],
        hasSeenAll: Bool = false,
        _ found: [[UInt8]] = [],
        at now: Int64
    ) throws {
        try writing { transaction in
            for stream in done { try forgetLook(at: stream, transaction) }
            for look in looks {
                try forgetLook(at: look.stream, transaction)
                let instant = look.instant.ordered
                try transaction.put(dueOf, Key(look.stream), number: instant)
                try transaction.put(due, Key(instant, look.stream), bytes: [look.environment])
            }
            try add(found, at: now, transaction)
            if hasSeenAll { _ = try transaction.delete(progress, Self.begunKey) }
            if let progressed {
                try transaction.put(progress, Self.sizeKey, number: progressed.size)
                try transaction.put(progress, Self.instantKey, number: progressed.instant.ordered)
            }
        }
    }

    private func add(
        _ found: [[UInt8]],
        at now: Int64,
        _ transaction: borrowing WriteTransaction
    ) throws {
        var next = try transaction.number(progress, Self.nextNoticeKey) ?? 0
        for notice in found {
            let noticed = UInt64(bitPattern: now).bigEndianBytes
            try transaction.put(notices, Key(next), bytes: noticed + notice)
            next += 1  // Fits: one at a time.
        }
        try transaction.put(progress, Self.nextNoticeKey, number: next)
    }

    /// The alerts that stand, as they were kept; nil: none ever were.
    package func standingAlerts() throws -> [UInt8]? {
        try reading { try $0.bytes(progress, Self.alertsKey) }
    }

    /// Keeps which alerts stand, and what is told of those that begin or are over.
    ///
    /// `now`: milliseconds since 1970.
    package func note(alerts: [UInt8], _ found: [[UInt8]], at now: Int64) throws {
        try writing { transaction in
            try transaction.put(progress, Self.alertsKey, bytes: alerts)
            try add(found, at: now, transaction)
        }
    }

    private func forgetLook(at stream: UInt64, _ transaction: borrowing WriteTransaction) throws {
        guard let instant = try transaction.number(dueOf, Key(stream)) else { return }
        _ = try transaction.delete(due, Key(instant, stream))
        _ = try transaction.delete(dueOf, Key(stream))
    }

    /// The streams that are to be looked at by an instant, the first ones, in the order of time.
    package func looks(upTo instant: Int64, limit: Int) throws -> [DueLook] {
        try reading { transaction in
            var looks: [DueLook] = []
            try transaction.scan(due, from: nil) { key, value in
                guard key.count == 16, value.count == 1 else { return false }
                let due = Int64(ordered: key.loadUInt64BigEndian(at: 0))
                guard due <= instant else { return false }
                looks.append(
                    DueLook(
                        instant: due,
                        stream: key.loadUInt64BigEndian(at: 8),
                        environment: value[0]
                    )
                )
                return looks.count < limit
            }
            return looks
        }
    }

    /// The number that the next notice gets.
    package func nextNotice() throws -> UInt64 {
        try reading { try $0.number(progress, Self.nextNoticeKey) ?? 0 }
    }

    /// Notices from a number on, ascending.
    package func notices(from number: UInt64, limit: Int) throws -> [StoredNotice] {
        try reading { transaction in
            var found: [StoredNotice] = []
            try transaction.scan(notices, from: Key(number)) { key, value in
                guard found.count < limit, key.count == 8, value.count >= 8 else { return false }
                found.append(
                    StoredNotice(
                        number: key.loadUInt64BigEndian(at: 0),
                        noticedAt: Int64(bitPattern: value.loadUInt64BigEndian(at: 0)),
                        bytes: value.copy(8..<value.count)
                    )
                )
                return true
            }
            return found
        }
    }

    /// One notice; nil: it is forgotten.
    package func notice(_ number: UInt64) throws -> StoredNotice? {
        try notices(from: number, limit: 1).first { $0.number == number }
    }

    /// Forgets notices that are older than an instant, some at a time.
    ///
    /// - Returns: whether there may be more.
    package func forgetNotices(before instant: Int64, limit: Int) throws -> Bool {
        let old = try numbers(ofNoticesBefore: instant, limit: limit)
        guard let last = old.last else { return false }
        let numbers = try endpointBytes().map(\.number)
        try writing { transaction in
            for number in old { _ = try transaction.delete(notices, Key(number)) }
            // Nobody can send again what is forgotten.
            for number in numbers {
                try transaction.deleteAll(dead, beginningWith: number, upTo: last)
            }
        }
        return old.count == limit
    }
}

extension DeliveryStore {
    /// The first notices, as long as they are older than an instant.
    ///
    /// Cost: a look at each of them, and at the first that is not.
    private func numbers(ofNoticesBefore instant: Int64, limit: Int) throws -> [UInt64] {
        try reading { transaction in
            var found: [UInt64] = []
            try transaction.scan(notices, from: nil) { key, value in
                guard found.count < limit, key.count == 8, value.count >= 8,
                    Int64(bitPattern: value.loadUInt64BigEndian(at: 0)) < instant
                else { return false }
                found.append(key.loadUInt64BigEndian(at: 0))
                return true
            }
            return found
        }
    }
}

extension Int64 {
    /// A number whose order is that of the instants.
    fileprivate var ordered: UInt64 { UInt64(bitPattern: self) ^ 1 << 63 }

    fileprivate init(ordered: UInt64) { self = Int64(bitPattern: ordered ^ 1 << 63) }
}
