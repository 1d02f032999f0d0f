import Encodings
import Entitlements
import LedgerAPI
import ModelSupport
import Testing

struct `What an app tells its customer` {
    // row 8.2: Promises, "Errors"
    @Test func `is one of twelve codes`() {
        #expect(
            Set(ServiceError.Code.allCases.map(\.rawValue)) == [
                "CANCELLED", "NETWORK_ERROR", "STORE_PROBLEM_ERROR", "PURCHASE_CANCELLED",
                "PURCHASE_INVALID", "PRODUCT_UNAVAILABLE", "VERIFICATION_FAILED",
                "INVALID_SIGNATURE", "KEY_NOT_FOUND", "DECODING_ERROR", "DB_ERROR",
                "UNKNOWN_ERROR",
            ]
        )
        let invalid = ServiceError.Reason.allCases.filter { $0.code == .purchaseInvalid }
        #expect(
            Set(invalid.map(\.rawValue)) == [
                "not_signed", "wrong_bundle", "revoked", "claimed_by_another", "trial_used",
            ]
        )
    }

    /// Every error that has a message of its own.
    static let errors: [ServiceError] =
        ServiceError.Code.allCases.map { ServiceError($0) }
        + ServiceError.Reason.allCases.map { ServiceError($0.code, reason: $0) }

    // row 2.5: whoever meets one of these is told what they can do about it.
    @Test(arguments: [
        (ProblemCode.overLimit, "plan"), (.unauthenticated, "sign in"), (.forbidden, "account"),
        (.keyReused, "sent before"), (.trialUsed, "free trial"),
        (.claimedByAnother, "another account"), (.unknownFeature, "not offered"),
        (.unknownTrial, "not offered"), (.unknownUse, "nothing to take back"),
        (.unknownGrant, "nothing to take back"), (.notAllowed, "does not include"),
        (.rateLimited, "too many requests"), (.busy, "cannot answer just now"),
        (.behind, "cannot answer just now"), (.clockBehind, "cannot answer just now"),
        (.clockAhead, "cannot answer just now"), (.wrongApp, "another app"),
        (.notSigned, "signature"), (.storageFull, "could not be read or saved"),
    ])
    func `speaks of the problem that there is`(_ code: ProblemCode, _ words: String) {
        let error = code.serviceError()
        #expect(error.message(in: .english).contains(words), "\(code)")
        #expect(error.isRetryable == code.isRetryable)
    }

    // The control: of what no customer can mend, they are told that it was not expected.
    @Test func `is surprised by what is left alone`() {
        let surprises = ProblemCode.allCases.filter {
            $0.serviceError().code == .unknown && $0.serviceError().reason == nil
        }
        #expect(
            Set(surprises) == [
                .methodNotAllowed, .notFound, .conflict, .unknownCustomer, .unknownPurchase,
                .notPermitted, .recordedTime, .unknownSequence, .readOnly, .internal,
                .emptyRange, .customerMissing, .otherCustomer, .erased, .otherLedger, .otherHistory,
                .differs,
            ]
        )
    }

    // row 2.5
    @Test func `has a message of its own in each language`() {
        for language in Language.allCases {
            let messages = Self.errors.map { $0.message(in: language) }
            #expect(Set(messages).count == messages.count, "\(language)")
            for message in messages {
                #expect(message.count >= 10, "\(message)")
                #expect(message.hasSuffix(language == .english ? "." : "。"), "\(message)")
            }
        }
    }

    // row 2.5
    @Test(arguments: errors)
    func `invites to try again exactly where that helps`(_ error: ServiceError) {
        let invitations: [Language: String] = [
            .english: "try again", .japanese: "もう一度お試し", .traditionalChinese: "再試一次",
        ]
        for (language, words) in invitations {
            let message = error.message(in: language)
            #expect(message.contains(words) == error.isRetryable, "\(message)")
        }
    }

    @Test(arguments: errors)
    func `is written in the script of its language`(_ error: ServiceError) {
        func scalars(_ language: Language, _ range: ClosedRange<UInt32>) -> Int {
            error.message(in: language).unicodeScalars.count { range.contains($0.value) }
        }
        let kana: ClosedRange<UInt32> = 0x3040...0x30FF
        let han: ClosedRange<UInt32> = 0x4E00...0x9FFF
        #expect(scalars(.english, 0x80...0x10FFFF) == 0)
        #expect(scalars(.japanese, kana) > 5)
        #expect(scalars(.traditionalChinese, kana) == 0)
        #expect(scalars(.traditionalChinese, han) > 5)
        // Characters that only the simplified script has.
        #expect(!error.message(in: .traditionalChinese).contains { "购买请试络链网务资验码无应为这".contains($0) })
    }

    @Test(arguments: errors)
    func `survives its JSON form`(_ error: ServiceError) throws {
        for language in Language.allCases {
            var told = error
            told.platform = "app_store"
            told.nativeCode = "SKErrorDomain/2"
            let answer = ServiceErrorAnswer(told, in: language)
            #expect(ServiceError(answer) == told)
            let json = AnswerText(answer).json
            #expect(try ServiceErrorAnswer.fields.read(json) == answer)
            #expect(json["message"]?.string == error.message(in: language))
            #expect(json["retryable"]?.bool == error.isRetryable)
            #expect((json["reason"] == nil) == (error.reason == nil))
        }
    }

    @Test func `names members only where there is something to say`() {
        let answer = ServiceErrorAnswer(ServiceError(.networkError), in: .english)
        let json = AnswerText(answer).json
        #expect(json.members?.map(\.name) == ["code", "message", "retryable"])
    }

    @Test func `from a newer server is unknown but still says whether to retry`() throws {
        let json = try JSONValue(
            parsing: Array(#"{"code":"NEW","message":"?","retryable":true,"more":1}"#.utf8)
        )
        let error = try ServiceError(ServiceErrorAnswer.fields.read(json))
        #expect(error.code == .unknown)
        #expect(error.isRetryable)
        #expect(throws: InputFault.self) {
            try ServiceErrorAnswer.fields.read(.object([]))
        }
    }

    @Test(arguments: [
        "", "two words", "line\nbreak", "ü", String(repeating: "a", count: 65),
    ])
    func `leaves out a native code that is not one`(_ text: String) {
        #expect(ServiceError(.storeProblem, nativeCode: text).nativeCode == nil)
        #expect(ServiceError(.storeProblem, platform: text).platform == nil)
        let limit = String(repeating: "a", count: 64)
        #expect(ServiceError(.storeProblem, nativeCode: limit).nativeCode == limit)
    }

    @Test func `keeps a reason with its own code only`() {
        #expect(ServiceError(.purchaseInvalid, reason: .revoked).reason == .revoked)
        #expect(ServiceError(.networkError, reason: .revoked).reason == nil)
    }
}

