package import EventLog
import LMDB
import Synchronization

/// Ids by which somebody is found who reads one out.
extension LMDBVault {
    /// See `Vault`.
    package func identifiersEnd() throws -> UInt64 {
        try reading { epochs in
            guard let cover = try identifiers.cover() else { return 0 }
            if cover.generation == epochs.generation { return cover.end }
            return try isOutdated(epochs) ? nil : 0
        }
    }

    /// See `Vault`.
    package func streams(holding identifier: String) throws -> [UInt64] {
        let found: [UInt64] = try reading { epochs in
            if let streams = try identifiers.streams(holding: identifier, epochs) { return streams }
            // One that a program left behind which does not know of it holds nothing.
            return try isOutdated(epochs) ? nil : []
        }
        let closed = closedStreams
        return found.filter { !closed.contains($0) }
    }

    /// See `Vault`.
    package func identifiersByteCount() throws -> Int? {
        try mappingFaults { try identifiers.byteCount() }
    }

    /// See `Vault`.
    package func checkIdentifiers() throws { try mappingFaults { try identifiers.check() } }

    /// See `Vault`.
    @discardableResult
    package func add(
        _ identifiers: some Collection<HeldIdentifier>,
        from start: UInt64,
        upTo end: UInt64
    ) throws -> Bool {
        try files?.check()
        return try writer.withLock { _ in
            // Who was closed before has its turn behind this lock: none comes in between.
            let closed = closedStreams
            let held = Set(identifiers.lazy.filter { !closed.contains($0.stream) })
            return try mappingFaults {
                try self.identifiers.add(held, from: start, upTo: end, epochs)
            }
        }
    }

    /// See `Vault`.
    package func outdatedShards() throws -> [Int] {
        let cover = try mappingFaults { try identifiers.cover() }
        // One of other epoch keys ends at 0, and is filled whole.
        return cover?.generation == epochs.generation ? cover?.outdated ?? [] : []
    }

    /// See `Vault`.
    ///
    /// Only those that an erasure met: it has moved all names into their table.
    package func streams(ofShard shard: Int) throws -> [UInt64] {
        let found = try mappingFaults {
            try environment.read { try names.streams(of: shard, $0).map(\.stream) }
        }
        let closed = closedStreams
        return found.filter { !closed.contains($0) }
    }

    /// See `Vault`.
    package func add(
        _ identifiers: some Collection<HeldIdentifier>,
        ofOutdated shard: Int
    ) throws {
        try files?.check()
        try writer.withLock { _ in
            let closed = closedStreams
            let held = identifiers.lazy.filter {
                StreamNumber.shard(of: $0.stream) == shard && !closed.contains($0.stream)
            }
            try mappingFaults { try self.identifiers.complete(shard, Set(held), epochs) }
        }
    }

    /// See `Vault`.
    package func removeIdentifiers() throws {
        try writer.withLock { _ in try mappingFaults { try identifiers.clear() } }
    }
}
