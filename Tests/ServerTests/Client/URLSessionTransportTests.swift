import Encodings
import EntitlementClient
import LedgerServer
import Stores
import Testing

/// The system's own way to call a server, against one on this machine.
struct `The system's transport` {
    /// Answers with what it was asked, by the path.
    private static let echo: StoreTransport = { request in
        if request.url.hasSuffix("/large") {
            let body = [UInt8](repeating: 32, count: ClientResponse.byteLimit + 1)
            return StoreResponse(status: 200, body: body)
        }
        if request.url.hasSuffix("/never") {
            // Later than it is waited for; the server's end waits for it too.
            try? await Task.sleep(for: .seconds(5))
        }
        if request.url.hasSuffix("/failing") { return StoreResponse(status: 503, body: [33]) }
        let said = JSONValue.members([
            "method": .string(request.method.rawValue), "url": .string(request.url),
            "authorization": .optional(request.headers["Authorization"]),
            "body": .string(String(decoding: request.body, as: UTF8.self)),
        ])
        return StoreResponse(status: 200, body: Array(said.description.utf8))
    }

    @Test func `carries a call and its answer whole, and says so where there is none`() async throws
    {
        try await StoreStandIn.serve(port: 0, Self.echo) { port in
            let transport = URLSessionTransport().transport
            let url = "http://127.0.0.1:\(port)"
            let answer = try #require(
                await transport(
                    ClientRequest(
                        .post,
                        url + "/a%20b?c=d",
                        headers: ["Authorization": "Bearer token"],
                        body: Array("ü".utf8)
                    )
                )
            )
            let said = try JSONValue(parsing: answer.body)
            #expect(answer.status == 200 && said["method"]?.string == "POST")
            #expect(said["url"]?.string?.hasSuffix("/a%20b?c=d") == true)
            #expect(said["authorization"]?.string == "Bearer token")
            #expect(said["body"]?.string == "ü")
            #expect(answer.headers["content-type"] == "application/json")
            let failing = await transport(ClientRequest(.get, url + "/failing"))
            #expect(failing?.status == 503 && failing?.body == [33])
            // Larger than an answer may be, later than one is waited for, and no address at all.
            #expect(await transport(ClientRequest(.get, url + "/large")) == nil)
            let hasty = URLSessionTransport(seconds: 1).transport
            #expect(await hasty(ClientRequest(.get, url + "/never")) == nil)
            #expect(await transport(ClientRequest(.get, "no address")) == nil)
        }
        // Nobody listens.
        let transport = URLSessionTransport(seconds: 5).transport
        #expect(await transport(ClientRequest(.get, "http://127.0.0.1:9/")) == nil)
    }
}
