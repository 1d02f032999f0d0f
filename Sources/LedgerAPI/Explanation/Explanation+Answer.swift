public import Encodings
public import Entitlements

extension Explanation {
    /// The `explain` shape (Interfaces, "Shapes").
    ///
    /// - Parameters:
    ///   - head: the members that every answer about a customer begins with.
    ///   - customer: the customer as they were asked for.
    ///   - audience: for whom the sentences are.
    ///   - language: the language of the sentences.
    ///   - names: of purchases and grants.
    ///   - token: of the decision that is explained.
    /// - Returns: a JSON object.
    /// - Throws: what `names` throws.
    public func answer(
        head: [JSONMember],
        customer: String,
        for audience: Audience,
        in language: Language,
        names: some AnswerNames,
        token: String
    ) throws -> JSONValue {
        var explanation = self
        if audience == .customer {
            // What support may do is theirs to offer.
            explanation.wouldChange.removeAll { $0.kind == .grant }
        }
        let sentences = ExplanationText(
            for: audience,
            in: language,
            customer: customer,
            names: names
        )
        return .object(
            head + [
                JSONMember("feature", .string(feature)),
                JSONMember("audience", .string(audience.rawValue)),
                JSONMember("language", .string(language.rawValue)),
            ] + (try explanation.members(names: names, sentences: sentences)) + [
                JSONMember("token", .string(token))
            ]
        )
    }
}
