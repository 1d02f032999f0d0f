public import Entitlements

extension Explanation {
    /// The `explain` shape for support, in English: what an export holds.
    ///
    /// Arguments and faults are those of `answer`.
    public static func forSupport(
        _ explanation: Explanation,
        _ head: [JSONMember],
        _ customer: String,
        _ names: any AnswerNames,
        _ token: String
    ) throws -> JSONValue {
        try explanation.answer(
            head: head,
            customer: customer,
            for: .support,
            in: .english,
            names: names,
            token: token
        )
    }
}
