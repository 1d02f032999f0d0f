import GRDB

/// Seconds and the latencies of single operations.
struct Figures {
    var count: Int
    var seconds: Double
    var latencies: [Duration]

    /// One line of JSON; latencies in microseconds.
    func json(_ version: String) -> String {
        let sorted = latencies.sorted()
        func microseconds(_ share: Double) -> Double {
            sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] / .microseconds(1)
        }
        return """
            {"count":\(count),"seconds":\(seconds),"p50":\(microseconds(0.5)),\
            "p99":\(microseconds(0.99)),"version":"\(version)"}
            """
    }
}

extension EventTable {
    /// Callers at once, each one event after the other, each in a transaction of its own.
    func append(_ events: [RecordColumns], callers: Int) async throws -> Figures {
        let pool = pool
        let clock = ContinuousClock()
        let start = clock.now
        let latencies = try await withThrowingTaskGroup(of: [Duration].self) { group in
            for caller in 0..<callers {
                group.addTask {
                    var latencies: [Duration] = []
                    for index in stride(from: caller, to: events.count, by: callers) {
                        let own = events[index...index]
                        let start = clock.now
                        if callers == 1 {
                            try Self.insertOnThisThread(own, pool)
                        } else {
                            try await pool.write { try Self.insert(own, $0) }
                        }
                        latencies.append(clock.now - start)
                    }
                    return latencies
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let seconds = (clock.now - start) / .seconds(1)
        return Figures(count: events.count, seconds: seconds, latencies: latencies)
    }

    /// A lone caller does not hop to another thread.
    private static func insertOnThisThread(
        _ events: ArraySlice<RecordColumns>,
        _ pool: DatabasePool
    ) throws {
        try pool.write { try insert(events, $0) }
    }

    /// One caller, groups of events in a transaction each.
    func append(_ events: [RecordColumns], groupsOf size: Int) throws -> Figures {
        let clock = ContinuousClock()
        let start = clock.now
        var latencies: [Duration] = []
        for first in stride(from: 0, to: events.count, by: size) {
            let group = events[first..<min(first + size, events.count)]
            let start = clock.now
            try pool.write { try Self.insert(group, $0) }
            latencies.append(clock.now - start)
        }
        let seconds = (clock.now - start) / .seconds(1)
        return Figures(count: events.count, seconds: seconds, latencies: latencies)
    }

    /// Until when a customer's purchase lasts at (T, R), for random customers and points.
    ///
    /// All in one read transaction: the rows of the customer known at R name the purchase; of its
    /// rows known at R, the latest period that has begun at T counts. Links, refunds, claims of
    /// others, features and limits are not looked at.
    func states(of events: [RecordColumns], operations: Int, seed: UInt64) throws -> Figures {
        let clock = ContinuousClock()
        let customers = Array(
            Set(events.filter { $0.kind == RecordColumns.claimed }.map(\.stream))
        ).sorted()
        let times = (events.map(\.time).min() ?? 0)...(events.map(\.time).max() ?? 0)
        guard !customers.isEmpty else { throw PeerFault("no customers") }
        var random = SplitMix64(state: seed)
        return try pool.read { database in
            let claims = try database.cachedStatement(
                sql: """
                    SELECT kind, other FROM event WHERE stream = ? AND sequence <= ?
                    ORDER BY sequence
                    """
            )
            let periods = try database.cachedStatement(
                sql: """
                    SELECT kind, time, ends FROM event WHERE stream = ? AND sequence <= ?
                    ORDER BY sequence
                    """
            )
            var latencies: [Duration] = []
            var subscribed = 0
            let start = clock.now
            for _ in 0..<operations {
                let customer = customers[Int.random(in: 0..<customers.count, using: &random)]
                let at = Int64.random(in: times, using: &random)
                let known = Int.random(in: 0...events.count, using: &random)
                let start = clock.now
                var purchase: Int64?
                let owned = try Row.fetchCursor(claims, arguments: [customer, known])
                while let row = try owned.next() {
                    let kind: Int64 = row[0]
                    if kind == RecordColumns.claimed { purchase = row[1] }
                }
                var until: Int64 = 0
                if let purchase {
                    let rows = try Row.fetchCursor(periods, arguments: [purchase, known])
                    while let row = try rows.next() {
                        let begun: Int64 = row[1]
                        guard begun <= at, let ends: Int64 = row[2] else { continue }
                        until = max(until, ends)
                    }
                }
                if until > at { subscribed += 1 }
                latencies.append(clock.now - start)
            }
            guard subscribed > 0 else { throw PeerFault("nobody ever subscribes") }
            let seconds = (clock.now - start) / .seconds(1)
            return Figures(count: operations, seconds: seconds, latencies: latencies)
        }
    }
}

/// Words from a seed (splitmix64, Steele and others 2014).
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
