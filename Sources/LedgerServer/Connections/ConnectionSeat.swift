import NIOCore

/// What a connection, or a stream of one, takes up among the others: it is counted while it is there, and
/// gives way while it waits.
///
/// It is its handler's alone, on one event loop.
struct ConnectionSeat {
    private let connections: Connections
    private var kind = Connections.Kind.connection
    private var address: IPAddress?
    private var wait: Connections.Wait?
    private var giveWay: Connections.GiveWay = {}
    /// Whether it is counted.
    private(set) var isTaken = false

    init(_ connections: Connections) { self.connections = connections }

    /// Takes it for a channel, which waits for a head then; false: its address has too many.
    mutating func take(_ channel: any Channel, as kind: Connections.Kind) -> Bool {
        self.kind = kind
        address = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
        guard connections.enter(address, as: kind) else { return false }
        isTaken = true
        giveWay = { channel.close(promise: nil) }
        waitForHead()
        return true
    }

    /// Gives it back.
    mutating func leave() {
        endWait()
        giveWay = {}
        guard isTaken else { return }
        isTaken = false
        connections.leave(address, as: kind)
    }

    /// Waits for a request's head, unless it waits already.
    mutating func waitForHead() {
        guard isTaken, wait == nil else { return }
        wait = connections.waitForHead(giveWay)
    }

    /// Waits for the rest of a body, unless it waits already.
    mutating func waitForBody() {
        guard isTaken, wait == nil else { return }
        wait = connections.waitForBody(giveWay)
    }

    /// Waits no more.
    mutating func endWait() {
        if let wait { connections.endWait(wait) }
        wait = nil
    }
}
