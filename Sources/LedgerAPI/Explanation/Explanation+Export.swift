public import Encodings
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
        try explanation.exported(head, customer, for: .support, names, token)
    }

    /// The `explain` shape for customers, in English: what their own export holds.
    ///
    /// Arguments and faults are those of `answer`.
    public static func forCustomer(
        _ explanation: Explanation,
        _ head: [JSONMember],
        _ customer: String,
        _ names: any AnswerNames,
        _ token: String
    ) throws -> JSONValue {
        try explanation.exported(head, customer, for: .customer, names, token)
    }

    private func exported(
        _ head: [JSONMember],
        _ customer: String,
        for audience: Audience,
        _ names: any AnswerNames,
        _ token: String
    ) throws -> JSONValue {
        try answer(
            head: head,
            customer: customer,
            for: audience,
            in: .english,
            names: names,
            token: token
        )
    }
}