struct `The language of a message` {
    /// RFC 4647, section 3.4, with our three languages.
    static let rows: [(String?, Language)] = [
        (nil, .english), ("", .english), ("*", .english), ("fr", .english), ("en-GB", .english),
        ("ja", .japanese), ("JA-jp", .japanese), ("ja-Latn-JP", .japanese), ("jav", .english),
        ("zh-TW", .traditionalChinese), ("zh-HK", .traditionalChinese),
        ("zh-Hant", .traditionalChinese), ("zh-Hant-MO", .traditionalChinese),
        ("ZH-hant-tw", .traditionalChinese), ("zh-Hans-TW", .english), ("zh-CN", .english),
        ("zh", .english), ("zh-", .english), ("-", .english),
        ("fr, ja;q=0.5", .japanese), ("ja;q=0.5, en;q=0.9", .english),
        ("en;q=0.1, ja;q=0.2, zh-TW;q=0.3", .traditionalChinese),
        ("ja, zh-TW", .japanese), ("zh-TW, ja", .traditionalChinese),
        ("ja;q=0", .english), ("ja;q=0.000, zh-HK;q=0.001", .traditionalChinese),
        ("ja ; q=0.8 , zh-TW ; Q=0.9", .traditionalChinese),
        ("ja;q=1.000", .japanese), ("ja;q=1.", .japanese), ("ja;q=1.001", .english),
        ("ja;q=2", .english), ("ja;q=-1", .english), ("ja;q=0.1234", .english),
        ("ja;q=", .english), ("ja;q", .english), ("ja;q=NaN", .english), ("ja;q=.5", .english),
        ("ja;q=1;q=1", .english), (",,,ja", .japanese), ("ja\u{0}", .english),
        ("fr;q=1, ja;q=x, zh-TW;q=0.1", .traditionalChinese),
    ]

    @Test(arguments: rows)
    func `is looked up as the request weighs it`(_ header: String?, _ language: Language) {
        #expect(Language(acceptLanguage: header) == language, "\(header ?? "none")")
    }

    @Test func `is looked for in a bounded part of the header`() {
        let many = Array(repeating: "fr", count: Language.rangeLimit - 1).joined(separator: ",")
        #expect(Language(acceptLanguage: many + ",ja") == .japanese)
        #expect(Language(acceptLanguage: many + ",fr,ja") == .english)
        let long = String(repeating: " ", count: Language.headerByteLimit - 3)
        #expect(Language(acceptLanguage: long + ",ja") == .japanese)
        #expect(Language(acceptLanguage: long + "  ,ja") == .english)
        #expect(Language(acceptLanguage: String(repeating: "ja;q=", count: 1 << 16)) == .english)
    }

    @Test func `is found in whatever a client sends`() {
        var generator = SplitMix64(seed: 8)
        let pieces = [
            "ja", "zh", "-", "TW", "Hant", ";", "q", "=", "0", ".", "1", ",", " ", "é", "*",
        ]
        var found = Set<Language>()
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...12, using: &generator)
            let header = (0..<count).compactMap { _ in pieces.randomElement(using: &generator) }
            found.insert(Language(acceptLanguage: header.joined()))
        }
        #expect(found == Set(Language.allCases))
    }
}
