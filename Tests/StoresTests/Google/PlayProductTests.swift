import Encodings
import Entitlements
import StoreSimulator
import Testing

@testable import Stores

struct `A one-time product's answer` {
    private static let base =
        #""purchaseTimeMillis":"1767225600000","orderId":"GPA.1","regionCode":"DE""#
    private static let v2 =
        #""purchaseCompletionTime":"2026-01-01T00:00:00Z","orderId":"GPA.1","regionCode":"DE""#

    private static func period(
        _ kind: String,
        _ order: String = "GPA.1",
        _ rest: String = ""
    ) -> [String] {
        [
            #"purchase.completed t1@P {"transactionId":"\#(order)","productId":"life","#
                + #""productKind":"\#(kind)"\#(rest),"ownership":"purchased","storefront":"DE"}"#,
            #"verification.passed t1@P {"transactionId":"\#(order)","method":"store_api"}"#,
        ]
    }

    private static let link = #"purchase.linked t1@S {"alias":"play_store/GPA.1"}"#
    private static let refund = #"revocation.refunded t1@S {"transactionId":"GPA.1"}"#

    /// An answer, the type of the notification that made us ask, and what it comes to.
    static let rows: [(String, Int?, [String])] = [
        (#"{"purchaseState":0,\#(base)}"#, 1, period("non_consumable") + [link]),
        (
            #"{"purchaseState":0,"acknowledgementState":1,"quantity":2,\#(base)}"#, 1,
            period("non_consumable", "GPA.1", #","quantity":2"#) + [
                link, #"purchase.acknowledged t1@S {"transactionId":"GPA.1"}"#,
            ]
        ),
        (#"{"purchaseState":0,"consumptionState":1,\#(base)}"#, nil, period("consumable") + [link]),
        // By a promotion code: without an order.
        (
            #"{"purchaseState":0,"purchaseTimeMillis":"1767225600000","regionCode":"DE"}"#, 1,
            period("non_consumable", "t1")
        ),
        (#"{"purchaseState":1,\#(base)}"#, nil, period("non_consumable") + [link, refund]),
        (
            #"{"purchaseState":0,"refundableQuantity":0,\#(base)}"#, nil,
            period("non_consumable") + [link, refund]
        ),
        // A part of several: nothing is taken away.
        (
            #"{"purchaseState":0,"quantity":3,"refundableQuantity":1,\#(base)}"#, nil,
            period("non_consumable", "GPA.1", #","quantity":3"#) + [link]
        ),
        (#"{"purchaseState":1,\#(base)}"#, 2, [#"purchase.abandoned t1@S {"productId":"life"}"#]),
        (#"{"purchaseState":2}"#, 1, [#"purchase.pending t1@S {"productId":"life"}"#]),
        (
            #"{"purchaseState":3,\#(base)}"#, 1,
            [#"signal.noted t1@S {"name":"product_answer","detail":"purchaseState is not known"}"#]
        ),
        (
            #"{"purchaseState":0,"purchaseTimeMillis":"99"}"#, 1,
            [
                #"signal.noted t1@S {"name":"product_answer","#
                    + #""detail":"purchaseTimeMillis is not within 2000 to 2200"}"#
            ]
        ),
        (
            #"{"purchaseState":0}"#, 1,
            [#"signal.noted t1@S {"name":"product_answer","detail":"the time is missing"}"#]
        ),
        (
            #"{"purchaseStateContext":{"purchaseState":"PURCHASED"},"productLineItem":[{"productId":"life"}],\#(v2)}"#,
            1, period("non_consumable") + [link]
        ),
        (
            #"{"purchaseStateContext":{"purchaseState":"PURCHASED"},"productLineItem":[{"productId":"life","productOfferDetails":{"refundableQuantity":0,"consumptionState":"CONSUMPTION_STATE_CONSUMED"}}],\#(v2)}"#,
            nil, period("consumable") + [link, refund]
        ),
        // P2, K10: rented, for as long as the catalog says.
        (
            #"{"purchaseStateContext":{"purchaseState":"PURCHASED"},"productLineItem":[{"productId":"life","productOfferDetails":{"rentOfferDetails":{}}}],\#(v2)}"#,
            1, period("non_renewing") + [link]
        ),
        (
            #"{"purchaseStateContext":{"purchaseState":"CANCELLED"},"productLineItem":[{"productId":"life"}],\#(v2)}"#,
            nil, period("non_consumable") + [link, refund]
        ),
        (
            #"{"purchaseStateContext":{"purchaseState":"PENDING"},"productLineItem":[{"productId":"life"}]}"#,
            nil, [#"purchase.pending t1@S {"productId":"life"}"#]
        ),
        (
            #"{"purchaseStateContext":{"purchaseState":"NEW"},"productLineItem":[{"productId":"life"}]}"#,
            nil,
            [#"signal.noted t1@S {"name":"product_answer","detail":"purchaseState is not known"}"#]
        ),
    ]

    // row 2.3, trap 16
    @Test(arguments: rows)
    func `comes to the events of its row`(_ text: String, _ type: Int?, _ expected: [String]) throws
    {
        let store = try PlaySample.store.get()
        let push = try type.map { type in
            store.push(
                try PlaySample.json(
                    #"{"oneTimeProductNotification":{"notificationType":\#(type),"purchaseToken":"t1"}}"#
                ),
                id: "m1",
                at: PlaySample.told
            )
        }
        var answer =
            store.answer(
                try PlaySample.json(text),
                of: "t1",
                at: PlaySample.told,
                after: push
            ).members ?? []
        answer.append(JSONMember("productId", "life"))
        #expect(try PlaySample.lines(PlaySample.submission(.object(answer))) == expected)
    }

    @Test(arguments: [
        #"{"purchaseType":0,"purchaseState":2}"#,
        #"{"testPurchaseContext":{},"purchaseStateContext":{"purchaseState":"PENDING"},"productLineItem":[{"productId":"life"}]}"#,
    ])
    func `of a tester is the sandbox's`(_ text: String) throws {
        let store = try PlaySample.store.get()
        let answer = store.answer(try PlaySample.json(text), of: "t1", at: PlaySample.told)
        #expect(try PlaySample.submission(answer).environment == .sandbox)
    }

    static let refused: [(String, SignalRefusal.Code, String)] = [
        (#"{"packageName":"com.example.app","answer":{}}"#, .missingField, "purchaseToken"),
        (
            #"{"packageName":"com.example.app","purchaseToken":"t","answer":{}}"#, .invalidValue,
            "answer"
        ),
        (
            #"{"packageName":"com.example.app","purchaseToken":"t","answer":[]}"#, .missingField,
            "answer"
        ),
        (#"{"purchaseToken":"t","answer":{}}"#, .missingField, "packageName"),
        (#"{"packageName":"other","purchaseToken":"t","answer":{}}"#, .wrongBundle, "packageName"),
        (
            #"{"packageName":"com.example.app","purchaseToken":"t","observedAt":"2199-01-01T00:00:00Z","answer":{}}"#,
            .outOfRange, "observedAt"
        ),
        (
            #"{"packageName":"com.example.app","purchaseToken":"t","push":{},"answer":{}}"#,
            .missingField, "push.message"
        ),
    ]

    @Test(arguments: refused)
    func `that is none is refused for what is wrong`(
        _ text: String,
        _ code: SignalRefusal.Code,
        _ path: String
    ) throws {
        let refusal = try #require(try PlaySample.refusal(PlaySample.json(text)))
        #expect(refusal.code == code)
        #expect(refusal.path == path)
    }

    @Test func `after a push of another purchase is refused`() throws {
        let store = try PlaySample.store.get()
        let push = store.push(subscription: 4, token: "t2", id: "m1", at: PlaySample.told)
        let answer = store.answer(
            try PlaySample.json(#"{"purchaseState":2}"#),
            of: "t1",
            at: PlaySample.told,
            after: push
        )
        #expect(try PlaySample.refusal(answer)?.code == .disagreement)
    }
}

struct `A list of orders that were given back` {
    private static func list(_ entries: String...) throws -> JSONValue {
        try PlaySample.json(
            #"{"packageName":"com.example.app","answer":{"voidedPurchases":["#
                + entries.joined(separator: ",") + "]}}"
        )
    }

    private static func outcomes(_ json: JSONValue) throws -> [PlayImport.Outcome] {
        PlayImport.outcomes(
            of: json,
            configuration: try PlaySample.configuration(),
            now: PlaySample.told
        )
    }

    private static let entry =
        #"{"purchaseToken":"t1","orderId":"GPA.1..0","voidedTimeMillis":"1767225600000""#

    static let rows: [(String, String)] = [
        ("}", #"revocation.refunded t1@P {"transactionId":"GPA.1..0"}"#),
        (
            #","voidedSource":0,"voidedReason":1}"#,
            #"revocation.refunded t1@P {"transactionId":"GPA.1..0","reason":"remorse"}"#
        ),
        (
            #","voidedReason":7}"#,
            #"revocation.refunded t1@P {"transactionId":"GPA.1..0","reason":"chargeback"}"#
        ),
        (
            #","voidedReason":99}"#,
            #"revocation.refunded t1@P {"transactionId":"GPA.1..0"}"#
        ),
        (#","voidedQuantity":1}"#, #"signal.noted t1@P {"name":"voided_in_part"}"#),
    ]

    // trap 4: a refund takes away one order, be it an older one
    @Test(arguments: rows)
    func `takes each of them away`(_ rest: String, _ expected: String) throws {
        let outcomes = try Self.outcomes(Self.list(Self.entry + rest, Self.entry + rest))
        #expect(outcomes.count == 2)
        let submissions = try outcomes.map { try $0.get() }
        let link = #"purchase.linked t1@P {"alias":"play_store/GPA.1"}"#
        let isTaken = expected.hasPrefix("revocation")
        #expect(PlaySample.lines(submissions[0]) == [expected] + (isTaken ? [link] : []))
        // The same order, told again, is a repeat.
        #expect(submissions[0].id == submissions[1].id)
    }

    // Stores, rule 6: before 2000, after 2200, and of another shape
    @Test(arguments: [#""1""#, #""7258118400000""#, "[]"])
    func `is noted where its time is absurd`(_ time: String) throws {
        let list = try Self.list(
            #"{"purchaseToken":"t1","orderId":"GPA.1..0","voidedTimeMillis":\#(time)}"#
        )
        let submission = try #require(try Self.outcomes(list).first).get()
        #expect(
            PlaySample.lines(submission) == [
                #"signal.noted t1@S {"name":"voided","detail":"voidedTimeMillis is absurd"}"#
            ]
        )
    }

    @Test func `stands among others`() throws {
        let list = try Self.list(Self.entry + "}", Self.entry + "}")
        let outcomes = try Self.outcomes(.array([list, list]))
        #expect(outcomes.count == 4)
        #expect(throws: Never.self) { try outcomes.forEach { _ = try $0.get() } }
    }

    static let refused: [(String, SignalRefusal.Code, String)] = [
        ("{}", .missingField, "answer.voidedPurchases[1].purchaseToken"),
        (#"{"purchaseToken":"t"}"#, .missingField, "answer.voidedPurchases[1].orderId"),
        (
            #"{"purchaseToken":"t","orderId":"o"}"#, .missingField,
            "answer.voidedPurchases[1].voidedTimeMillis"
        ),
        ("null", .missingField, "answer.voidedPurchases[1].purchaseToken"),
    ]

    @Test(arguments: refused)
    func `tells of each that is none, and takes the others`(
        _ text: String,
        _ code: SignalRefusal.Code,
        _ path: String
    ) throws {
        let outcomes = try Self.outcomes(Self.list(Self.entry + "}", text))
        #expect(throws: Never.self) { try outcomes[0].get() }
        guard case .failure(let refusal) = outcomes[1] else {
            Issue.record("taken: \(text)")
            return
        }
        #expect(refusal.code == code)
        #expect(refusal.path == path)
    }

    @Test func `of another app is refused`() throws {
        let json = try PlaySample.json(
            #"{"packageName":"other","answer":{"voidedPurchases":[]}}"#
        )
        let outcomes = try Self.outcomes(json)
        guard case .failure(let refusal) = try #require(outcomes.first) else {
            Issue.record("taken")
            return
        }
        #expect(refusal.code == .wrongBundle)
        #expect(try Self.outcomes(Self.list()).isEmpty)
    }
}
