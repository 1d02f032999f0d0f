import NIOCore
import NIOEmbedded
import Testing

@testable import LedgerServer

/// What stands before the encryption of a connection, by a clock that the test turns.
struct `A connection's door` {
    private static let limits = RequestDeadline.Limits()

    private static func opened() throws -> (EmbeddedChannel, ConnectionDoor) {
        let door = ConnectionDoor(Connections(limit: 9, addressLimit: 9, .none), limits)
        let channel = EmbeddedChannel(handler: door)
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
        return (channel, door)
    }

    private static func turn(_ channel: EmbeddedChannel, _ amount: TimeAmount) {
        channel.embeddedEventLoop.advanceTime(by: amount)
    }

    private static func end(_ channel: EmbeddedChannel) {
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }

    @Test func `closes where no request begins`() throws {
        let (channel, _) = try Self.opened()
        Self.turn(channel, Self.limits.head - .milliseconds(1))
        #expect(channel.isActive)
        Self.turn(channel, .milliseconds(1))
        #expect(!channel.isActive)
    }

    // Who speaks HTTP/2 is asked to end, and may never say that it heard it.
    @Test func `closes behind the last stream, a little later than it is asked to`() throws {
        let (channel, door) = try Self.opened()
        #expect(door.streamBegins() && door.streamBegins())
        Self.turn(channel, .hours(1))
        door.streamEnded()
        Self.turn(channel, .hours(1))
        #expect(channel.isActive, "one is open")
        door.streamEnded()
        Self.turn(channel, Self.limits.pause)
        #expect(channel.isActive && door.streamBegins(), "the control: it is used again")
        Self.turn(channel, .hours(1))
        door.streamEnded()
        Self.turn(channel, Self.limits.pause + Self.limits.linger)
        #expect(!channel.isActive)
    }

    @Test func `lets a server end soon after the answers under way`() throws {
        let (channel, door) = try Self.opened()
        #expect(door.streamBegins())
        Self.end(channel)
        Self.turn(channel, Self.limits.linger)
        #expect(channel.isActive && door.streamBegins(), "it was on its way")
        Self.turn(channel, .seconds(1))
        #expect(channel.isActive && !door.streamBegins())
        door.streamEnded()
        door.streamEnded()
        Self.turn(channel, Self.limits.linger)
        #expect(!channel.isActive)
        let (idle, other) = try Self.opened()
        #expect(other.streamBegins())
        other.streamEnded()
        Self.end(idle)
        Self.turn(idle, Self.limits.linger)
        #expect(!idle.isActive)
    }

    @Test func `leaves alone what was handed over`() throws {
        let (channel, door) = try Self.opened()
        door.handOver()
        Self.end(channel)
        Self.turn(channel, .hours(1))
        #expect(channel.isActive)
        let (begun, _) = try Self.opened()
        Self.end(begun)
        #expect(!begun.isActive, "within a handshake nobody else ends it")
    }
}
