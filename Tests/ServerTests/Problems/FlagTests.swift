import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Feature access by the OpenFeature Remote Evaluation Protocol 0.3.0 (row Z8).
struct `A flag` {
    private static let bulk = "/ofrep/v1/evaluate/flags"

    private static func context(_ customer: String, _ more: String = "") -> String {
        #"{"context":{"targetingKey":"\#(customer)"\#(more)}}"#
    }

    private static func fill(_ server: TestServer) async throws {
        try server.publishCatalog()
        let path = "/v1/customers/quinn-1/trials"
        #expect(try await server.post(path, #"{"trialId":"week"}"#).status == 200)
    }

    // row Z8
    @Test func `is a feature, with all members that the reference provider reads`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server)
            for (customer, isAllowed) in [("quinn-1", true), ("rose-12", false)] {
                let answer = try await server.post(
                    Self.bulk + "/export",
                    Self.context(customer),
                    as: .read
                )
                #expect(answer.status == 200)
                #expect(answer.json["key"] == "export")
                #expect(answer.json["value"] == .bool(isAllowed))
                #expect(answer.json["reason"] == "TARGETING_MATCH")
                #expect(answer.json["variant"] == .string(isAllowed ? "allowed" : "denied"))
                #expect(answer.json["metadata"]?["reason"] == (isAllowed ? "trial" : "none"))
            }
        }
    }

    // row Z8
    @Test func `in bulk is the same as alone`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server)
            let answer = try await server.post(Self.bulk, Self.context("quinn-1"), as: .read)
            let flags = try #require(answer.json["flags"]?.array)
            #expect(flags.map { $0["key"] } == ["export", "scan"])
            for flag in flags {
                let key = flag["key"]?.string ?? ""
                let alone = try await server.post(
                    Self.bulk + "/" + key,
                    Self.context("quinn-1"),
                    as: .read
                )
                #expect(alone.json == flag)
            }
        }
    }

    // rows Z8, Z15
    @Test func `in bulk has a tag that moves with the answer only`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server)
            let first = try await server.post(Self.bulk, Self.context("quinn-1"), as: .read)
            let tag = try #require(first.headers[.eTag])
            server.clock.now = noon.plus(seconds: 60)
            let same = try await server.post(
                Self.bulk + "?flagConfigEtag=a&flagConfigLastModified=1",
                Self.context("quinn-1"),
                as: .read,
                headers: [.ifNoneMatch: tag]
            )
            #expect(same.status == 304 && same.body.isEmpty && same.headers[.eTag] == tag)
            server.clock.now = noon.plus(seconds: 7 * 86_400)
            let later = try await server.post(
                Self.bulk,
                Self.context("quinn-1"),
                as: .read,
                headers: [.ifNoneMatch: tag]
            )
            #expect(later.status == 200 && later.headers[.eTag] != tag)
        }
    }

    // row Z8
    @Test(arguments: [
        ("", "PARSE_ERROR"), ("{", "PARSE_ERROR"), ("[]", "INVALID_CONTEXT"),
        ("{}", "INVALID_CONTEXT"), (#"{"context":7}"#, "INVALID_CONTEXT"),
        (#"{"context":{}}"#, "TARGETING_KEY_MISSING"),
        (#"{"context":{"targetingKey":7}}"#, "INVALID_CONTEXT"),
        (#"{"context":{"targetingKey":null}}"#, "INVALID_CONTEXT"),
        (#"{"context":{"targetingKey":""}}"#, "INVALID_CONTEXT"),
        (#"{"context":{"targetingKey":"a","environment":"moon"}}"#, "INVALID_CONTEXT"),
        (#"{"context":{"targetingKey":"a","environment":7}}"#, "INVALID_CONTEXT"),
        (#"{"context":{"targetingKey":"a","targetingKey":"b"}}"#, "PARSE_ERROR"),
    ])
    func `of a context that cannot be used fails in the protocol's words`(
        _ body: String,
        _ code: String
    ) async throws {
        try await TestServer.with { server in
            try await Self.fill(server)
            for path in [Self.bulk, Self.bulk + "/export"] {
                let answer = try await server.post(path, body, as: .read)
                #expect(answer.status == 400, "\(answer)")
                #expect(answer.json["errorCode"] == .string(code), "\(answer)")
                #expect(answer.json["errorDetails"]?.string?.isEmpty == false)
                #expect(answer.json["key"] == (path == Self.bulk ? nil : "export"))
            }
        }
    }

    // row Z8
    @Test func `that is none is not found`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server)
            let answer = try await server.post(
                Self.bulk + "/no%20such%20flag",
                Self.context("quinn-1"),
                as: .read
            )
            #expect(answer.status == 404 && answer.json["errorCode"] == "FLAG_NOT_FOUND")
            #expect(answer.json["key"] == "no such flag")
            #expect(answer.json["errorDetails"]?.string != nil)
        }
    }

    @Test func `is asked of one world`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server)
            for (world, value) in [("production", true), ("sandbox", false), ("local", false)] {
                let answer = try await server.post(
                    Self.bulk + "/export",
                    Self.context("quinn-1", #","environment":"\#(world)","plan":{"a":[1]}"#),
                    as: .read
                )
                #expect(answer.json["value"] == .bool(value))
            }
        }
    }

    // rows Z8, 9.4
    @Test func `of others is not there for a customer`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server)
            let token = try server.token(for: "quinn-1")
            for path in [Self.bulk, Self.bulk + "/export"] {
                let own = try await server.send(
                    .post,
                    path,
                    credential: token,
                    body: Self.context("quinn-1")
                )
                #expect(own.status == 200)
                var bodies: Set<JSONValue?> = []
                for other in ["rose-12", "nobody-1"] {
                    let answer = try await server.send(
                        .post,
                        path,
                        credential: token,
                        body: Self.context(other)
                    )
                    #expect(answer.status == 404 && answer.code == "not_found")
                    bodies.insert(answer.json["detail"])
                }
                #expect(bodies.count == 1)
            }
        }
    }

    // row Z8: X-API-Key is the protocol's other way.
    @Test func `may be asked with X-API-Key`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server)
            var headers = HTTPFields()
            headers[.apiKey] = server.keys[.read]
            let answer = try await server.send(
                .post,
                Self.bulk,
                headers: headers,
                body: Self.context("quinn-1")
            )
            #expect(answer.status == 200)
        }
    }
}
