import EventLog
import LMDB

/// A delivery of a notice to an endpoint that was not taken.
package struct StoredDelivery: Sendable, Hashable {
    /// The notice.
    package var notice: UInt64
    /// How it stands.
    package var bytes: [UInt8]

    /// Makes one.
    package init(notice: UInt64, bytes: [UInt8]) {
        self.notice = notice
        self.bytes = bytes
    }
}

/// What became of deliveries to an endpoint.
package struct DeliveryOutcomes: Sendable {
    /// The first notice that was not looked at; nil: as it was.
    package var cursor: UInt64?
    /// Deliveries that were taken, or are not wanted any more.
    package var done: [UInt64] = []
    /// Those that are to be tried again.
    package var waiting: [StoredDelivery] = []
    /// Those that are not tried any more.
    package var dead: [StoredDelivery] = []

    /// Nothing yet.
    package init(cursor: UInt64? = nil) { self.cursor = cursor }
}

extension DeliveryStore {
    /// Those who are told, by their numbers.
    package func endpointBytes() throws -> [(number: UInt64, bytes: [UInt8])] {
        try reading { transaction in
            var found: [(number: UInt64, bytes: [UInt8])] = []
            try transaction.scan(endpoints, from: nil) { key, value in
                guard key.count == 8 else { return true }
                found.append((key.loadUInt64BigEndian(at: 0), value.copy()))
                return true
            }
            return found
        }
    }

    /// One who is told; nil: there is none of that number.
    package func endpoint(_ number: UInt64) throws -> [UInt8]? {
        try reading { try $0.bytes(endpoints, Key(number)) }
    }

    /// Adds one who is told of what is noticed from now on.
    ///
    /// `begun`: where it is begun to look if nobody did before.
    ///
    /// - Returns: false: there is one of that number.
    package func addEndpoint(
        _ number: UInt64,
        _ bytes: [UInt8],
        from begun: DeliveryProgress
    ) throws -> Bool {
        let next = try nextNotice()
        return try writing { transaction in
            guard try !transaction.contains(endpoints, Key(number)) else { return false }
            try transaction.put(endpoints, Key(number), bytes: bytes)
            try transaction.put(cursors, Key(number), number: next)
            try begin(begun, transaction)
            return true
        }
    }

    /// Changes one who is told.
    ///
    /// - Returns: nil: there is none of that number; else what `change` makes of it.
    package func changeEndpoint<Changed>(
        _ number: UInt64,
        _ change: ([UInt8]) throws -> (bytes: [UInt8], result: Changed)
    ) throws -> Changed? {
        try writing { transaction in
            guard let bytes = try transaction.bytes(endpoints, Key(number)) else { return nil }
            let changed = try change(bytes)
            try transaction.put(endpoints, Key(number), bytes: changed.bytes)
            return changed.result
        }
    }

    /// Removes one who is told, with what waits for them.
    ///
    /// - Returns: false: there is none of that number.
    package func removeEndpoint(_ number: UInt64) throws -> Bool {
        try writing { transaction in
            guard try transaction.delete(endpoints, Key(number)) else { return false }
            _ = try transaction.delete(cursors, Key(number))
            try transaction.deleteAll(waiting, beginningWith: number)
            try transaction.deleteAll(dead, beginningWith: number)
            return true
        }
    }

    /// The first notice that was not looked at for an endpoint; nil: there is none of that number.
    package func cursor(of endpoint: UInt64) throws -> UInt64? {
        try reading { try $0.number(cursors, Key(endpoint)) }
    }

    /// Deliveries that are tried again, or wait for one that is, in the order of their notices.
    package func waiting(for endpoint: UInt64, limit: Int = .max) throws -> [StoredDelivery] {
        try deliveries(waiting, of: endpoint, limit)
    }

    /// Deliveries that are not tried any more, in the order of their notices.
    package func dead(of endpoint: UInt64, limit: Int = .max) throws -> [StoredDelivery] {
        try deliveries(dead, of: endpoint, limit)
    }

    private func deliveries(
        _ table: Table,
        of endpoint: UInt64,
        _ limit: Int
    ) throws -> [StoredDelivery] {
        try reading { transaction in
            var found: [StoredDelivery] = []
            try transaction.scan(table, from: Key(endpoint, 0)) { key, value in
                guard found.count < limit, key.count == 16,
                    key.loadUInt64BigEndian(at: 0) == endpoint
                else { return false }
                found.append(
                    StoredDelivery(notice: key.loadUInt64BigEndian(at: 8), bytes: value.copy())
                )
                return true
            }
            return found
        }
    }

    /// Keeps what became of deliveries, all of it or nothing; nothing where the endpoint is gone.
    package func record(_ outcomes: DeliveryOutcomes, of endpoint: UInt64) throws {
        try writing { transaction in
            guard try transaction.contains(endpoints, Key(endpoint)) else { return }
            if let cursor = outcomes.cursor {
                try transaction.put(cursors, Key(endpoint), number: cursor)
            }
            for notice in outcomes.done {
                _ = try transaction.delete(waiting, Key(endpoint, notice))
                _ = try transaction.delete(dead, Key(endpoint, notice))
            }
            for delivery in outcomes.waiting {
                _ = try transaction.delete(dead, Key(endpoint, delivery.notice))
                try transaction.put(waiting, Key(endpoint, delivery.notice), bytes: delivery.bytes)
            }
            for delivery in outcomes.dead {
                _ = try transaction.delete(waiting, Key(endpoint, delivery.notice))
                try transaction.put(dead, Key(endpoint, delivery.notice), bytes: delivery.bytes)
            }
        }
    }
}
