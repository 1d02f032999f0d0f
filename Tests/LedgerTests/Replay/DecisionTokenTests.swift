import Encodings
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import ModelSupport
import Testing

@testable import EntitlementLedger

/// Row Z11: an answer can be asked again, and comes out byte for byte.
struct `A decision token` {
    private static func withPurchase(
        _ body: (ScratchLedger) async throws -> Void
    ) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            let bought = Sample.ownedPurchase("ann", "app_store/1")
            _ = try scratch.ledger.appender.record(Sample.submissions(bought))
            try await body(scratch)
        }
    }

    private static func token(_ answer: JSONValue) throws -> DecisionToken {
        let text = try #require(answer["token"]?.string)
        return try #require(DecisionToken(text))
    }

    private static func question(_ customer: CustomerID, _ day: Int64) -> CustomerQuestion {
        CustomerQuestion(
            customer: customer,
            environment: .production,
            point: BitemporalPoint(at: Sample.day(day), knownAt: .everything)
        )
    }

    private static func later(_ scratch: ScratchLedger) throws {
        _ = try scratch.ledger.appender.record(
            Sample.submissions([
                Sample.line(
                    "refund",
                    "revocation.refunded",
                    "purchase/app_store/1",
                    data: "{}",
                    time: Sample.day(5)
                )
            ])
        )
    }

    @Test func `gives the same bytes again, whatever became known since`() async throws {
        try await Self.withPurchase { scratch in
            let asked = Self.question("ann", 10)
            let answers = [
                try scratch.ledger.questions.show(asked).json,
                try scratch.ledger.questions.accessAnswer("export", asked).json,
                try scratch.ledger.questions.timelineAnswer(asked).json,
                try scratch.ledger.questions.purchases(of: asked).json,
            ]
            try Self.later(scratch)
            #expect(try scratch.ledger.questions.show(asked).json["tier"] != answers[0]["tier"])
            try scratch.reopenWithoutViews()
            for answer in answers {
                let again = try scratch.ledger.questions.answer(to: Self.token(answer))
                #expect(again.answer?.text.description == answer.description)
            }
        }
    }

    // An answer of older rules has the fields and warnings of those.
    @Test func `of the first rules is answered as they answered`() async throws {
        try await Self.withPurchase { scratch in
            let asked = Self.question("dan", 10)
            let size = try scratch.ledger.questions.size()
            let first = try scratch.ledger.questions.show(asked, size: size, rules: 1)
            let text = first.text.description
            #expect(text.hasPrefix(Self.firstRules), "\(text)")
            let again = try scratch.ledger.questions.answer(
                to: Self.token(first.json),
                customer: "dan"
            )
            #expect(again.answer?.text.description == text)
            let now = try scratch.ledger.questions.show(asked).text.description
            #expect(now.contains(#""usable":"#) && now.contains("never_seen"))
        }
    }

    // Its token does not say of which history it is, and is as long as it was.
    @Test func `of rules before the fourth comes out as it was`() async throws {
        try await Self.withPurchase { scratch in
            let asked = Self.question("ann", 10)
            let size = try scratch.ledger.questions.size()
            let old = try scratch.ledger.questions.show(asked, size: size, rules: 3)
            let token = try Self.token(old.json)
            #expect(token.root == nil && Base64.decode(token.text, .url)?.first == 1)
            let again = try scratch.ledger.questions.answer(to: token)
            #expect(again.answer?.text.description == old.text.description)
            let new = try Self.token(scratch.ledger.questions.show(asked).json)
            #expect(try new.root == scratch.ledger.questions.rootPrefix(at: size))
        }
    }

    // The fifth rules say until when the purchases stand.
    @Test func `of purchases before the fifth rules comes out as it was`() async throws {
        try await Self.withPurchase { scratch in
            let asked = Self.question("ann", 10)
            let size = try scratch.ledger.questions.size()
            let old = try scratch.ledger.questions.purchases(of: asked, size: size, rules: 4)
            #expect(old.json["validUntil"] == nil)
            let again = try scratch.ledger.questions.answer(to: Self.token(old.json))
            #expect(again.answer?.text.description == old.text.description)
            let now = try scratch.ledger.questions.purchases(of: asked).json
            #expect(now["validUntil"] == .instant(Sample.day(32)))
        }
    }

    // By the fifth rules no repeat is late.
    @Test func `of a timeline before the fifth rules comes out as it was`() async throws {
        try await Self.withPurchase { scratch in
            let again = Sample.ownedPurchase("ann", "app_store/1").prefix(1)
                .map { $0.replacingOccurrences(of: "\"id\":\"", with: "\"id\":\"again-") }
            _ = try scratch.ledger.appender.record(Sample.submissions(again))
            let asked = Self.question("ann", 10)
            let questions = scratch.ledger.questions
            let old = try questions.timelineAnswer(asked, size: questions.size(), rules: 4)
            let now = try questions.timelineAnswer(asked)
            #expect(old.answer.late.count == now.answer.late.count + 1)
            for written in [old, now] {
                let again = try questions.answer(to: Self.token(written.json))
                #expect(again.answer?.text.description == written.text.description)
            }
        }
    }

    // A backup was restored, and other events were recorded behind it.
    @Test func `of another history is refused, at every place`() async throws {
        try await Self.withPurchase { scratch in
            let size = try scratch.ledger.questions.size()
            for known in 0...size {
                var asked = Self.question("ann", 10)
                asked.point.knownAt = .sequence(known)
                let answer = try scratch.ledger.questions.show(asked).json
                let token = try Self.token(answer)
                var bytes = try #require(Base64.decode(token.text, .url))
                // Behind layout, answer, environment, marks, rules, instant and size.
                bytes[22] ^= 1
                let other = try #require(DecisionToken(Base64.encode(bytes.span, .url)))
                let refusal = try scratch.ledger.questions.answer(to: other, customer: "ann")
                    .refusal
                #expect(refusal?.code == .otherHistory)
                let outcome = try scratch.ledger.questions.answer(to: token, customer: "ann")
                #expect(outcome.answer?.text.json == answer)
            }
        }
    }

    /// What the program answered before its second rules.
    private static let firstRules = #"""
        {"customer":"dan","environment":"production","at":"2026-01-10T00:00:00.000Z","known":null,\#
        "sequence":4,"tier":"free","validUntil":"2026-01-11T00:00:00.000Z","features":{\#
        "export":{"allowed":false,"until":null,"reason":"none","sources":[],"limit":null},\#
        "scan":{"allowed":true,"until":null,"reason":"free","sources":[],"limit":{"period":"day",\#
        "count":3,"remaining":3,"perUse":{"amount":30,"unit":"seconds"},\#
        "resetsAt":"2026-01-11T00:00:00.000Z"}}},\#
        "purchases":[],"grants":[],"trials":[],"warnings":[]
        """#

    // R in the future: what is recorded until then is no part of the answer.
    @Test func `pins the prefix, also where R lies ahead`() async throws {
        try await Self.withPurchase { scratch in
            var asked = Self.question("ann", 10)
            asked.point.knownAt = .instant(scratch.clock.now.advanced(byMilliseconds: 86_400_000))
            let answer = try scratch.ledger.questions.show(asked).json
            try Self.later(scratch)
            #expect(try scratch.ledger.questions.show(asked).json != answer)
            #expect(
                try scratch.ledger.questions.answer(to: Self.token(answer)).answer?.text.json
                    == answer
            )
        }
    }

    // Whoever makes one up is not answered at an instant that no question can be about.
    @Test(arguments: [(Int64.max, false), (.min, false), (253_402_300_799_999, true)])
    func `is of an instant that can be written`(_ instant: Int64, _ isOne: Bool) async throws {
        try await Self.withPurchase { scratch in
            let answer = try scratch.ledger.questions.show(Self.question("ann", 10)).json
            var bytes = try #require(Base64.decode(Self.token(answer).text, .url))
            // Behind layout, answer, environment, marks and rules.
            for place in 0..<8 {
                bytes[6 + place] = UInt8(truncatingIfNeeded: instant >> (8 * Int64(place)))
            }
            #expect((DecisionToken(Base64.encode(bytes.span, .url)) != nil) == isOne)
        }
    }

    // Law 6: neither names nor ids stand in it, coded or not.
    @Test func `names nobody`() async throws {
        try await Self.withPurchase { scratch in
            for customer: CustomerID in ["ann", "nobody-here"] {
                let token = try Self.token(
                    scratch.ledger.questions.show(Self.question(customer, 10)).json
                )
                let bytes = try #require(Base64.decode(token.text, .url))
                #expect(bytes.firstRange(of: Array(customer.text.utf8)) == nil)
            }
        }
    }

    @Test func `of somebody unknown wants to be told who is meant`() async throws {
        try await Self.withPurchase { scratch in
            let answer = try scratch.ledger.questions.show(Self.question("bob", 10)).json
            let token = try Self.token(answer)
            let refusal = try scratch.ledger.questions.answer(to: token).refusal
            #expect(refusal?.code == .customerMissing)
            #expect(
                try scratch.ledger.questions.answer(to: token, customer: "bob").answer?.text.json
                    == answer
            )
            // Somebody else's answer is another one.
            let other = try scratch.ledger.questions.answer(to: token, customer: "cy").refusal
            #expect(other?.code == .differs)
        }
    }

    @Test func `tells an answer that is not the same`() async throws {
        try await Self.withPurchase { scratch in
            let answer = try scratch.ledger.questions.show(Self.question("ann", 10)).json
            let text = try #require(answer["token"]?.string)
            // The last bytes are the digest's.
            var bytes = try #require(Base64.decode(text, .url))
            bytes[bytes.count - 1] ^= 1
            let token = try #require(DecisionToken(Base64.encode(bytes.span, .url)))
            let refusal = try scratch.ledger.questions.answer(to: token).refusal
            #expect(refusal?.code == .differs)
            let other = try scratch.ledger.questions.answer(to: Self.token(answer), customer: "bob")
                .refusal
            #expect(other?.code == .otherCustomer)
        }
        // Another ledger's, of a longer log.
        var foreign: DecisionToken?
        try await Self.withPurchase { scratch in
            try Self.later(scratch)
            foreign = try Self.token(scratch.ledger.questions.show(Self.question("ann", 10)).json)
        }
        try await Self.withPurchase { [foreign] scratch in
            let token = try #require(foreign)
            let refusal = try scratch.ledger.questions.answer(to: token).refusal
            #expect(refusal?.code == .unknownSequence)
        }
    }

    @Test func `is nothing if it is damaged`() async throws {
        #expect(DecisionToken("") == nil)
        #expect(DecisionToken("not a token") == nil)
        #expect(DecisionToken(String(repeating: "A", count: 5000)) == nil)
        try await Self.withPurchase { scratch in
            let text = try #require(
                try scratch.ledger.questions.show(Self.question("ann", 10)).json["token"]?.string
            )
            #expect(DecisionToken(String(text.dropLast())) == nil)
            #expect(DecisionToken(text + "AAAA") == nil)
            var random = SplitMix64(seed: 1)
            for _ in 0..<2000 {
                var letters = Array(text)
                letters[Int.random(in: letters.indices, using: &random)] = random.pick(
                    Array("abcXYZ019-_")
                )
                // Either nothing, or a question that is answered or refused.
                guard let token = DecisionToken(String(letters)) else { continue }
                let outcome = try scratch.ledger.questions.answer(to: token, customer: nil)
                #expect(outcome.refusal != nil || String(letters) == text)
            }
        }
    }

    // The same events in the same order make another log where the keys are others.
    @Test func `is the same wherever the log is the same, and of no other`() async throws {
        var texts: [String] = []
        for _ in 0..<2 {
            try await Self.withPurchase { scratch in
                let asked = Self.question("ann", 10)
                let text = try Self.token(scratch.ledger.questions.show(asked).json).text
                try scratch.reopenWithoutViews()
                #expect(try Self.token(scratch.ledger.questions.show(asked).json).text == text)
                texts.append(text)
            }
        }
        try await Self.withPurchase { [texts] scratch in
            for text in texts {
                let token = try #require(DecisionToken(text))
                let refusal = try scratch.ledger.questions.answer(to: token).refusal
                #expect(refusal?.code == .otherHistory)
            }
        }
    }
}
