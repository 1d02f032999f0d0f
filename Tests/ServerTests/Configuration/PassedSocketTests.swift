import Entitlements
import LedgerOperations
import Testing

@testable import LedgerServer

/// A socket that a service manager has bound; a server on one is looked at in tools/check-server.
struct `A socket that is passed` {
    @Test(arguments: [
        (["LISTEN_PID": "7", "LISTEN_FDS": "1"], true),
        (["LISTEN_PID": "8", "LISTEN_FDS": "1"], false),
        (["LISTEN_FDS": "1"], false), (["LISTEN_PID": "7"], false),
        (["LISTEN_PID": "7", "LISTEN_FDS": "0"], false),
        (["LISTEN_PID": "7", "LISTEN_FDS": "one"], false), ([:], false),
    ])
    func `is taken where it is for this process`(
        _ variables: [String: String],
        _ isTaken: Bool
    ) throws {
        let socket = try PassedSocket(processID: 7) { variables[$0] }
        #expect(socket?.descriptor == (isTaken ? 3 : nil))
    }

    @Test func `is one alone`() {
        let fault = #expect(throws: OperationFault.self) {
            try PassedSocket(processID: 7) { $0 == "LISTEN_PID" ? "7" : "2" }
        }
        #expect(fault?.code == .configuration)
    }

    @Test(arguments: [
        ("1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"),
        ("2024-02-29T23:59:59.999Z", "Thu, 29 Feb 2024 23:59:59 GMT"),
    ])
    func `has answers dated as HTTP has it`(_ text: String, _ date: String) throws {
        #expect(try #require(Instant(rfc3339: text)).httpDate == date)
    }
}
