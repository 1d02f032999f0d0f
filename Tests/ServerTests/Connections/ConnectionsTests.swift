import Encodings
import Synchronization
import Testing

@testable import LedgerServer

struct `The connections` {
    private final class Closed: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }
        func add(_ name: String) { names.withLock { $0.append(name) } }
    }

    private let closed = Closed()

    private func close(_ name: String) -> Connections.GiveWay {
        { [closed] in closed.add(name) }
    }

    @Test func `that wait for a head give way first, then those that wait for a body`() {
        let connections = Connections(limit: 3, addressLimit: 9, .none)
        for _ in 0..<3 { #expect(connections.enter(nil)) }
        _ = connections.waitForBody(close("body"))
        _ = connections.waitForHead(close("head"))
        let answered = connections.waitForHead(close("answered"))
        connections.endWait(answered)
        for _ in 0..<3 { #expect(connections.enter(nil)) }
        #expect(closed.all == ["head", "body"])
    }

    @Test func `whose head is on its way outlast half-sent bodies, to a tenth of the places`() {
        let connections = Connections(limit: 20, addressLimit: 99, .none)
        for _ in 0..<20 { #expect(connections.enter(nil)) }
        for index in 0..<18 { _ = connections.waitForBody(close("body \(index)")) }
        for index in 0..<2 { _ = connections.waitForHead(close("head \(index)")) }
        for _ in 0..<3 { #expect(connections.enter(nil)) }
        #expect(closed.all == ["body 0", "body 1", "body 2"])
        // Control: what only connects is closed before a body is.
        _ = connections.waitForHead(close("head 2"))
        #expect(connections.enter(nil))
        #expect(closed.all.last == "head 0")
    }

    // One that opens as many streams as there are places for connections keeps nobody out.
    @Test func `are accepted whatever streams are open`() {
        let connections = Connections(limit: 2, addressLimit: 99, .none)
        let acceptance = Connections.Acceptance(connections: connections)
        acceptance.connectionOpened()
        #expect(connections.enter(nil))
        for _ in 0..<50 { #expect(connections.enter(nil, as: .stream)) }
        #expect(acceptance.isAcceptingNewConnections())
        for _ in 0..<50 { connections.leave(nil, as: .stream) }
        acceptance.connectionOpened()
        #expect(connections.enter(nil))
        #expect(!acceptance.isAcceptingNewConnections(), "the control")
    }

    @Test func `that are all served keep others waiting until one is idle`() {
        let connections = Connections(limit: 2, addressLimit: 9, .none)
        let acceptance = Connections.Acceptance(connections: connections)
        for _ in 0..<2 {
            #expect(acceptance.isAcceptingNewConnections())
            acceptance.connectionOpened()
            #expect(connections.enter(nil))
        }
        #expect(!acceptance.isAcceptingNewConnections())
        _ = connections.waitForHead(close("idle"))
        #expect(closed.all == ["idle"])
        connections.leave(nil)
        acceptance.connectionClosed()
        #expect(acceptance.isAcceptingNewConnections())
        // Whoever waits is not closed where nobody needs the place.
        _ = connections.waitForHead(close("new"))
        #expect(closed.all == ["idle"])
    }

    @Test func `of one address are so many, and those of others are not counted with them`() {
        let proxies = TrustedProxies([IPNetwork("10.0.0.0/8")].compactMap { $0 })
        let connections = Connections(limit: 99, addressLimit: 2, proxies)
        let (one, other) = (IPAddress("2001:db8::1"), IPAddress("2001:db8::2"))
        #expect(connections.enter(one) && connections.enter(other) && !connections.enter(one))
        for address in ["2001:db8:0:1::1", "192.0.2.1"] {
            #expect(connections.enter(IPAddress(address)))
        }
        for _ in 0..<9 { #expect(connections.enter(IPAddress("10.0.0.1"))) }
        connections.leave(other)
        #expect(connections.enter(one) && !connections.enter(one))
        #expect(connections.ended == 1)
    }
}
