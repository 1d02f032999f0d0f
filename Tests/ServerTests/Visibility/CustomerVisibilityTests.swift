import Encodings
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// What a customer's own token shows (Stores, rule 7; C1, C2): every relation, every call that
/// such a token reaches, whole answers with their headers.
struct `A customer's view` {
    /// A request of a generated test.
    private struct Ask {
        var route: Route
        var path: String
        var accept: String?
        var body: String?
    }

    /// The calls that a customer's token reaches, as the table of routes has them: a new one is
    /// asked, too.
    private static let routes = RouteTable.routes.filter { route in
        switch route.access {
        case .customer, .anyCustomer: true
        default: false
        }
    }

    private static func asks(
        _ id: String,
        at point: String,
        isChange: Bool
    ) throws -> [Ask] {
        try routes.filter { ($0.method != .get) == isChange }.flatMap { route in
            let path = route.template
                .replacing("{id}", with: id).replacing("{feature}", with: "export")
                .replacing("{key}", with: "export")
            guard !isChange else {
                return try bodies(route, id).map { Ask(route: route, path: path, body: $0) }
            }
            // A snapshot is of now.
            guard route.operation != "signSnapshot" || point.isEmpty else { return [] }
            let media: [String?]
            switch route.operation {
            case "showTimeline": media = [nil, "image/svg+xml"]
            case "exportCustomer": media = [nil, "text/csv", "text/html"]
            default: media = [nil]
            }
            let own = route.operation == "explainFeature" ? "feature=export" : ""
            let query = [own, point].filter { !$0.isEmpty }.joined(separator: "&")
            return media.map {
                Ask(route: route, path: query.isEmpty ? path : path + "?" + query, accept: $0)
            }
        }
    }

