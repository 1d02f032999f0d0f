import HTTPTypes
import Testing

@testable import LedgerServer

/// The trace of a request in the log (W3C Trace Context).
struct `A trace` {
    private static let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func `stands in the line of its request`() async throws {
        try await TestServer.with { server in
            _ = try await server.send(.get, "/healthz", headers: [.traceparent: Self.text])
            #expect(server.log.all.contains { $0.contains(#""traceparent":"\#(Self.text)""#) })
        }
    }

    @Test(arguments: [
        "", "alice", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e47360-0f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473\"-00f067aa0ba902b7-01",
    ])
    func `of another form is nobody's`(_ value: String) async throws {
        #expect(TraceParent(value) == nil)
        // Control: the standard's own example is one.
        #expect(TraceParent(Self.text)?.text == Self.text)
    }
}
