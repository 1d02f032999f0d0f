import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Notices that flags are others now (OpenFeature remote evaluation 0.3.0, `eventStreams`).
struct `A notice of flags` {
    private static let customer = "quinn-1"

    /// All flags of a customer, their tag, and the address of their stream.
    private static func flags(
        _ server: TestServer,
        as scope: Scope = .read
    ) async throws -> (tag: String, address: String) {
        let answer = try await server.post(
            "/ofrep/v1/evaluate/flags",
            #"{"context":{"targetingKey":"\#(customer)"}}"#,
            as: scope
        )
        let streams = try #require(answer.json["eventStreams"]?.array)
        #expect(streams.map { $0["type"] } == ["sse"])
        return (
            try #require(answer.headers[.eTag]),
            try #require(streams[0]["endpoint"]?["requestUri"]?.string)
        )
    }

    private static func ticket(_ address: String) throws -> String {
        try #require(address.firstRange(of: "?ticket=").map { String(address[$0.upperBound...]) })
    }

    private static func stream(
        _ server: TestServer,
        _ address: String,
        known: String? = nil,
        silence: Duration = .seconds(3600)
    ) throws -> FlagChanges {
        let opened = server.service.changeTickets?.ticket(try ticket(address))
        let ticket = try #require(opened)
        return FlagChanges(
            server.service,
            ticket,
            known: known ?? ticket.digest ?? "",
            silence: silence
        )
    }

