import Encodings
import EntitlementLedger
import Entitlements

/// Prints what became of a request.
enum Receipts {
    static func print(
        _ receipt: Receipt,
        _ options: LedgerOptions,
        done: String,
        id: String? = nil,
        extra: [JSONMember] = []
    ) throws {
        switch receipt {
        case .appended(let first, _):
            show("appended", first, options, "\(done) (event \(first))", id, extra)
        case .duplicate(let first):
            show("duplicate", first, options, "recorded before (event \(first))", id, extra)
        case .known:
            show("known", nil, options, "known already: nothing to record", id, extra)
        case .refused(let refusal): throw CommandFailure(refusal)
        }
    }

    private static func show(
        _ outcome: String,
        _ sequence: UInt64?,
        _ options: LedgerOptions,
        _ text: String,
        _ id: String?,
        _ extra: [JSONMember]
    ) {
        guard options.json else { return Terminal.line(text) }
        Terminal.line(
            .object(
                [
                    JSONMember("outcome", .string(outcome)),
                    JSONMember("sequence", sequence.map { .integer($0) } ?? .null),
                    JSONMember("id", .optional(id)),
                ] + extra
            )
        )
    }
}
