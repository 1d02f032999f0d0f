import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import ModelSupport
import Testing

/// What a customer's own token is told of a purchase that is another's by now (C1, Stores, rule 7).
struct `An explanation for the customer alone` {
    private static func told(
        _ day: Int64,
        to visibility: Visibility,
        in scratch: ScratchLedger
    ) throws -> JSONValue {
        let question = CustomerQuestion(
            customer: "ann",
            environment: .production,
            point: BitemporalPoint(at: Sample.day(day), knownAt: .everything),
            visibility: visibility
        )
        guard
            case .explained(let answer) = try scratch.ledger.questions.explain(
                "export",
                question,
                to: .developer
            )
        else { throw NotTold() }
        return try Sample.json(AnswerText(answer).description)
    }

    private struct NotTold: Error {}

    // It ends on day 32, in the next owner's time.
    @Test func `says nothing of when another's purchase ends`() async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                Sample.catalog(policy: "transfer"),
                effective: Sample.newYear,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            let lines =
                Sample.ownedPurchase("ann", "app_store/1")
                + [
                    Sample.line(
                        "claimed",
                        "customer.claimed",
                        "customer/bob",
                        data: #"{"purchase":"app_store/1"}"#,
                        time: Sample.day(10)
                    )
                ]
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            let (before, after) = (20 as Int64, 40 as Int64)
            let own = try [before, after].map { try Self.told($0, to: .own, in: scratch) }
            for member in ["steps", "wouldChange", "notUsed"] {
                #expect(own[0][member] == own[1][member], "\(member)")
            }
            #expect(own[0]["validUntil"] == .null)
            // The control: to whoever sees everything it is told.
            let whole = try [before, after].map { try Self.told($0, to: .everything, in: scratch) }
            #expect(whole[0]["steps"] != whole[1]["steps"])
            #expect(whole[0]["validUntil"] == .instant(Sample.day(32)))
        }
    }
}