    private static func with(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let watch = Task { try await server.service.growth.run() }
            defer { watch.cancel() }
            try await body(server)
        }
    }

    private static func grant(
        _ server: TestServer,
        _ customer: String = Self.customer,
        until end: Instant? = nil
    ) async throws {
        let answer = try await server.post(
            "/v1/customers/\(customer)/grants",
            #"{"tier":"pro","grantId":"g"\#(end.map { #","expiresAt":"\#($0)""# } ?? "")}"#
        )
        #expect(answer.status == 200, "\(answer)")
    }

    // row Z8
    @Test func `tells that they changed, with the tag of those that are there now`() async throws {
        try await Self.with { server in
            let before = try await Self.flags(server)
            let stream = try Self.stream(server, before.address)
            #expect(try await stream.next() == "retry: 2000\n\n")
            let notice = Task { try await stream.next() }
            try await Self.grant(server)
            let text = try #require(try await notice.value)
            let after = try await Self.flags(server)
            #expect(after.tag != before.tag)
            let tag = after.tag.replacing("\"", with: "\\\"")
            #expect(
                text.contains(#"data: {"type":"refetchEvaluation","etag":"\#(tag)"}"#),
                "\(text)"
            )
        }
    }

    // Between the answer and the stream nothing is missed, nor while a connection was lost.
    @Test func `tells at once what its reader does not know yet`() async throws {
        try await Self.with { server in
            let before = try await Self.flags(server)
            try await Self.grant(server)
            let late = try Self.stream(server, before.address)
            _ = try await late.next()
            let told = try #require(try await late.next())
            #expect(told.contains("refetchEvaluation"))
            // Control: whoever knows it is not told again.
            let known = try #require(told.split(separator: "\n").first?.dropFirst(4))
            let again = try Self.stream(
                server,
                before.address,
                known: String(known),
                silence: .milliseconds(100)
            )
            _ = try await again.next()
            #expect(try await again.next() == ":\n\n")
        }
    }

    @Test func `is silent about what happens to others`() async throws {
        try await Self.with { server in
            let before = try await Self.flags(server)
            let stream = try Self.stream(server, before.address, silence: .milliseconds(600))
            _ = try await stream.next()
            try await Self.grant(server, "rose-12")
            #expect(try await stream.next() == ":\n\n")
        }
    }

    // row Z15
    @Test func `tells an end by time alone`() async throws {
        try await Self.with { server in
            let end = server.clock.now.plus(seconds: 600)
            try await Self.grant(server, until: end)
            let before = try await Self.flags(server)
            let stream = try Self.stream(server, before.address)
            _ = try await stream.next()
            server.clock.now = end
            #expect(try await stream.next()?.contains("refetchEvaluation") == true)
        }
    }

    // row 9.4: the address is one that logs may keep.
    @Test func `has an address that names nobody, and that nobody else makes`() async throws {
        try await Self.with { server in
            let address = try await Self.flags(server).address
            #expect(!address.contains(Self.customer))
            let text = try Self.ticket(address)
            let tickets = try #require(server.service.changeTickets)
            // Control: it opens as it is.
            #expect(tickets.ticket(text)?.customer.text == Self.customer)
            for place in text.indices {
                var changed = text
                changed.replaceSubrange(place...place, with: text[place] == "A" ? "B" : "A")
                // The last digit has bits that stand for nothing.
                if text.index(after: place) != text.endIndex {
                    #expect(tickets.ticket(changed) == nil)
                }
                #expect(tickets.ticket(String(text[..<place])) == nil)
            }
            try await TestServer.with { other in
                let others = try #require(other.service.changeTickets)
                #expect(others.ticket(text) == nil)
            }
            for wrong in ["", "?ticket=", "?ticket=AAAA", "?ticket=\(text)%0A", "?ticket=\(text)A"]
            {
                let answer = try await server.send(.get, "/ofrep/v1/changes" + wrong)
                #expect(answer.status == (wrong.isEmpty ? 400 : 401), "\(wrong)")
            }
        }
    }

    // A key that was revoked is one that there is not.
    @Test(arguments: [true, false])
    func `ends with the key that asked`(_ isKnown: Bool) async throws {
        try await Self.with { server in
            let address = try await Self.flags(server).address
            let tickets = try #require(server.service.changeTickets)
            let known = try #require(tickets.ticket(Self.ticket(address)))
            #expect(known.keyID != nil)
            let ticket = CustomerTicket(
                customer: known.customer,
                environment: known.environment,
                keyID: isKnown ? known.keyID : "gone",
                end: known.end,
                digest: "another"
            )
            let stream = FlagChanges(server.service, ticket, known: "another")
            _ = try await stream.next()
            let text = try #require(try await stream.next())
            // Control: of a key that counts it goes on, and tells what is there.
            #expect(text.hasSuffix("event: bye\ndata:\n\n") != isKnown)
            #expect(text.contains("etag") == isKnown)
        }
    }

    // Whoever asks again as they are told to asks by the tag that they have.
    @Test func `goes on under another ticket, though no flag changed for an hour`() async throws {
        try await Self.with { server in
            func ask(by tag: String) async throws -> TestAnswer {
                try await server.post(
                    "/ofrep/v1/evaluate/flags",
                    #"{"context":{"targetingKey":"\#(Self.customer)"}}"#,
                    as: .read,
                    headers: [.ifNoneMatch: tag]
                )
            }
            let before = try await Self.flags(server)
            // Control: it is not sent twice for nothing.
            #expect(try await ask(by: before.tag).status == 304)
            let stream = try Self.stream(server, before.address)
            _ = try await stream.next()
            let tickets = try #require(server.service.changeTickets)
            let old = try #require(tickets.ticket(Self.ticket(before.address)))
            server.clock.now = server.clock.now.plus(seconds: 3600)
            #expect(try await stream.next()?.contains("refetchEvaluation") == true)
            #expect(!old.stands([.read], in: server.service, at: server.clock.now))
            let answer = try await ask(by: before.tag)
            #expect(answer.status == 200)
            let endpoint = answer.json["eventStreams"]?.array?.first?["endpoint"]
            let address = try #require(endpoint?["requestUri"]?.string)
            let new = try #require(tickets.ticket(Self.ticket(address)))
            #expect(new.stands([.read], in: server.service, at: server.clock.now))
            // The flags are those that the reader has: they are not told anew.
            #expect(new.digest == old.digest)
        }
    }

    @Test func `ends with its ticket's hour, and says so`() async throws {
        try await Self.with { server in
            let address = try await Self.flags(server).address
            let stream = try Self.stream(server, address)
            _ = try await stream.next()
            server.clock.now = server.clock.now.plus(seconds: 3600)
            let last = try #require(try await stream.next())
            #expect(last.contains(#"{"type":"refetchEvaluation"}"#))
            #expect(last.hasSuffix("event: bye\ndata:\n\n"))
            #expect(try await stream.next() == nil)
            #expect(try await server.send(.get, address).status == 401)
        }
    }
}
