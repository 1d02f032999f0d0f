import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI

/// Prints what became of a request.
enum Receipts {
    /// What a dry run came to.
    struct DryRun {
        /// What would differ for the customer; nil: it is about nobody in particular.
        var difference: Written<DifferenceAnswer>?
    }

    /// `dryRun`: nil: it was recorded.
    static func print(
        _ recorded: Recorded,
        _ id: String? = nil,
        _ options: LedgerOptions,
        dryRun: DryRun? = nil
    ) throws {
        let told = try Told(recorded)
        guard options.json else {
            Terminal.line(dryRun == nil ? told.text : "dry run: nothing is recorded; \(told.text)")
            if let difference = dryRun?.difference { DiffText.print(difference.answer) }
            return
        }
        var members = [
            JSONMember("outcome", .string(told.outcome)),
            JSONMember("sequence", told.sequence.map { .integer($0) } ?? .null),
            JSONMember("id", .optional(id)),
        ]
        members += recorded.extra
        if let dryRun {
            members.append(JSONMember("dryRun", .bool(true)))
            members.append(JSONMember("difference", try dryRun.difference?.text.json ?? .null))
        }
        Terminal.line(.object(members))
    }

    private struct Told {
        var outcome: String
        var sequence: UInt64?
        var text: String

        /// - Throws: `CommandFailure` for a refusal.
        init(_ recorded: Recorded) throws {
            switch recorded.receipt {
            case .appended(let first, _):
                (outcome, sequence) = ("appended", first)
                text = "\(recorded.done) (event \(first))"
            case .duplicate(let first):
                (outcome, sequence) = ("duplicate", first)
                text = "recorded before (event \(first))"
            case .known:
                (outcome, sequence) = ("known", nil)
                text = "known already: nothing to record"
            case .refused(let refusal): throw CommandFailure(refusal)
            }
        }
    }
}

extension AnswerText {
    /// The text, read: a part of a larger document.
    fileprivate var json: JSONValue {
        get throws { try JSONValue(parsing: bytes) }
    }
}