    private static func bodies(_ route: Route, _ id: String) throws -> [String] {
        switch route.operation {
        case "claimPurchase": try (0..<5).map { try AppStoreWorld.transaction($0) }
        case "restorePurchases":
            [
                "{\"transactions\":["
                    + (try (0..<5).map { try AppStoreWorld.transaction($0) }
                        .joined(separator: ",")) + "]}"
            ]
        case "startTrial": [#"{"trialId":"week"}"#]
        case "use": [#"{"featureId":"scan"}"#, #"{"featureId":"export"}"#, #"{"undo":"none"}"#]
        case "recordFlow": [#"{"type":"failed","flowId":"f"}"#]
        case "evaluateFlag", "evaluateFlags": [#"{"context":{"targetingKey":"\#(id)"}}"#]
        default: ["{}"]
        }
    }

    /// Points that are asked for, each with the world as it is known there.
    private static func points(
        _ world: VisibilityWorld
    ) -> [(query: String, world: VisibilityWorld)] {
        let last = world.entries[world.entries.count * 2 / 3]
        let older = world.known(last.sequence + 1)
        // Instants in several owners' times, none of which an event has.
        let times = world.entries.prefix(3).map { $0.event.time.advanced(byMilliseconds: 1) }
        return [
            ("", world), ("knownSequence=\(older.size)", older),
            ("known=\(last.recordedAt.advanced(byMilliseconds: 1))", older),
        ] + times.map { ("at=\($0)", world) }
    }

    private static func text(_ answer: TestAnswer) -> String {
        answer.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n") + "\n\n"
            + answer.body
    }

    private static func send(
        _ ask: Ask,
        _ credential: String?,
        _ server: TestServer
    ) async throws -> TestAnswer {
        var headers = HTTPFields()
        if let accept = ask.accept { headers[.accept] = accept }
        var answer = try await server.send(
            ask.route.method,
            ask.path,
            credential: credential,
            headers: headers,
            body: ask.body
        )
        if ask.route.operation == "signSnapshot", answer.status == 200 {
            // What is claimed in it, as whoever holds it reads it.
            let claims = answer.body.split(separator: ".").dropFirst().first
            let bytes = try #require(claims.flatMap { Base64.decode(String($0), .url) })
            answer.body = String(decoding: bytes, as: UTF8.self)
        }
        return answer
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `holds no id, time, sum or word of others, whoever asks whatever`(
        _ seed: UInt64
    ) async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            var made = VisibilityWorld(seed: seed)
            try made.record(in: server)
            let points = Self.points(made)
            var (count, calls) = (0, Set<String>())
            // What changes something comes when everything was asked.
            let rounds = points.map { ($0, false) } + [(points[0], true)]
            for (point, isChange) in rounds {
                for relation in VisibilityWorld.Relation.allCases {
                    let foreign = point.world.foreign(to: relation)
                    let hidden = point.world.hidden(from: relation)
                    let token = try server.token(for: relation.id)
                    for ask in try Self.asks(relation.id, at: point.query, isChange: isChange) {
                        let answer = try await Self.send(ask, token, server)
                        let found = foreign.found(in: Self.text(answer))
                        #expect(found.isEmpty, "\(relation) \(ask.path) \(ask.accept ?? "")")
                        let named = Self.sequences(answer).intersection(hidden)
                        #expect(named.isEmpty, "\(relation) \(ask.path): \(named.sorted())")
                        #expect(answer.status < 500)
                        if !isChange, relation != .erased {
                            #expect(answer.status == 200, "\(ask.path): \(answer.body)")
                        }
                        count += 1
                        calls.insert(ask.route.operation)
                    }
                }
            }
            #expect(calls.count == Self.routes.count)
            #expect(count > 400)
            print("relations × calls × points: \(count) answers of \(calls.count) calls")
        }
    }

    /// The places in the log that an answer names, that of its prefix apart.
    private static func sequences(_ answer: TestAnswer) -> Set<UInt64> {
        var found: Set<UInt64> = []
        func walk(_ value: JSONValue) {
            switch value {
            case .array(let elements): elements.forEach(walk)
            case .object(let members):
                for member in members {
                    if member.name == "sequence", value["customer"] == nil {
                        let text = member.value.string ?? member.value.integer.map { String($0) }
                        if let number = text.flatMap({ UInt64($0) }) { found.insert(number) }
                    } else {
                        walk(member.value)
                    }
                }
            default: break
            }
        }
        for line in answer.body.split(separator: "\n") {
            if let json = try? JSONValue(parsing: Array(line.utf8)) { walk(json) }
        }
        return found
    }

    // The control: the same search finds each kind of mark in what support is shown.
    @Test func `is not what support is shown`() async throws {
        try await TestServer.with { server in
            var world = VisibilityWorld(seed: 1)
            try world.record(in: server)
            for relation in [VisibilityWorld.Relation.former, .new] {
                let path = "/v1/customers/\(relation.id)/timeline"
                let answer = try await server.get(path, as: .support)
                let found = world.foreign(to: relation).found(in: Self.text(answer))
                for kind in ["id", "time", "sum", "word"] {
                    #expect(found[kind]?.isEmpty == false, "\(relation) \(kind)")
                }
            }
        }
    }

    // The other direction: what is theirs is there.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `holds every event that is theirs`(_ seed: UInt64) async throws {
        try await TestServer.with { server in
            var made = VisibilityWorld(seed: seed)
            try made.record(in: server)
            let world = made
            for relation in VisibilityWorld.Relation.allCases {
                let expected = world.entries.filter {
                    world.shows($0, to: relation) && $0.event.kind != .accessLogged
                }
                let answer = try await server.send(
                    .get,
                    "/v1/customers/\(relation.id)/timeline",
                    credential: try server.token(for: relation.id)
                )
                let shown = answer.json["events"]?.array?.compactMap {
                    $0["sequence"]?.string.flatMap { UInt64($0) }
                }
                #expect(shown == expected.map(\.sequence).sorted(), "\(relation)")
                for entry in expected {
                    #expect(answer.body.contains(entry.event.time.description))
                }
            }
        }
    }

    // What a view leaves out changes no decision.
    @Test func `decides as support's does`() async throws {
        try await TestServer.with { server in
            var made = VisibilityWorld(seed: 5)
            try made.record(in: server)
            let points = Self.points(made)
            for relation in VisibilityWorld.Relation.allCases {
                let token = try server.token(for: relation.id)
                for point in points {
                    let path = "/v1/customers/\(relation.id)?" + point.query
                    let own = try await server.send(.get, path, credential: token).json
                    let whole = try await server.get(path, as: .support).json
                    #expect(own["features"]?.members?.isEmpty == false, "\(path): \(own)")
                    for member in ["tier", "features", "validUntil", "grants", "trials"] {
                        #expect(own[member] == whole[member], "\(path) \(member)")
                    }
                    #expect(own["purchases"]?.array?.count == whole["purchases"]?.array?.count)
                }
            }
        }
    }
}
