import DurableFiles
import Encodings
import EntitlementLedger
import Entitlements
import Glibc
import HTTPTypes
import LedgerAPI
import ModelSupport
import Stores
import Testing

@testable import LedgerServer

/// Problem documents (RFC 9457) and what an app says of them (rows 2.5, 8.2).
struct `A problem` {
    // rows 2.5, 8.2
    @Test(arguments: ProblemCode.allCases)
    func `has a status, a title, and a message in every language`(_ code: ProblemCode) {
        #expect((400...599).contains(code.status))
        #expect(!code.title.isEmpty)
        // Stores, rule 10: what is our fault may succeed later.
        if code.status >= 500 { #expect(code.isRetryable) }
        #expect(code.serviceError().isRetryable == code.isRetryable)
        var messages: Set<String> = []
        for language in Language.allCases {
            let problem = Problem(code, "a sentence", path: "data.member")
            let json = AnswerText(ProblemAnswer(problem, in: language, requestID: "r")).json
            #expect(json["type"] == "about:blank")
            #expect(json["title"] == .string(code.title))
            #expect(json["status"] == .integer(code.status))
            #expect(json["code"] == .string(code.rawValue))
            #expect(json["detail"] == "a sentence" && json["path"] == "data.member")
            #expect(json["error"]?["code"] == .string(code.serviceError().code.rawValue))
            if let message = json["error"]?["message"]?.string { messages.insert(message) }
        }
        #expect(messages.count == Language.allCases.count)
        #expect(!messages.contains(""))
    }

    // What stands in files beside the log, such as what stores last said of their products.
    @Test(arguments: [(ENOSPC, ProblemCode.storageFull), (EDQUOT, .storageFull), (EIO, .internal)])
    func `of a full disk says so`(_ error: Int32, _ code: ProblemCode) {
        #expect(Problem(anyError: FileFault(error, "write")).code == code)
    }

    @Test func `is named by its title`() {
        #expect(Set(ProblemCode.allCases.map(\.title)).count == ProblemCode.allCases.count)
    }

    // Stores, rule 2: each reason for refusal is its own code.
    @Test(arguments: SignalRefusal.Code.allCases)
    func `keeps the code of a refused signal`(_ code: SignalRefusal.Code) {
        let problem = Problem(SignalRefusal(code, "payload", "a sentence"), of: "app_store")
        #expect(problem.code.rawValue == code.rawValue)
        #expect((400..<500).contains(problem.code.status))
        #expect(problem.path == "payload" && problem.detail == "a sentence")
        // Time alone mends one: a ledger's clock that is slow gives no purchase up.
        let json = AnswerText(ProblemAnswer(problem, in: .english, requestID: "r")).json
        #expect(json["retryable"] == .bool(code == .futureDate))
    }

    @Test(arguments: [
        InputFault.Code.malformed, .unknownField, .missingField, .invalidValue, .outOfRange,
    ])
    func `keeps the code of a field that does not fit`(_ code: InputFault.Code) {
        let problem = Problem(InputFault(code, "data.expiresAt", "a sentence"))
        #expect(problem.code.rawValue == code.rawValue)
        #expect(problem.path == "expiresAt")
    }

    @Test func `says nothing of a fault that it does not know`() {
        struct Surprise: Error { var secret = "someone@example.com" }
        let problem = Problem(anyError: Surprise())
        #expect(problem == Problem(.internal))
    }

    // rows 2.5, 8.2
    @Test(arguments: [
        (nil, Language.english), ("en-GB", .english), ("ja", .japanese),
        ("ja-JP,en;q=0.5", .japanese), ("zh-Hant", .traditionalChinese),
        ("zh-TW", .traditionalChinese), ("en;q=0.1, zh-HK;q=0.9", .traditionalChinese),
        ("fr", .english), ("zh-Hans", .english), (String(repeating: "ja,", count: 9_00), .japanese),
        (";;;,,,q=ja", .english),
    ])
    func `speaks the caller's language`(_ header: String?, _ language: Language) async throws {
        try await TestServer.with { server in
            var headers = HTTPFields()
            headers[.acceptLanguage] = header
            let answer = try await server.send(.get, "/nowhere", headers: headers)
            let expected = ProblemCode.notFound.serviceError().message(in: language)
            #expect(answer.json["error"]?["message"] == .string(expected))
        }
    }

    @Test func `names the request as the log does`() async throws {
        try await TestServer.with { server in
            let answer = try await server.get("/v1/catalog")
            let id = try #require(answer.json["requestId"]?.string)
            #expect(answer.headers[.requestID] == id)
            #expect(server.log.all.contains { $0.contains(#""requestId":"\#(id)""#) })
        }
    }
}
