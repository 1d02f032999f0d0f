import Encodings
import Entitlements
import StoreSimulator
import Stores
import Testing

struct `An import of the App Store's messages` {
    static let start = AppStoreSample.start

    /// `SIGNED KIND` for what is taken, `CODE PATH` for what is refused.
    private static func outcomes(_ json: JSONValue) async throws -> [String] {
        let verifier = try AppStoreSample.verifier()
        return await AppStoreImport.outcomes(of: json, verifier: verifier, now: AppStoreSample.now)
            .map { outcome in
                switch outcome {
                case .success(let submission):
                    String(submission.id.prefix { $0 != "/" })
                case .failure(let refusal): "\(refusal.code.rawValue) \(refusal.path)"
                }
            }
    }

    private static func text(_ jws: [UInt8]) -> JSONValue {
        .string(String(decoding: jws, as: UTF8.self))
    }

    @Test func `takes signed members, messages by themselves and arrays of both`() async throws {
        let store = try AppStoreSample.store()
        let notification = Self.text(
            try store.notification("DID_RENEW", id: "n1", start: Self.start)
        )
        let transaction = Self.text(try store.transaction(start: Self.start))
        let renewal = Self.text(try store.renewalInfo(start: Self.start))
        let items: [(JSONValue, [String])] = [
            (.members(["signedPayload": notification]), ["n1"]),
            (.members(["signedTransactionInfo": transaction, "status": "x"]), ["transaction"]),
            (
                .members(["signedRenewalInfo": renewal, "signedTransactionInfo": transaction]),
                ["transaction", "renewal_info"]
            ),
            (notification, ["n1"]), (transaction, ["transaction"]), (renewal, ["renewal_info"]),
            (.members(["signedPayload": transaction]), ["invalid_value signedPayload.payload"]),
            (.members(["signedPayload": .integer(1)]), ["invalid_value signedPayload"]),
            (.members([:]), ["missing_field signedPayload"]),
            (.integer(1), ["malformed "]), ("a.b.c", ["malformed header"]),
        ]
        for (item, expected) in items {
            #expect(try await Self.outcomes(item) == expected)
        }
        let all = try await Self.outcomes(.array(items.map(\.0)))
        let expected = items.enumerated().flatMap { index, item in
            item.1.map { line in
                guard let space = line.firstIndex(of: " ") else { return line }
                let path = line[line.index(after: space)...]
                return "\(line[..<space]) [\(index)]" + (path.isEmpty ? "" : "." + path)
            }
        }
        #expect(all == expected)
    }

    // row 6.3: what the operator fetched by hand comes in the same way
    @Test func `takes the answers of the App Store Server API`() async throws {
        let store = try AppStoreSample.store()
        let transaction = Self.text(try store.transaction(start: Self.start))
        let renewal = Self.text(try store.renewalInfo(start: Self.start))
        let notification = Self.text(
            try store.notification("DID_RENEW", id: "n1", start: Self.start)
        )
        let last: JSONValue = .members([
            "originalTransactionId": "1", "status": .integer(1),
            "signedTransactionInfo": transaction, "signedRenewalInfo": renewal,
        ])
        let group: JSONValue = .members(["lastTransactions": .array([last])])
        let answers: [(JSONValue, [String])] = [
            // HistoryResponse, RefundHistoryResponse, OrderLookupResponse
            (
                .members([
                    "revision": "r", "hasMore": .bool(false),
                    "signedTransactions": .array([transaction, transaction]),
                ]), ["transaction", "transaction"]
            ),
            (.members(["signedTransactions": .array([])]), []),
            // NotificationHistoryResponse
            (
                .members([
                    "notificationHistory": .array([.members(["signedPayload": notification])])
                ]), ["n1"]
            ),
            // StatusResponse
            (
                .members(["bundleId": "b", "data": .array([group, group])]),
                ["transaction", "renewal_info", "transaction", "renewal_info"]
            ),
            (
                .members(["signedTransactions": .array([transaction, "x", .integer(1), renewal])]),
                [
                    "transaction", "malformed signedTransactions[1]",
                    "malformed signedTransactions[2]",
                    "invalid_value signedTransactions[3].payload",
                ]
            ),
            // No answer has so many lists within one another.
            (
                .members(["data": .array([.members(["data": .array([group])])])]),
                ["missing_field data[0].data[0].signedPayload"]
            ),
        ]
        for (answer, expected) in answers {
            let outcomes = try await Self.outcomes(answer)
            #expect(outcomes == expected)
        }
        let like = answers.prefix(4).map(\.0)
        #expect(like.allSatisfy(AppStoreImport.looksLikeAppStore))
        #expect(!AppStoreImport.looksLikeAppStore(.members(["data": .array([.members([:])])])))
    }

    @Test func `keeps a single body's own bytes`() async throws {
        let jws = try AppStoreSample.store().notification("DID_RENEW", start: Self.start)
        let body = Array(#"{ "signedPayload" : ""#.utf8) + jws + Array("\" }\n".utf8)
        let json = try JSONValue(parsing: body)
        let verifier = try AppStoreSample.verifier()
        let outcomes = await AppStoreImport.outcomes(
            of: json,
            body: body,
            verifier: verifier,
            now: AppStoreSample.now
        )
        #expect(try outcomes.first?.get().evidence == body)
        let alone = await AppStoreImport.outcome(
            ofJWS: jws,
            verifier: verifier,
            now: AppStoreSample.now
        )
        #expect(try alone.get().evidence == jws)
    }

    @Test func `is told apart from other formats`() throws {
        let jws = try AppStoreSample.store().transaction(start: Self.start)
        let like: [JSONValue] = [
            .members(["signedPayload": "x"]), .members(["signedTransactionInfo": "x"]),
            Self.text(jws), .array([Self.text(jws)]),
        ]
        #expect(like.allSatisfy(AppStoreImport.looksLikeAppStore))
        let unlike: [JSONValue] = [
            .members(["event": .members(["type": "TEST"])]), .members(["specversion": "1.0"]),
            .array([]), "text", .integer(1), .members(["signedPayload": .integer(1)]),
        ]
        #expect(!unlike.contains(where: AppStoreImport.looksLikeAppStore))
        #expect(AppStoreImport.looksLikeJWS(jws))
        #expect(!AppStoreImport.looksLikeJWS(Array("{}".utf8)))
    }
}
