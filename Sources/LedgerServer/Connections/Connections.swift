import HummingbirdCore
import Synchronization

/// The connections that are open: how many in all and from each address, and which give way.
///
/// Where there may be no more, the connection that has been waiting for a head for longest is
/// closed for the one that comes, else the one whose body has been arriving for longest. A tenth of
/// the places is spared for those that wait for a head while bodies arrive: else half-sent bodies,
/// sent as fast as they connect, would close whoever's head is still on its way.
final class Connections: Sendable {
    private let limit: Int
    private let addressLimit: Int
    private let proxies: TrustedProxies
    private let state = Mutex(State())

    private struct State {
        /// Connections, and streams of them.
        var count = 0
        /// Connections alone.
        var connectionCount = 0
        /// As the socket that listens counts them: some are accepted and not yet here.
        var acceptedCount = 0
        var ended: UInt64 = 0
        var byNetwork: [IPAddress: Int] = [:]
        var headless = OldestFirst<GiveWay>()
        var bodiless = OldestFirst<GiveWay>()
        /// Whether somebody waits to be accepted until another gives way.
        var isStalled = false

        /// `spared`: connections waiting for a head that outlast those waiting for a body.
        mutating func removeOldest(spared: Int) -> GiveWay? {
            if headless.count <= spared, let oldest = bodiless.removeOldest() { return oldest }
            return headless.removeOldest() ?? bodiless.removeOldest()
        }
    }

    /// Closes a connection.
    typealias GiveWay = @Sendable () -> Void

    /// A place among those that wait.
    enum Wait {
        case head(UInt64)
        case body(UInt64)
    }

    /// Connections beyond the limit that are accepted while others close.
    private static let excess = 16

    private var spared: Int { limit / 10 }

    /// `limit`: in all; `addressLimit`: from one address, proxies that are trusted apart.
    init(limit: Int, addressLimit: Int, _ proxies: TrustedProxies) {
        self.limit = limit
        self.addressLimit = addressLimit
        self.proxies = proxies
    }

    /// Connections that ended since the beginning.
    var ended: UInt64 { state.withLock { $0.ended } }

    /// What is counted: all of it for who gives way, connections alone for how many are accepted.
    enum Kind {
        case connection
        /// One of HTTP/2, on a connection that is counted by itself.
        case stream
    }

    /// Counts one from an address; false: it has too many.
    func enter(_ address: IPAddress?, as kind: Kind = .connection) -> Bool {
        let network = counted(address)
        let (isIn, evicted) = state.withLock { state -> (Bool, GiveWay?) in
            if let network {
                let count = state.byNetwork[network, default: 0]
                guard count < addressLimit else { return (false, nil) }
                state.byNetwork[network] = count + 1
            }
            state.count += 1
            if kind == .connection { state.connectionCount += 1 }
            return (true, state.count > limit ? state.removeOldest(spared: spared) : nil)
        }
        evicted?()
        return isIn
    }

    /// Takes back what `enter` counted.
    func leave(_ address: IPAddress?, as kind: Kind = .connection) {
        let network = counted(address)
        state.withLock { state in
            state.count -= 1
            if kind == .connection { state.connectionCount -= 1 }
            state.ended &+= 1
            guard let network, let count = state.byNetwork[network] else { return }
            state.byNetwork[network] = count > 1 ? count - 1 : nil
        }
    }

    private func counted(_ address: IPAddress?) -> IPAddress? {
        address.flatMap { proxies.contains($0) ? nil : $0.network }
    }

    /// A connection begins to wait for a head, as one that is new or idle does.
    func waitForHead(_ giveWay: @escaping GiveWay) -> Wait {
        let (ticket, evicted) = state.withLock { state in
            let ticket = state.headless.insert(giveWay)
            guard state.isStalled else { return (ticket, GiveWay?.none) }
            state.isStalled = false
            return (ticket, state.removeOldest(spared: spared))
        }
        evicted?()
        return .head(ticket)
    }

    /// A connection begins to wait for the rest of a body.
    func waitForBody(_ giveWay: @escaping GiveWay) -> Wait {
        .body(state.withLock { $0.bodiless.insert(giveWay) })
    }

    /// What was waited for is there, or the connection is gone.
    func endWait(_ wait: Wait) {
        _ = state.withLock { state in
            switch wait {
            case .head(let ticket): state.headless.remove(ticket)
            case .body(let ticket): state.bodiless.remove(ticket)
            }
        }
    }

    fileprivate func accept() { state.withLock { $0.acceptedCount += 1 } }

    fileprivate func end() {
        state.withLock { state in
            state.acceptedCount -= 1
            state.isStalled = false
        }
    }

    /// Streams of HTTP/2 need no socket: they are none of it.
    fileprivate func isAccepting() -> Bool {
        state.withLock { state in
            let count = max(state.connectionCount, state.acceptedCount)
            if count < limit { return true }
            let someWait = state.headless.count + state.bodiless.count > 0
            if someWait, count < limit + Self.excess { return true }
            state.isStalled = true
            return false
        }
    }

    /// Asked by the socket that listens.
    struct Acceptance: AvailableConnectionsDelegate {
        let connections: Connections

        func connectionOpened() { connections.accept() }
        func connectionClosed() { connections.end() }
        func isAcceptingNewConnections() -> Bool { connections.isAccepting() }
    }
}
