import Encodings
import Entitlements
import LedgerAPI
import Testing

@testable import EntitlementClient

/// Why a call has no answer that counts.
struct `A call that is put off` {
    // row 8.1: seconds or a date, whoever stands between, and however much is asked for
    @Test(
        arguments: [
            ("120", 120_000), ("Mon, 21 Sep 2026 14:15:20 GMT", 120_000),
            ("Mon, 21 Sep 2026 14:00:00 GMT", 0), ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400_000),
            ("99999999999", 86_400_000), ("9223372036854775807", 86_400_000), ("soon", nil),
            ("-1", nil),
        ] as [(String, Int64?)]
    )
    func `waits for as long as it is told to`(_ text: String, _ wait: Int64?) async {
        let server = ScriptedServer()
        let connection = ServerConnection(
            url: "https://ledger.test",
            transport: server.transport,
            time: HeldTime().time,
            token: { "token" }
        )
        for var answer in [ScriptedServer.problem(.busy), ClientResponse(status: 503)] {
            answer.headers["retry-after"] = text
            server.answer("/purchases", answer)
            guard case .failure(let fault) = await connection.call(.post, "/purchases") else {
                Issue.record("it is put off")
                return
            }
            #expect(fault.verdict == .later(wait), "\(answer.status)")
        }
    }

    // row 8.1: no purchase is given up for what a token did
    @Test(
        arguments: [
            (.invalidRequest, .tokenRefused), (.headTooLarge, .tokenRefused),
            (.invalidValue, .never), (.unauthenticated, .tokenRefused),
        ] as [(ProblemCode, CallFault.Verdict)]
    )
    func `is given up for what was handed in alone`(
        _ code: ProblemCode,
        _ verdict: CallFault.Verdict
    ) {
        let fault = CallFault(ScriptedServer.problem(code), at: noon)
        #expect(fault.verdict == verdict)
    }

    // row 8.1: who stands at another address is not asked
    @Test(arguments: [301, 302, 303, 307, 308])
    func `is not given up for an answer that names another address`(_ status: Int) {
        let answer = ClientResponse(status: status, headers: ["location": "https://else.test/"])
        let fault = CallFault(answer, at: noon)
        #expect(fault.verdict == .later(nil))
        #expect(fault.error == ServiceError(.networkError, reason: .busy))
    }
}
